package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/policy/run"
	"beckon/render/web"
	"beckon/state"
	"beckon/state/store"
)

// user has a policy, a configuration and a state directory.
type user struct {
	testing.TB
	dir string
	env map[string]string
}

func newUser(t testing.TB, policy, config string) *user {
	t.Helper()
	dir := t.TempDir()
	u := &user{t, dir, map[string]string{"HOME": dir, "BECKON_STATE_DIR": filepath.Join(dir, "state")}}
	u.write("policy.json", policy)
	u.write("config.json", config)
	return u
}

// write writes a file of the user's configuration; an empty text omits it.
func (u *user) write(name, text string) {
	u.Helper()
	if text == "" {
		return
	}
	path := filepath.Join(u.dir, ".config", "beckon", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		u.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		u.Fatal(err)
	}
}

func (u *user) store() *store.Store { return store.Open(u.env["BECKON_STATE_DIR"]) }

// fire runs a hook: members are those of the payload besides the session and the event.
func (u *user) fire(kind event.Kind, members string) string {
	u.Helper()
	payload := `{"session_id":"s1","cwd":"` + u.dir + `","hook_event_name":"` + string(kind) + `"` + members + `}`
	var out, errs bytes.Buffer
	getenv := func(name string) string { return u.env[name] }
	code := Main([]string{string(kind)}, strings.NewReader(payload), &out, &errs, getenv, run.Starter{})
	if code != 0 || errs.Len() > 0 {
		u.Errorf("%s: exit code %d, on stderr %q", kind, code, errs.String())
	}
	if log, err := os.ReadFile(filepath.Join(u.env["BECKON_STATE_DIR"], "log", "beckon.log")); err == nil && len(log) > 0 {
		u.Errorf("%s: logged %s", kind, log)
	}
	return out.String()
}

// object parses an answer, which must be one JSON object and nothing else.
func (u *user) object(answer string) map[string]any {
	u.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(answer), &o); err != nil {
		u.Fatalf("%q is not one object: %v", answer, err)
	}
	return o
}

// state returns the session's state from hooks alone.
func (u *user) state() state.State {
	u.Helper()
	s, err := u.store().Load("s1")
	if err != nil {
		u.Fatal(err)
	}
	return state.AlertStateOf(s, state.Evidence{}, event.MillisOf(time.Now())).State
}

func on(kind, hooks string) string {
	return `{"hooks":{"` + kind + `":[{"hooks":[` + hooks + `]}]}}`
}

// say returns a command that prints a text.
func say(text string) string {
	b, _ := json.Marshal("printf %s '" + text + "'") // a string is always marshalled
	return `{"type":"command","command":` + string(b) + `}`
}

const titles = `{"notify": ["title"]}`

// An answer and a terminal sequence make one object, whatever the answer is.
func TestAnswerAndSequenceAreOneObject(t *testing.T) {
	for name, c := range map[string]struct {
		hook string
		want []string // members beside the sequence
	}{
		"silent":  {say(""), nil},
		"context": {say("The build is green."), []string{"hookSpecificOutput"}},
		"system":  {say(`{"systemMessage":"seen"}`), []string{"systemMessage"}},
		"its own": {say(`{"terminalSequence":"own\u0007","systemMessage":"seen"}`), []string{"systemMessage"}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t, on("UserPromptSubmit", c.hook), titles)
			u.fire(event.SessionStart, `,"source":"startup"`)
			o := u.object(u.fire(event.UserPromptSubmit, `,"prompt":"do it"`))
			if s, _ := o["terminalSequence"].(string); !strings.Contains(s, "working") || strings.HasPrefix(s, "own\a") != (name == "its own") {
				t.Errorf("the title is set by %q", s)
			}
			for _, name := range c.want {
				if o[name] == nil {
					t.Errorf("%v has no %s", o, name)
				}
			}
			if len(o) != 1+len(c.want) {
				t.Errorf("got %v", o)
			}
		})
	}
}

// A prompt that the policy refuses has not begun: the title stays.
func TestRefusedPromptChangesNoTitle(t *testing.T) {
	u := newUser(t, on("UserPromptSubmit", `{"type":"rule","decision":"deny","reason":"no"}`), titles)
	u.fire(event.SessionStart, `,"source":"startup"`)
	o := u.object(u.fire(event.UserPromptSubmit, `,"prompt":"do it"`))
	if o["decision"] != "block" || o["terminalSequence"] != nil {
		t.Errorf("got %v", o)
	}
	if got := u.state(); got != state.Idle {
		t.Errorf("the session is %s", got)
	}
}

