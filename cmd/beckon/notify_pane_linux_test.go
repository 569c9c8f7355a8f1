package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"beckon/testdata/need"

	"golang.org/x/sys/unix"
)

// tmux has @beckon_state of each pane, and of the window that of its most urgent pane; a pane whose
// agent was killed has none.
func TestStateInTmux(t *testing.T) {
	t.Parallel()
	need.Program(t, "tmux")
	p := newOffice(t, `{"notify": ["pane"]}`)
	socket := filepath.Join(t.TempDir(), "s")
	tmux := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	tmux("new-session", "-d", "sleep 1000")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	tmux("split-window", "sleep 1000")
	panes := strings.Fields(tmux("list-panes", "-F", "#{pane_id}"))
	server := tmux("display-message", "-p", "#{pid}")
	in := func(pane string) func(*exec.Cmd) {
		return func(c *exec.Cmd) {
			c.Env = append(slices.Clone(c.Env), "TERM=tmux-256color", "TMUX="+socket+","+server+",0", "TMUX_PANE="+pane)
		}
	}
	shows := func(one, other, window string) {
		t.Helper()
		want := fmt.Sprintf("%q %q %q", one, other, window)
		var got string
		defer func() { t.Logf("%s: the panes and their window show %s", want, got) }()
		within(t, want, func() bool {
			got = fmt.Sprintf("%q %q %q", tmux("show-options", "-pqv", "-t", panes[0], "@beckon_state"),
				tmux("show-options", "-pqv", "-t", panes[1], "@beckon_state"), tmux("show-options", "-wqv", "@beckon_state"))
			return got == want
		})
	}
	a, b := p.startClient(t, "codex", in(panes[0])), p.startClient(t, "gemini", in(panes[1]))
	a.event("UserPromptSubmit", `,"prompt":"go"`)
	shows("working", "", "working")
	a.asks()
	shows("permission", "", "permission")
	b.event("UserPromptSubmit", `,"prompt":"go"`)
	shows("permission", "working", "permission")
	_ = a.cmd.Process.Kill()
	shows("", "working", "working")
	b.event("Stop", `,"last_assistant_message":"It is done."`)
	shows("", "idle", "idle")
	within(t, "nobody waits any more", func() bool { return len(p.waiters()) == 0 })
}

// Inside herdr its pane is told of each state, also after the agent was killed, and a jump goes there.
func TestStateInHerdr(t *testing.T) {
	t.Parallel()
	p := newOffice(t, `{}`)
	log := filepath.Join(t.TempDir(), "log")
	herdr := filepath.Join(t.TempDir(), "herdr")
	if err := os.WriteFile(herdr, []byte("#!/bin/sh\necho \"$*\" >>"+log+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "HERDR_ENV=1", "HERDR_PANE_ID=w1:p2", "HERDR_BIN_PATH="+herdr, "TERM=xterm-256color", "PATH="+filepath.Dir(herdr)+":"+os.Getenv("PATH"))
	told := func(want ...string) {
		t.Helper()
		var lines []string
		within(t, strings.Join(want, ", "), func() bool {
			text, _ := os.ReadFile(log)
			lines = nil
			for line := range strings.Lines(string(text)) {
				_, rest, _ := strings.Cut(line, "--state ")
				word, _, _ := strings.Cut(rest, " ")
				lines = append(lines, word)
				if !strings.HasPrefix(line, "pane report-agent w1:p2 --source beckon --agent codex --state ") {
					t.Fatalf("told %q", line)
				}
			}
			return len(lines) > 0 && lines[len(lines)-1] == want[len(want)-1]
		})
		if strings.Join(slices.Compact(lines), " ") != strings.Join(want, " ") {
			t.Errorf("told %q, want %q", lines, want)
		}
	}
	c := p.startClient(t, "codex")
	c.event("UserPromptSubmit", `,"prompt":"go"`)
	told("working")
	c.asks()
	told("working", "blocked")
	p.run(t, "beckon", "jump", "s-codex")
	text, _ := os.ReadFile(log)
	if !strings.HasSuffix(string(text), "agent focus w1:p2\n") {
		t.Errorf("the jump gave herdr %q", text)
	}
	_ = os.Remove(log)
	_ = c.cmd.Process.Kill()
	told("idle")
	within(t, "nobody waits any more", func() bool { return len(p.waiters()) == 0 })
}

// The terminal of an agent shows progress while it works or waits, and none once it was killed.
func TestProgressInTerminal(t *testing.T) {
	t.Parallel()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var mu sync.Mutex
	var all []byte
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			mu.Lock()
			all = append(all, buf[:n]...)
			mu.Unlock()
		}
	}()
	p := newOffice(t, `{"notify": ["progress"]}`)
	shows := func(want string) {
		t.Helper()
		within(t, want, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return string(all) == strings.ReplaceAll(want, "|", "\x1b]9;4;")
		})
	}
	c := p.startClient(t, "codex", func(c *exec.Cmd) { c.Stderr = tty })
	c.event("UserPromptSubmit", `,"prompt":"go"`)
	shows("|3;0\a")
	c.asks()
	shows("|3;0\a|4;100\a")
	c.event("PostToolUse", `,"tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t1"`)
	shows("|3;0\a|4;100\a|3;0\a")
	c.event("Stop", `,"last_assistant_message":"It is done."`)
	shows("|3;0\a|4;100\a|3;0\a|0;0\a")
	c.event("UserPromptSubmit", `,"prompt":"go on"`)
	shows("|3;0\a|4;100\a|3;0\a|0;0\a|3;0\a")
	_ = c.cmd.Process.Kill()
	shows("|3;0\a|4;100\a|3;0\a|0;0\a|3;0\a|0;0\a")
	within(t, "nobody waits any more", func() bool { return len(p.waiters()) == 0 })
}
