package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"beckon/state/request"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

// asks returns a payload that asks the user.
func asks(session string) string {
	return `{"session_id":"` + session + `","hook_event_name":"PermissionRequest","tool_name":"Write","cwd":"/","tool_input":{"file_path":"/tmp/x","content":"y <&>"}}`
}

// asking is a hook that holds its client's call.
type asking struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

func ask(t *testing.T, env []string, session string) *asking {
	t.Helper()
	a := &asking{cmd: exec.Command(program(t, "beckon-hook"), "PermissionRequest", "--answers")}
	a.cmd.Env, a.cmd.Stdin, a.cmd.Stdout = env, strings.NewReader(asks(session)), &a.out
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.cmd.Process.Kill() })
	return a
}

// said waits until the hook ends and returns its output.
func (a *asking) said(t *testing.T) string {
	t.Helper()
	if err := a.cmd.Wait(); err != nil {
		t.Errorf("the hook ended with %v", err)
	}
	return a.out.String()
}

// offers waits for n open offers.
func offers(t *testing.T, dir request.Dir, n int) []request.Request {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		list, err := dir.List(time.Now())
		if err != nil || time.Now().After(end) {
			t.Fatalf("%d offers, %v", len(list), err)
		}
		if len(list) == n {
			return list
		}
	}
}

// waits waits until the process of an offer is the one that waits: by then it handles signals
// and watches files.
func waits(t *testing.T, o request.Request) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", o.Waiter.Pid))
		if err != nil || time.Now().After(end) {
			t.Fatalf("%q, %v", b, err)
		}
		if bytes.Contains(b, []byte("--wait")) && watches(o.Waiter.Pid) {
			return
		}
	}
}

func watches(pid int) bool {
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(fds, func(fd string) bool {
		to, err := os.Readlink(fd)
		return err == nil && strings.Contains(to, "inotify")
	})
}

