package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/cmd/internal/hook"
	"beckon/state"
	"beckon/state/store"
	"beckon/testdata/dbustest"
)

// ask makes a session wait for a permission that the client reports as unanswered.
func (p *office) ask(t *testing.T, session string) (out string) {
	t.Helper()
	return p.send(t, session, `"UserPromptSubmit","prompt":"go"`) + p.request(t, session, "t1")
}

// request makes the call id of a session wait for a permission.
func (p *office) request(t *testing.T, session, id string) (out string) {
	t.Helper()
	return p.send(t, session,
		`"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"`+id+`"`,
		`"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}`,
		`"Notification","notification_type":"permission_prompt","message":"waits"`)
}

// send runs the hooks of events, each given by its payload from the event's name on.
func (p *office) send(t *testing.T, session string, events ...string) (out string) {
	t.Helper()
	for _, e := range events {
		said, took := p.hook(t, "", fmt.Appendf(nil, `{"session_id":%q,"cwd":"/tmp","hook_event_name":%s}`, session, e))
		if took > 10*hook.Deadline { // it ends by itself; the machine may be busy
			t.Errorf("%s: a hook took %s", session, took)
		}
		out += said
	}
	return out
}

// explained waits until `notify log` says what is wanted about a session.
func (p *office) explained(t *testing.T, session, want string) {
	t.Helper()
	var out []byte
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if out, _ = p.command("beckon", "notify", "log", session).CombinedOutput(); strings.Contains(string(out), want) {
			return
		}
	}
	t.Errorf("notify log never said %q:\n%s", want, out)
}

// A command that hangs is killed, and delays neither the hook nor the desktop channel, which
// is not available here.
func TestNotifyHangingCommand(t *testing.T) {
	t.Parallel()
	p := newOffice(t, `{"notify": ["command", "desktop"], "notify_command": ["sh", "-c", "sleep 100 & sleep 100"]}`)
	p.env = append(p.env, "DBUS_SESSION_BUS_ADDRESS=", "XDG_RUNTIME_DIR=/nowhere")
	if out := p.ask(t, "hangs"); out != "" {
		t.Errorf("the hooks printed %q", out)
	}
	p.explained(t, "hangs", "(command: sh did not end within 10s, desktop: no desktop here: there is no session bus)")
}

func TestNotifyMissingProgram(t *testing.T) {
	t.Parallel()
	p := newOffice(t, `{"notify": ["desktop"], "notify_again": "0s"}`)
	p.env = append(p.env, "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere", "PATH=/nowhere")
	p.ask(t, "missing")
	p.explained(t, "missing", "sent      nothing stands in the way (desktop: the session bus: dial unix /nowhere: connect: no such file or directory)")
	within(t, "nobody waits any more", func() bool { return len(p.waiters()) == 0 })
	// Without the slow program next to the hook nothing can notify.
	if err := os.Rename(filepath.Join(p.bin, "beckon"), filepath.Join(p.bin, "away")); err != nil {
		t.Fatal(err)
	}
	p.ask(t, "alone")
	if err := os.Rename(filepath.Join(p.bin, "away"), filepath.Join(p.bin, "beckon")); err != nil {
		t.Fatal(err)
	}
	p.explained(t, "alone", "not sent  the program that notifies did not start")
}

// A permission within the limit after another one is notified of when the limit is over, by a
// process that waits.
func TestNotifyLimit(t *testing.T) {
	t.Parallel()
	p := newOffice(t, `{"notify": ["command"], "notify_command": ["true"]}`)
	p.ask(t, "s1")
	p.explained(t, "s1", "sent      nothing stands in the way (command)")
	p.send(t, "s1", `"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t1"`)
	p.request(t, "s1", "t2")
	p.explained(t, "s1", "not yet   notified a moment ago")
	for end := time.Now().Add(time.Minute); len(p.told(t, "s1")) < 2 && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	if got := p.told(t, "s1"); len(got) != 2 {
		t.Errorf("told of %v, want both permissions", got)
	}
}

// Fifty sessions ask at once: fifty notifications, and no hook is late.
func TestNotifyFiftyAtOnce(t *testing.T) {
	const sessions = 50
	daemon := dbustest.Start(t)
	p := newOffice(t, `{"notify": ["desktop"]}`)
	p.env = append(p.env, "DBUS_SESSION_BUS_ADDRESS="+daemon.Address)
	var wait sync.WaitGroup
	for i := range sessions {
		wait.Go(func() { p.ask(t, fmt.Sprintf("s%d", i)) })
	}
	wait.Wait()
	for end := time.Now().Add(time.Minute); len(daemon.Received()) < sessions && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(time.Second) // one too many would come now
	if n := len(daemon.Received()); n != sessions {
		t.Errorf("the daemon received %d notifications, want %d", n, sessions)
	}
}

// With a full disk the event cannot be folded, and the hook is silent; if only the log cannot
// be written, the user is notified, and explain knows it.
func TestNotifyFullDisk(t *testing.T) {
	t.Parallel()
	p := newOffice(t, `{"notify": ["terminal"]}`)
	p.ask(t, "s1")
	cmd := p.command("beckon-hook")
	cmd = exec.Command("sh", "-c", "ulimit -f 0; exec "+cmd.Path)
	cmd.Env = p.env
	cmd.Stdin = strings.NewReader(`{"session_id":"s2","hook_event_name":"SessionStart","source":"startup","cwd":"/tmp"}`)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("on a full disk: %v, %q", err, out)
	}
	log := store.Open(p.state).DecisionsFile()
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(log, 0o700); err != nil {
		t.Fatal(err)
	}
	if out := p.ask(t, "s3"); !strings.Contains(out, `{"terminalSequence":"\u001b]9;tmp needs a permission: Bash: make\u0007`) {
		t.Errorf("the hook printed %q", out)
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	p.explained(t, "s3", "sent      taken, and nothing was logged")
	all := store.Open(p.state).Claims("s3")
	for id := range all {
		if e, ok := state.ParseAlert(id); len(all) != 1 || !ok || e.Kind != state.AlertPermission {
			t.Errorf("claims: %v", all)
		}
	}
}