// The user is not notified of a dialog that the policy answers.
func TestApprovedRequestIsNotTold(t *testing.T) {
	for name, c := range map[string]struct {
		decision string
		told     bool
	}{"allow": {"allow", false}, "deny": {"deny", false}, "silent": {"", true}} {
		t.Run(name, func(t *testing.T) {
			hook := say("")
			if c.decision != "" {
				hook = `{"type":"rule","decision":"` + c.decision + `","reason":"r"}`
			}
			u := newUser(t, on("PermissionRequest", hook), `{"notify": ["title", "terminal"]}`)
			u.fire(event.SessionStart, `,"source":"startup"`)
			u.fire(event.UserPromptSubmit, `,"prompt":"do it"`)
			const call = `,"tool_name":"Write","tool_input":{"file_path":"/x","content":"y"}`
			u.fire(event.PreToolUse, call+`,"tool_use_id":"t1"`)
			out := u.fire(event.PermissionRequest, call)
			if told := strings.Contains(out, "terminalSequence"); told != c.told {
				t.Errorf("told is %v: %s", told, out)
			}
			decisions, err := u.store().Decisions()
			if err != nil || len(decisions) > 0 != c.told {
				t.Errorf("the log of notifications has %v, %v", decisions, err)
			}
			want := state.Working
			if c.told {
				want = state.Permission
			}
			if got := u.state(); got != want {
				t.Errorf("the session is %s, not %s", got, want)
			}
		})
	}
}

// A turn that the policy keeps going is not over, and the user is not notified that it is;
// when it may end, they are.
func TestKeptTurnIsNotToldAsDone(t *testing.T) {
	u := newUser(t, on("Stop", say(`{"decision":"block","reason":"once more"}`)), titles)
	u.fire(event.SessionStart, `,"source":"startup"`)
	u.fire(event.UserPromptSubmit, `,"prompt":"do it"`)
	o := u.object(u.fire(event.Stop, `,"stop_hook_active":false`))
	if o["decision"] != "block" || o["terminalSequence"] != nil {
		t.Errorf("got %v", o)
	}
	if got := u.state(); got != state.Working {
		t.Errorf("the session is %s", got)
	}
	o = u.object(u.fire(event.Stop, `,"stop_hook_active":true`))
	if o["decision"] != nil || o["terminalSequence"] == nil {
		t.Errorf("the second time: %v", o)
	}
	if got := u.state(); got != state.Idle {
		t.Errorf("in the end the session is %s", got)
	}
}

// A fault in beckon itself never stops the agent: code 2, with which Go ends a program that
// panics, would block the agent's call.
func TestFaultBesideAPolicy(t *testing.T) {
	for name, policy := range map[string]string{
		"rules":    on("PreToolUse", `{"type":"rule","decision":"ask","reason":"r","words":["zzz"]}`),
		"commands": on("PreToolUse", say("")),
	} {
		t.Run(name, func(t *testing.T) {
			payload := `{"session_id":"s1","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"}}`
			var asked atomic.Int64
			for n := int64(1); asked.Load() >= n-1; n++ {
				u := newUser(t, policy, titles)
				asked.Store(0)
				getenv := func(name string) string {
					if asked.Add(1) == n {
						panic("a fault")
					}
					return u.env[name]
				}
				var out, errs bytes.Buffer
				if code := Main([]string{"PreToolUse"}, strings.NewReader(payload), &out, &errs, getenv, run.Starter{}); code != 0 || errs.Len() > 0 {
					t.Errorf("at %d: exit code %d, on stderr %q", n, code, errs.String())
				}
				if out.Len() > 0 {
					u.object(out.String())
				}
			}
		})
	}
	if _, err := os.Stat("speaks"); err == nil {
		t.Error("a file was left in the agent's directory")
	}
}

// If too much runs already, nothing more is started: rules still answer, and a command that
// must be asked refuses.
func TestBusyServer(t *testing.T) {
	u := newUser(t, `{"hooks": {"PreToolUse": [
		{"hooks": [{"type": "rule", "id": "no-force", "decision": "deny", "reason": "Shared branch.", "commands": ["git push -f"]}]},
		{"matcher": "Write", "hooks": [{"type": "command", "id": "must", "command": "echo run >> $HOME/ran", "fail": "closed"}]},
		{"matcher": "Read", "hooks": [{"type": "command", "id": "may", "command": "echo run >> $HOME/ran"}]}]}}`, "")
	served := &Served{Store: u.store(), Starter: run.Starter{}, Getenv: func(name string) string { return u.env[name] }}
	for i, c := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"git push -f"}`, "Shared branch."},
		{"Bash", `{"command":"ls"}`, ""},
		{"Write", `{"file_path":"x","content":"y"}`, `"permissionDecision":"deny"`},
		{"Read", `{"file_path":"x"}`, "systemMessage"},
	} {
		body := fmt.Sprintf(`{"session_id":"s%d","cwd":%q,"hook_event_name":"PreToolUse","tool_name":%q,"tool_use_id":"t%d","tool_input":%s}`, i, u.dir, c.tool, i, c.input)
		q := web.Question{Body: []byte(body), At: event.MillisOf(time.Now()), Busy: true}
		answer, note := served.Answer(t.Context(), q)
		note()
		if !strings.Contains(string(answer), c.want) || c.want == "" && len(answer) > 0 {
			t.Errorf("%s %s: %s, want %s", c.tool, c.input, answer, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(u.dir, "ran")); err == nil {
		t.Error("a command ran")
	}
}
