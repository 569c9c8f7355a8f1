package evidence

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"beckon/event"
)

// startCodex runs a program called codex in dir until the test ends.
func startCodex(t *testing.T, dir string, env []string, args ...string) int {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("no sleep")
	}
	text, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "codex")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = dir, env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 100 { // until the process runs that program
		if p, _ := lookup(cmd.Process.Pid); p.comm == "codex" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return cmd.Process.Pid
}

// A daemon's hooks report the terminal in which the daemon was started. The session's own
// terminal is found by its directory, or not at all.
func TestDaemonsTerminal(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	daemon := startCodex(t, home, []string{"TMUX=/tmp/first,1,0", "TMUX_PANE=%1"}, "60")
	getenv := func(name string) string {
		return map[string]string{"CODEX_HOME": home, "TMUX": "/tmp/first,1,0", "TMUX_PANE": "%1"}[name]
	}
	codex := event.AgentOf("codex")
	if daemonOf(codex, daemon, getenv) {
		t.Fatal("a process of no file is taken for the daemon")
	}
	file := filepath.Join(home, filepath.FromSlash(codex.Daemon))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"pid":`+strconv.Itoa(daemon)+`,"started":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if !daemonOf(codex, daemon, getenv) || daemonOf(codex, daemon+1, getenv) || daemonOf(event.AgentOf("claude"), daemon, getenv) {
		t.Fatal("the daemon is not told by its file")
	}
	id := "s1"
	origin := func() *event.Origin {
		o := &event.Origin{Process: event.Process{Pid: daemon, Start: "1"}, Terminal: Terminal(getenv), Launcher: "first"}
		relocate(o, &event.Event{Agent: "codex", Cwd: dir, SessionID: id})
		return o
	}
	if o := origin(); o.Process.Pid != 0 || o.Terminal != (event.Terminal{}) || o.Launcher != "" {
		t.Errorf("nobody sits there: %+v", o)
	}
	mine := startCodex(t, dir, []string{"TMUX=/tmp/second,2,0", "TMUX_PANE=%7"}, "60")
	if o := origin(); o.Process.Pid != mine || o.Terminal.Tmux.Pane != "%7" || o.Terminal.Tmux.Socket != "/tmp/second" {
		t.Errorf("the terminal in the directory: %+v", o)
	}
	startCodex(t, dir, []string{"TMUX=/tmp/third,3,0", "TMUX_PANE=%8"}, "60")
	if o := origin(); o.Process.Pid != 0 || o.Terminal != (event.Terminal{}) {
		t.Errorf("one of two: %+v", o)
	}
	id = "60.25"
	named := startCodex(t, dir, []string{"TMUX=/tmp/fourth,3,0", "TMUX_PANE=%9"}, id)
	if o := origin(); o.Process.Pid != named || o.Terminal.Tmux.Pane != "%9" {
		t.Errorf("the one that was started with its id: %+v", o)
	}
}
