package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"beckon/testdata/dbustest"
	"beckon/testdata/need"
)

// paneScript returns what a pane runs: hooks of a session of that name, then text.
func paneScript(session string) string {
	hook := func(event, more string) string {
		return fmt.Sprintf(`echo '{"session_id":%q,"cwd":"/","hook_event_name":%q%s}' | beckon-hook %s; `, session, event, more, event)
	}
	return hook("SessionStart", `,"source":"startup"`) + hook("UserPromptSubmit", `,"prompt":"go"`) + "clear; echo this is the pane of " + session + "; exec sleep 300"
}

// newAgents returns an office where a session belongs to the program agent, a shell under
// another name, since shells are skipped on the way to the agent.
func newAgents(t *testing.T, config string) *office {
	t.Helper()
	p := newOffice(t, config)
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.bin, "agent"), shell, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, v := range p.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			p.env[i] = "PATH=" + p.bin + ":" + path
		}
	}
	return p
}

// run runs a program of the office and returns what it printed. It runs it again where a terminal
// took too long for it: on a busy machine one may not get the processor for two seconds.
func (p *office) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := p.command(name, args...).CombinedOutput()
	for try := 1; try < 10 && err != nil && bytes.Contains(out, []byte("did not answer in 2s")); try++ {
		out, err = p.command(name, args...).CombinedOutput()
	}
	if err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// display starts an X server for the duration of a test.
func display(t *testing.T) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1200x800x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{w}
	start(t, x)
	_ = w.Close()
	var number int
	if _, err := fmt.Fscan(r, &number); err != nil {
		t.Fatalf("the X server: %v", err)
	}
	return ":" + strconv.Itoa(number)
}

// start starts a program for the duration of a test.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// kitty is a running kitty.
type kitty struct {
	t      *testing.T
	socket string
	env    []string
}

func startKitty(t *testing.T, p *office) *kitty {
	t.Helper()
	dir, err := os.MkdirTemp("", "bkn") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	env := append(slices.Clone(p.env), "DISPLAY="+display(t), "LIBGL_ALWAYS_SOFTWARE=1", "KITTY_CACHE_DIRECTORY="+dir, "XDG_RUNTIME_DIR="+dir, "LANG=C.UTF-8")
	k := &kitty{t: t, env: env}
	socket := filepath.Join(dir, "k")
	cmd := exec.Command("kitty", "--config", "NONE", "-o", "allow_remote_control=socket-only", "-o", "listen_on=unix:"+socket, "-o", "update_check_interval=0",
		"-o", "enabled_layouts=stack", "agent", "-c", paneScript("first"))
	cmd.Env = env
	start(t, cmd)
	within(t, "kitty listens", func() bool {
		found, _ := filepath.Glob(socket + "*") // it adds its pid
		if len(found) > 0 {
			k.socket = "unix:" + found[0]
		}
		return len(found) > 0
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the window in front shows\n%s", k.do("get-text"))
		}
	})
	return k
}

// do sends kitty a command.
func (k *kitty) do(args ...string) string {
	k.t.Helper()
	cmd := exec.Command("kitty", append([]string{"@", "--to", k.socket}, args...)...)
	cmd.Env = k.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		k.t.Fatalf("kitty @ %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// open opens a window and returns its id.
func (k *kitty) open(script string) string {
	k.t.Helper()
	return strings.TrimSpace(k.do("launch", "agent", "-c", script))
}

// front reports whether the window in front shows the pane of a session.
func (k *kitty) front(session string) bool {
	k.t.Helper()
	return strings.Contains(k.do("get-text"), "this is the pane of "+session)
}

func (k *kitty) shows(window, text string) bool {
	k.t.Helper()
	return strings.Contains(k.do("get-text", "--match", "id:"+window), text)
}

// TestKitty uses a real kitty: jump brings a session's window to the front, peek and show
// print what is on it, a notification reaches the desktop, and watch draws.
func TestKitty(t *testing.T) {
	need.Program(t, "kitty")
	need.Program(t, "Xvfb")
	t.Parallel()
	daemon := dbustest.Start(t)
	p := newAgents(t, `{"notify": ["terminal"]}`)
	p.env = append(p.env, "DBUS_SESSION_BUS_ADDRESS="+daemon.Address)
	k := startKitty(t, p)
	within(t, "the first session begins", func() bool { return k.shows("1", "this is the pane of first") })
	second := k.open(paneScript("second"))
	within(t, "the second session begins", func() bool { return k.shows(second, "this is the pane of second") })

	if !k.front("second") {
		t.Fatal("a window that opens is not in front")
	}
	if out := p.run(t, "beckon", "jump", "first"); !strings.Contains(out, "kitty shows window 1") || !k.front("first") {
		t.Errorf("the jump did not bring the window to the front: %s", out)
	}
	p.run(t, "beckon", "jump", "second")
	if !k.front("second") {
		t.Error("the jump back did not bring the window to the front")
	}
	watch := k.open("exec beckon watch")
	within(t, "watch draws", func() bool { return k.shows(watch, "WORKING 2") })
	k.do("send-text", "--match", "id:"+watch, "q")

	k.open("beckon notify test; exec sleep 300")
	within(t, "the notification reaches the desktop", func() bool {
		return slices.ContainsFunc(daemon.Received(), func(m dbustest.Message) bool { return m.Title == "beckon needs nothing" })
	})

	k.do("close-window", "--match", "id:1")
	within(t, "the window is gone", func() bool {
		out, err := p.command("beckon", "jump", "first").CombinedOutput()
		return err != nil && (strings.Contains(string(out), "kitty has no window 1") || strings.Contains(string(out), "the session is over"))
	})
}

// TestScreen uses a real GNU screen: jump selects a session's window.
func TestScreen(t *testing.T) {
	need.Program(t, "screen")
	need.Program(t, "tmux")
	t.Parallel()
	p := newAgents(t, `{}`)
	dir, err := os.MkdirTemp("", "bkn")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "SCREENDIR="+dir, "TERM=xterm")
	screen := func(args ...string) error {
		cmd := exec.Command("screen", append([]string{"-c", "/dev/null", "-S", "work"}, args...)...)
		cmd.Env = p.env
		return cmd.Run()
	}
	if err := screen("-d", "-m", "agent", "-c", paneScript("first")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen("-X", "quit") })
	within(t, "screen listens", func() bool { return screen("-X", "screen", "agent", "-c", paneScript("second")) == nil })
	within(t, "both sessions begin", func() bool {
		out := p.run(t, "beckon", "list")
		return strings.Contains(out, "first") && strings.Contains(out, "second")
	})
	socket := filepath.Join(dir, "tmux")
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
		cmd.Env = p.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	tmux("new-session", "-d", "screen -x work") // somebody looks at it
	t.Cleanup(func() { tmux("kill-server") })
	within(t, "screen shows a window", func() bool { return strings.Contains(tmux("capture-pane", "-p"), "this is the pane of ") })
	for _, name := range []string{"first", "second", "first"} {
		out := p.run(t, "beckon", "jump", name)
		within(t, "screen shows the window of "+name, func() bool { return strings.Contains(tmux("capture-pane", "-p"), "this is the pane of "+name) })
		if !strings.Contains(out, "screen shows window") {
			t.Errorf("the jump says %q", out)
		}
	}
}