// A reply wakes the model by exit code 2, with the user's words on stderr.
func TestReplyWakes(t *testing.T) {
	dir := t.TempDir()
	var errs bytes.Buffer
	cmd := exec.Command(program(t, "beckon-hook"), "Stop", "--reply")
	cmd.Env, cmd.Stderr = environ(dir), &errs
	cmd.Stdin = strings.NewReader(`{"session_id":"s1","hook_event_name":"Stop","cwd":"/"}`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	d := request.In(filepath.Join(dir, "state"))
	o := offers(t, d, 1)[0]
	a := request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Say, Message: "go on, please", From: request.Terminal, At: o.Made}
	if err := d.Give(a, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 2 || errs.String() != a.Message {
		t.Errorf("exit code %d, %q", cmd.ProcessState.ExitCode(), errs.String())
	}
	// It is the user's turn, once, though the client announces it as its own.
	runEvent(t, cmd.Env, "UserPromptSubmit", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","cwd":"/","prompt":"<task-notification>"}`)
	show := exec.Command(program(t, "beckon"), "show", "--json", "s1")
	show.Env = cmd.Env
	out, err := show.Output()
	turns := gjson.GetBytes(out, "turns.#(actor==\"user\")#.text").Array()
	if err != nil || len(turns) != 1 || turns[0].Str != a.Message {
		t.Errorf("the user's turns: %v, %v\n%s", turns, err, out)
	}
}

// Fifty sessions may ask at once: the process that waits for each is small, and each gets its
// own answer.
func TestFiftyWait(t *testing.T) {
	const n, most = 50, 8 << 10 // kilobytes
	dir := t.TempDir()
	env := environ(dir)
	all := map[string]*asking{}
	for i := range n {
		s := fmt.Sprintf("s%d", i)
		all[s] = ask(t, env, s)
	}
	d := request.In(filepath.Join(dir, "state"))
	list := offers(t, d, n)
	for _, o := range list {
		waits(t, o)
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", o.Waiter.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, status, _ := strings.Cut(string(b), "VmRSS:")
		kb := 0
		if _, err := fmt.Sscan(status, &kb); err != nil || kb > most {
			t.Errorf("it has %d kB, %v", kb, err)
		}
	}
	for i, o := range list {
		a := request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Allow, From: request.Terminal, By: "kim"}
		if i%2 == 1 {
			a.Word, a.Message = request.Deny, "not "+o.Session
		}
		if err := d.Give(a, time.Now()); err != nil {
			t.Error(err)
		}
	}
	for i, o := range list {
		var got struct {
			Specific struct {
				Decision struct{ Behavior, Message string } `json:"decision"`
			} `json:"hookSpecificOutput"`
		}
		out := all[o.Session].said(t)
		want := [2]string{"allow", ""}
		if i%2 == 1 {
			want = [2]string{"deny", "not " + o.Session}
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || [2]string{got.Specific.Decision.Behavior, got.Specific.Decision.Message} != want {
			t.Errorf("%s was told %q, %v", o.Session, out, err)
		}
		s, err := store.Open(filepath.Join(dir, "state")).Load(store.Key(o.Session))
		if err != nil || s.Last.At == 0 || !waited(t, dir, o.Session) {
			t.Errorf("%s has %d lines, %v", o.Session, s.Seq, err)
		}
	}
}

// waited reports whether a session's history says who answered.
func waited(t *testing.T, dir, session string) bool {
	found := false
	err := store.Open(filepath.Join(dir, "state")).Lines(store.Select{Key: store.KeyOf(session), Kind: "action"}, func(l *store.Line) {
		d := l.Action.Decided
		found = found || d != nil && d.By == "kim" && d.From == "terminal" && d.Waited > 0
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The end of a wait prints nothing.
func TestWaitEndsSilently(t *testing.T) {
	dir := t.TempDir()
	env := environ(dir)
	d := request.In(filepath.Join(dir, "state"))
	call := `,"tool_name":"Write","cwd":"/","tool_input":{"file_path":"/tmp/x","content":"y <&>"}}`
	for session, end := range map[string]func(a *asking){
		"TERM": func(a *asking) { _ = a.cmd.Process.Signal(syscall.SIGTERM) },
		"call": func(*asking) {
			runEvent(t, env, "PostToolUse", `{"session_id":"call","hook_event_name":"PostToolUse"`+call)
		},
		"session": func(*asking) {
			runEvent(t, env, "SessionEnd", `{"session_id":"session","hook_event_name":"SessionEnd","cwd":"/","reason":"other"}`)
		},
	} {
		t.Run(session, func(t *testing.T) {
			a := ask(t, env, session)
			o := offers(t, d, 1)[0]
			waits(t, o)
			end(a)
			if out := a.said(t); out != "" {
				t.Errorf("it says %q", out)
			}
			if became, known := d.Outcome(o.ID, time.Second); !known || became.Taken || became.Why == "" {
				t.Errorf("it became %+v, %v", became, known)
			}
			if err := d.Give(request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Allow, From: request.Terminal}, time.Now()); err == nil {
				t.Error("it can be answered still")
			}
		})
	}
}

// kill -9 of a process that waits leaves none of the call's text to whoever looks next.
func TestKilledWaiter(t *testing.T) {
	for name, look := range map[string]func(t *testing.T, env []string){
		"an event of the session": func(t *testing.T, env []string) {
			runEvent(t, env, "Stop", `{"session_id":"s1","hook_event_name":"Stop","cwd":"/"}`)
		},
		"an event of another": func(t *testing.T, env []string) {
			runEvent(t, env, "SessionStart", `{"session_id":"s2","hook_event_name":"SessionStart","cwd":"/"}`)
		},
		"list":   func(t *testing.T, env []string) { runBeckon(t, env, "list") },
		"answer": func(t *testing.T, env []string) { runBeckon(t, env, "answer") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			env := environ(dir)
			d := request.In(filepath.Join(dir, "state"))
			a, lives := ask(t, env, "s1"), ask(t, env, "s3")
			o := requestOf(t, d, "s1")
			waits(t, o) // it has become another program, and is the process that made the request
			waits(t, requestOf(t, d, "s3"))
			if o.Waiter.Pid != a.cmd.Process.Pid || !strings.Contains(holdsText(t, dir), o.ID) {
				t.Fatalf("process %d waits, not %d; the text is in %q", o.Waiter.Pid, a.cmd.Process.Pid, holdsText(t, dir))
			}
			_ = a.cmd.Process.Kill()
			_ = a.cmd.Wait()
			look(t, env)
			if at := holdsText(t, dir); strings.Contains(at, o.ID) {
				t.Errorf("the call's text is still in %s", at)
			}
			if became, known := d.Outcome(o.ID, 0); !known || became.Why != request.WhyKilled {
				t.Errorf("it became %+v, %v", became, known)
			}
			other := requestOf(t, d, "s3") // it still waits, and gets its answer
			if err := d.Give(request.Answer{Request: other.ID, Digest: other.Digest, Word: request.Allow, From: request.Terminal}, time.Now()); err != nil {
				t.Error(err)
			}
			if out := lives.said(t); !strings.Contains(out, `"allow"`) {
				t.Errorf("the other was told %q", out)
			}
		})
	}
}

// requestOf waits for the request of a session.
func requestOf(t *testing.T, d request.Dir, session string) request.Request {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		list, err := d.List(time.Now())
		if i := slices.IndexFunc(list, func(r request.Request) bool { return r.Session == session }); i >= 0 {
			return list[i]
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("%s asks nothing: %v", session, err)
		}
	}
}

// holdsText returns the files of requests that hold the text of a call.
func holdsText(t *testing.T, dir string) (files string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "state", "offers"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte("y <&>")) {
			files += path + "\n"
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func runBeckon(t *testing.T, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command(program(t, "beckon"), args...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func runEvent(t *testing.T, env []string, event, payload string) {
	t.Helper()
	cmd := exec.Command(program(t, "beckon-hook"), event)
	cmd.Env = env
	runHook(t, cmd, payload)
}

// The client shows no dialog for a form while its hook waits, so the hook ends at once; the form
// is shown, and filled in where it runs.
func TestFormIsNotHeld(t *testing.T) {
	dir := t.TempDir()
	env := environ(dir)
	cmd := exec.Command(program(t, "beckon-hook"), "Elicitation", "--answers")
	cmd.Env = env
	runHook(t, cmd, `{"session_id":"s1","hook_event_name":"Elicitation","cwd":"/","mcp_server_name":"db","message":"Which one?",`+
		`"requested_schema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`)
	if _, err := os.Stat(filepath.Join(dir, "state", "offers")); err == nil {
		t.Error("there are offers")
	}
	show := exec.Command(program(t, "beckon"), "show", "s1")
	show.Env = env
	out, err := show.CombinedOutput()
	for _, want := range []string{"Which one?", "name*: string"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("lacks %q: %v\n%s", want, err, out)
		}
	}
}

// Without answers a hook that asks ends at once and leaves no offer.
func TestWithoutAnswersNothingWaits(t *testing.T) {
	dir := t.TempDir()
	env := environ(dir)
	runEvent(t, env, "PermissionRequest", asks("s1"))
	if _, err := os.Stat(filepath.Join(dir, "state", "offers")); err == nil {
		t.Error("there are offers")
	}
	cmd := exec.Command(program(t, "beckon-hook"), "Stop", "--agent", "codex", "--answers")
	cmd.Env = env
	runHook(t, cmd, `{"session_id":"s2","hook_event_name":"Stop","cwd":"/"}`)
}
