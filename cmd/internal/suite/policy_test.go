//go:build unix

package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// show is something that a policy must do to the real client.
type show struct {
	name   string
	policy string // the global policy file; empty: none
	prompt string
	check  func(*shown)
}

// shown is a client that ran a prompt to its end under a policy.
type shown struct {
	testing.TB
	l   *Lab
	out string // what `claude -p` said
}

// asked returns the conversation's requests to the model, oldest first.
func (s *shown) asked() (bodies []string) {
	for _, r := range s.l.Server.Requests() {
		if r.Word != "" && r.Word != "aside" && r.Word != "plain" {
			bodies = append(bodies, string(r.Body))
		}
	}
	return bodies
}

// results returns the texts of all tool results that the model was given.
func (s *shown) results() string {
	all := s.asked()
	if len(all) == 0 {
		return ""
	}
	var out []string
	gjson.Get(all[len(all)-1], "messages").ForEach(func(_, m gjson.Result) bool {
		m.Get("content").ForEach(func(_, block gjson.Result) bool {
			if block.Get("type").Str == "tool_result" {
				out = append(out, block.Get("content").String())
			}
			return true
		})
		return true
	})
	return strings.Join(out, "\n")
}

func (s *shown) want(what, in, text string) {
	s.Helper()
	if !strings.Contains(in, text) {
		s.Errorf("%s lacks %q: %s", what, text, in)
	}
}

func (s *shown) wantNot(what, in, text string) {
	s.Helper()
	if strings.Contains(in, text) {
		s.Errorf("%s has %q: %s", what, text, in)
	}
}

// journal returns beckon's history of all sessions.
func (s *shown) journal() string {
	files, err := filepath.Glob(filepath.Join(s.l.Home.State, "history", "*.jsonl"))
	if err != nil {
		s.Fatal(err)
	}
	var out strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			s.Fatal(err)
		}
		out.Write(b)
	}
	return out.String()
}

// transcript returns the client's transcripts of its sessions.
func (s *shown) transcript() string {
	files, err := filepath.Glob(filepath.Join(s.l.Home.Dir, ".claude", "projects", "*", "*.jsonl"))
	if err != nil {
		s.Fatal(err)
	}
	var out strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			s.Fatal(err)
		}
		out.Write(b)
	}
	return out.String()
}

func of(event, matcher, handlers string) string {
	return `{"hooks":{"` + event + `":[{` + matcher + `"hooks":[` + handlers + `]}]}}`
}

// deadServer returns a policy with a server that does not run: port 1 refuses at once.
func deadServer(open bool) string {
	return fmt.Sprintf(`{"server_url":"http://127.0.0.1:1/hook","retry_count":1,"retry_delay_ms":50,"fail_open":%v,"events":["PreToolUse"]}`, open)
}

const echo = "lab:bash echo spoken-word"

var shows = []show{
	{"a deny stops the call and the reason reaches the model",
		of("PreToolUse", `"matcher":"Bash",`, `{"type":"rule","id":"hush","decision":"deny","reason":"That word is not to be said.","commands":["echo spoken-word"]}`), echo,
		func(s *shown) {
			s.want("the tool result", s.results(), "That word is not to be said. (policy global/hush)")
			s.want("the journal", s.journal(), `"word":"refused"`)
			s.wantNot("the journal", s.journal(), `"kind":"PostToolUse"`)
		}},
	{"a rewrite changes the command that runs",
		of("PreToolUse", `"matcher":"Bash",`, `{"type":"command","id":"other","command":"echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"command\":\"echo another-word\",\"description\":\"d\"}}}'"}`), echo,
		func(s *shown) {
			s.want("the tool result", s.results(), "another-word")
			s.wantNot("the tool result", s.results(), "spoken-word")
			s.want("the journal", s.journal(), `"word":"rewritten"`)
		}},
	{"a prompt is blocked and the model is not asked",
		of("UserPromptSubmit", "", `{"type":"rule","id":"quiet","decision":"deny","reason":"Not this prompt.","words":["spoken-word"]}`), echo,
		func(s *shown) {
			if n := len(s.asked()); n != 0 {
				s.Errorf("the model was asked %d times", n)
			}
			s.want("the output", s.out, "Not this prompt. (policy global/quiet)")
			s.want("the journal", s.journal(), `"word":"refused"`)
		}},
	{"a Stop is blocked once and not for ever",
		of("Stop", "", `{"type":"command","id":"more","command":"echo Look once more. >&2; exit 2"}`), "lab:hi",
		func(s *shown) {
			if n := len(s.asked()); n != 2 {
				s.Errorf("the model was asked %d times, want 2", n)
			}
			s.want("the second request", strings.Join(s.asked(), "\n"), "Look once more. (policy global/more)")
			s.want("the journal", s.journal(), `"word":"goes on"`)
		}},
	{"context is added",
		of("UserPromptSubmit", "", `{"type":"command","command":"echo The build is green."}`), "lab:hi",
		func(s *shown) { s.want("the request", strings.Join(s.asked(), "\n"), "The build is green.") }},
	{"fail-closed with a dead server blocks",
		`{"servers":[` + deadServer(false) + `]}`, echo,
		func(s *shown) {
			s.want("the tool result", s.results(), "the policy could not be asked, and without it this is refused")
		}},
	{"fail-open with a dead server passes with a visible notice",
		`{"servers":[` + deadServer(true) + `]}`, echo,
		func(s *shown) {
			s.want("the tool result", s.results(), "spoken-word")
			s.want("the transcript", s.transcript(), "did not work and let it pass")
		}},
	{"silent policies change nothing",
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"exit 0"},{"type":"rule","decision":"deny","reason":"r","commands":["never"]}]}],
		 "UserPromptSubmit":[{"hooks":[{"type":"command","command":"true"}]}],"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}`, echo,
		func(s *shown) {
			s.want("the tool result", s.results(), "spoken-word")
			s.wantNot("the transcript", s.transcript(), "policy")
			if got, want := s.shape(), plain(s); got != want {
				s.Errorf("the model was asked\n%s\nwithout a policy\n%s", got, want)
			}
		}},
}

