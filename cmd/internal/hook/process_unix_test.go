//go:build unix

package hook

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/policy/run"
	"beckon/event/policy/trust"
	"beckon/state"
)

// asHook makes the test binary a hook process.
const asHook = "ANSWER_TEST_AS_HOOK"

func TestMain(m *testing.M) {
	if os.Getenv(asHook) != "" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv, run.Starter{}))
	}
	os.Exit(m.Run())
}

// process prepares a hook process of the user's.
func (u *user) process(kind event.Kind, members string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	u.Helper()
	self, err := os.Executable()
	if err != nil {
		u.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{string(kind)}, args...)...)
	cmd.Env = []string{asHook + "=1", "GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH")}
	for name, value := range u.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out := &bytes.Buffer{}
	cmd.Stdin = strings.NewReader(`{"session_id":"s1","hook_event_name":"` + string(kind) + `"` + members + `}`)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// waitFor waits for a file.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
			return
		}
	}
	t.Fatalf("%s did not come", path)
}

// alive reports whether one of the processes listed in a file lives.
func alive(t *testing.T, path string) bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range strings.Fields(string(data)) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			return true
		}
	}
	return false
}

// gone waits until none of them lives: a killed process may take a moment to exit.
func gone(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); alive(t, path); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("what the policy started lives on")
		}
	}
}

// long returns a command that starts a child, notes both pids and sleeps; only SIGKILL ends
// it.
func long(pids string) string {
	return `{"type":"command","id":"long","fail":"closed","command":"trap '' TERM; sleep 60 & echo $$ $! > ` + pids + `; wait; sleep 60"}`
}

// A hook that is told to end also ends what the policy started, folds the event and answers
// nothing; the client kills it after 1.5 s.
func TestEndedByTheClient(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("processes are looked at in /proc")
	}
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	u := newUser(t, on("PreToolUse", long(pids)), "")
	cmd, out := u.process(event.PreToolUse, `,"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"}`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, pids)
	begun := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || out.Len() > 0 {
		t.Errorf("%v, it printed %q", err, out)
	}
	if took := time.Since(begun); took > 1400*time.Millisecond {
		t.Errorf("it took %s to end", took)
	}
	gone(t, pids)
	s, err := u.store().Load("s1")
	if err != nil || len(s.Main().Calls) != 1 {
		t.Errorf("the call is not in the session: %v, %v", s.Main(), err)
	}
	trace, err := trust.In(u.env["BECKON_STATE_DIR"]).Entries(1)
	if err != nil || len(trace) != 1 || trace[0].Decision != "" || !strings.Contains(strings.Join(trace[0].Notes, "\n"), "gave up waiting") {
		t.Errorf("the trace has %+v, %v", trace, err)
	}
}

// A hook that is killed cannot end anything; the system does, where it can.
func TestKilledHookLeavesNoCommand(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only Linux ends a command with its parent")
	}
	pids := filepath.Join(t.TempDir(), "pids")
	u := newUser(t, on("PreToolUse", `{"type":"command","command":"echo $$ > `+pids+`; exec sleep 60"}`), "")
	cmd, _ := u.process(event.PreToolUse, `,"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"}`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, pids)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	gone(t, pids)
}

// The client runs the same hook twice if both its settings and a plugin have it: the command
// runs once, and the copy that ran it refuses, which is what counts.
func TestTwoCopiesOfAFiring(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	u := newUser(t, on("PreToolUse", `{"type":"command","id":"judge","command":"echo ran >> `+count+`; sleep 0.3; echo no >&2; exit 2"}`), "")
	var wait sync.WaitGroup
	answers := make([]string, 2)
	for i, via := range [][]string{nil, {"--via", "plugin"}} {
		wait.Go(func() {
			cmd, out := u.process(event.PreToolUse, `,"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"}`, via...)
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
			answers[i] = out.String()
		})
	}
	wait.Wait()
	said := strings.Join(answers, "")
	if answers[0] != "" && answers[1] != "" || !strings.Contains(said, `"permissionDecisionReason":"no (policy global/judge)"`) {
		t.Errorf("the answers are %q", answers)
	}
	if data, err := os.ReadFile(count); err != nil || strings.Count(string(data), "ran") != 1 {
		t.Errorf("it ran %q, %v", data, err)
	}
}

// A hook inside a handler applies rules and starts nothing; otherwise an agent that judges an
// agent would never end.
func TestInsideAHandlerNothingIsStarted(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	u := newUser(t, on("PreToolUse", `{"type":"command","command":"touch `+ran+`"},{"type":"rule","id":"r","decision":"deny","reason":"no","commands":["ls"]}`), "")
	entry := run.Inside(nil, trust.In(u.env["BECKON_STATE_DIR"]))[0]
	_, u.env[run.Marker], _ = strings.Cut(entry, "=")
	out := u.fire(event.PreToolUse, `,"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"}`)
	if !strings.Contains(out, "no (policy global/r)") {
		t.Errorf("got %q", out)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command ran")
	}
}

// What a handler starts has the marker, and nothing else can set it: a project's settings may
// set any variable for its hooks.
func TestMarkerIsNotForOthersToSet(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	u := newUser(t, on("PreToolUse", `{"type":"command","command":"printf %s $`+run.Marker+` > `+seen+`"}`), "")
	u.env[run.Marker] = "1"
	u.fire(event.PreToolUse, `,"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"}`)
	data, err := os.ReadFile(seen)
	if err != nil || !(run.Starter{}).Inside(func(string) string { return string(data) }, trust.In(u.env["BECKON_STATE_DIR"])) {
		t.Errorf("the command saw %q, %v", data, err)
	}
}

// The client works until the policy has let the turn end, and so does the session.
func TestTurnGoesOnWhileThePolicyThinks(t *testing.T) {
	dir := t.TempDir()
	begun, go_ := filepath.Join(dir, "begun"), filepath.Join(dir, "go")
	u := newUser(t, on("Stop", `{"type":"command","command":"echo x > `+begun+`; until test -e `+go_+`; do sleep 0.05; done"}`), "")
	u.fire(event.SessionStart, `,"source":"startup"`)
	u.fire(event.UserPromptSubmit, `,"prompt":"do it"`)
	cmd, _ := u.process(event.Stop, `,"stop_hook_active":false`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, begun)
	if got := u.state(); got != state.Working {
		t.Errorf("while the policy thinks the session is %s", got)
	}
	if err := os.WriteFile(go_, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := u.state(); got != state.Idle {
		t.Errorf("then it is %s", got)
	}
}
