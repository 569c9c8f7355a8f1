package evidence

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"beckon/event"
)

// A session is the client's that started right before it, unless another started nearly then.
func TestOpener(t *testing.T) {
	const born = 1_795_755_068_488 // in the id
	id := "01a21b57-cc48-7fb0-b2d5-037964952cdd"
	at := func(ago ...event.Millis) (all []sitting) {
		for i, a := range ago {
			all = append(all, sitting{pid: i + 1, began: born - a})
		}
		return all
	}
	for _, c := range []struct {
		name string
		all  []sitting
		e    event.Event
		want int // a pid
	}{
		{"no client", nil, event.Event{SessionID: id}, 0},
		{"the only one", at(90_000), event.Event{}, 1},
		{"the second of two", at(60_000, 900), event.Event{SessionID: id}, 2},
		{"the first of two", at(900, -5000), event.Event{SessionID: id}, 1},
		{"both at once", at(1000, 900), event.Event{SessionID: id}, 0},
		{"a later session of an old one", at(60_000, 30_000), event.Event{SessionID: id}, 0},
		{"both after it", at(-100, -9000), event.Event{SessionID: id}, 0},
		{"resumed", at(60_000, 900), event.Event{SessionID: id, Source: "resume"}, 0},
		{"resumed by name", append(at(60_000, 900), sitting{pid: 3, began: born + 9e6, args: "codex\x00resume\x00" + id}), event.Event{SessionID: id, Source: "resume"}, 3},
		{"an id without a time", at(60_000, 900), event.Event{SessionID: "s1"}, 0},
		{"no id", append(at(60_000), sitting{pid: 2, args: "codex"}), event.Event{}, 0},
	} {
		got := 0
		if s := opener(c.all, &c.e); s != nil {
			got = s.pid
		}
		if got != c.want {
			t.Errorf("%s: client %d, want %d", c.name, got, c.want)
		}
	}
}

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
	id, source := "s1", "startup"
	origin := func() *event.Origin {
		o := &event.Origin{Process: event.Process{Pid: daemon, Start: "1"}, Terminal: Terminal(getenv), Launcher: "first"}
		relocate(o, &event.Event{Agent: "codex", Cwd: dir, SessionID: id, Source: source})
		return o
	}
	if o := origin(); o.Process.Pid != 0 || o.Terminal != (event.Terminal{}) || o.Launcher != "" {
		t.Errorf("nobody sits there: %+v", o)
	}
	mine := startCodex(t, dir, []string{"TMUX=/tmp/second,2,0", "TMUX_PANE=%7"}, "60")
	if o := origin(); o.Process.Pid != mine || o.Terminal.Tmux.Pane != "%7" || o.Terminal.Tmux.Socket != "/tmp/second" {
		t.Errorf("the terminal in the directory: %+v", o)
	}
	time.Sleep(time.Second) // it starts clearly later
	second := startCodex(t, dir, []string{"TMUX=/tmp/third,3,0", "TMUX_PANE=%8"}, "60")
	if o := origin(); o.Process.Pid != 0 || o.Terminal != (event.Terminal{}) {
		t.Errorf("one of two: %+v", o)
	}
	p, _ := lookup(second)
	began, _ := startWall(p.start)
	if now := time.Now().UnixMilli(); began > event.Millis(now) || event.Millis(now)-began > 60_000 {
		t.Errorf("it started %d ms ago", now-int64(began))
	}
	hex := fmt.Sprintf("%012x", int64(began)+200)
	id = hex[:8] + "-" + hex[8:] + "-7000-8000-000000000000"
	if o := origin(); o.Process.Pid != second || o.Terminal.Tmux.Pane != "%8" {
		t.Errorf("the one that started a moment before the session: %+v", o)
	}
	if source = "resume"; origin().Process.Pid != 0 {
		t.Error("a session that was resumed was opened long after it began")
	}
}