// shape returns what the model was asked, without what differs between runs.
func (s *shown) shape() string {
	var out bytes.Buffer
	for _, body := range s.asked() {
		gjson.Get(body, "messages").ForEach(func(_, m gjson.Result) bool {
			fmt.Fprint(&out, m.Get("role").Str)
			m.Get("content").ForEach(func(_, b gjson.Result) bool {
				fmt.Fprintf(&out, " %s", b.Get("type").Str)
				if b.Get("type").Str == "tool_result" {
					fmt.Fprintf(&out, "(%s)", b.Get("content").String())
				}
				return true
			})
			fmt.Fprintln(&out)
			return true
		})
	}
	return out.String()
}

// plain runs the same prompt with no policy.
func plain(s *shown) string {
	bare := runShow(s, s.l.Client.Version, show{prompt: echo})
	return bare.shape()
}

// runShow starts a client with beckon installed and a policy, and gives it the prompt.
func runShow(t testing.TB, version string, sh show) *shown {
	t.Helper()
	l := start(t, version, sh.policy)
	out, err := l.Home.Print(sh.prompt)
	if err != nil && len(l.Server.Requests()) == 0 {
		t.Fatalf("claude -p: %v\n%s", err, out)
	}
	return &shown{TB: t, l: l, out: out}
}

// start prepares a client with beckon installed and a policy.
func start(t testing.TB, version, policy string) *Lab {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	l := Start(t, version)
	if err := install(l, dir); err != nil {
		t.Fatal(err)
	}
	if policy != "" {
		path := filepath.Join(l.Home.Dir, ".config", "beckon", "policy.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(policy), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := beckon(l, nil, "policy", "check"); err != nil {
			t.Fatalf("policy check: %v\n%s", err, out)
		}
	}
	return l
}

// policyVersions returns the clients on which the shows run: the newest pinned one on every
// landing, all with -matrix.
func policyVersions() []string {
	if *matrix {
		return Pinned
	}
	return []string{V330}
}

// TestPolicy runs policies on the real client.
func TestPolicy(t *testing.T) {
	if testing.Short() && !*matrix {
		t.Skip("the real client takes a minute")
	}
	t.Parallel()
	for _, version := range policyVersions() {
		Need(t, version)
		for _, sh := range shows {
			t.Run(version+"/"+sh.name, func(t *testing.T) {
				t.Parallel()
				tried(t, func(t testing.TB) {
					s := runShow(t, version, sh)
					sh.check(s)
					if t.Failed() {
						t.Logf("it said %q; the trace is\n%s", s.out, trace(s.l))
					}
				})
			})
		}
		t.Run(version+"/an ask shows the dialog", func(t *testing.T) {
			t.Parallel()
			tried(t, func(t testing.TB) {
				showAsk(t, version)
			})
		})
	}
}

func trace(l *Lab) string {
	out, err := beckon(l, nil, "policy", "trace")
	return fmt.Sprint(string(out), err)
}

// showAsk asks about a command that the client would run by itself, and answers the dialog
// with Yes.
func showAsk(t testing.TB, version string) {
	l := start(t, version, of("PreToolUse", `"matcher":"Bash",`, `{"type":"rule","id":"sure","decision":"ask","reason":"Really say that?","commands":["echo"]}`))
	pane, err := l.Tmux.StartClient("ask", l.Home.Args()...)
	if err != nil {
		t.Fatal(err)
	}
	steps := []func() error{
		pane.Ready,
		func() error { return pane.Say(echo) },
		func() error { return pane.WaitFor(`Really say that\?`, patience) },
		func() error { return pane.WaitFor(`Do you want to`, patience) },
		func() error { return waitState(l, "permission") },
		func() error { time.Sleep(500 * time.Millisecond); return pane.Key("Enter") }, // 2.1.329 ignores keys for a moment
		func() error { return pane.WaitFor("It ran", patience) },
		func() error { return waitState(l, "idle") },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v\n%s\n%s", i, err, pane.Capture(), trace(l))
		}
	}
}

// waitState waits until beckon shows the one session in a state.
func waitState(l *Lab, want string) error {
	var got []string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		out, err := beckon(l, nil, "list", "--json")
		if err != nil {
			return err
		}
		var list struct {
			Sessions []struct{ State string }
		}
		if err := json.Unmarshal(out, &list); err != nil {
			return err
		}
		if len(list.Sessions) == 1 && list.Sessions[0].State == want {
			return nil
		}
		got = append(got, string(out))
	}
	return fmt.Errorf("not %s but %s", want, slices.Compact(got))
}
