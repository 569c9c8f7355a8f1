//go:build unix

package live

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/testdata/need"
)

func TestFocusOf(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name, clients string
		want          state.Focus
	}{
		{"no client", "", state.FocusElsewhere},
		{"another pane", "%2|999|1|focus|attached,focused", state.FocusElsewhere},
		{"in focus", "%1|900|1|bpaste,focus|attached,focused,UTF-8", state.FocusHere},
		{"out of focus", "%1|900|1|focus|attached,UTF-8", state.FocusElsewhere},
		{"a key just now", "%1|996|0||attached,focused", state.FocusHere},
		{"focus events are off", "%1|900|0|focus|attached,focused", state.FocusUnknown},
		{"a terminal that tells nothing", "%1|900|1|title|attached,focused", state.FocusUnknown},
		{"two clients, one looks", "%1|900|1|focus|attached\n%1|900|1|focus|attached,focused\n", state.FocusHere},
		{"control mode", "%7|999|1|focus|attached,control-mode", state.FocusUnknown},
		{"not of this form", "%1 900 1 focus attached", state.FocusElsewhere},
	} {
		if got := focusOf(c.clients, "%1", now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// The focus is found in a real tmux, in a terminal that reports when it gains and loses focus.
func TestFocusOfTmux(t *testing.T) {
	for _, tool := range []string{"tmux", "script"} {
		need.Program(t, tool)
	}
	dir, err := os.MkdirTemp("", "focus") // short, since a socket's path must be
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	sock := filepath.Join(dir, "s")
	tmux := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("tmux", append([]string{"-S", sock, "-f", "/dev/null"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
	}
	tmux("start-server", ";", "set-option", "-s", "focus-events", "on", ";", "new-session", "-d", "-s", "a", "sleep", "60")
	outer := exec.Command("script", "-qfc", "tmux -S "+sock+" attach-session -t a", "/dev/null")
	defer func() {
		tmux("kill-server")
		_ = outer.Wait()
	}()
	tmux("new-window", "-d", "-t", "a", "sleep", "60")
	pane := func(id string) event.Terminal {
		return event.Terminal{Kind: "tmux", Tmux: event.Tmux{Socket: sock, Pane: id}}
	}
	look := func(id string) state.Focus { return Focus(pane(id), time.Now().Add(time.Minute)) } // no key counts
	if got := look("%0"); got != state.FocusElsewhere {
		t.Errorf("with no client: %d", got)
	}
	outer.Env = append(os.Environ(), "TERM=xterm-256color", "TMUX=")
	keys, err := outer.StdinPipe()
	if err == nil {
		err = outer.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	becomes := func(id string, want state.Focus) {
		t.Helper()
		var got state.Focus
		for range 600 {
			if got = look(id); got == want {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Errorf("pane %s: %d, want %d", id, got, want)
	}
	becomes("%0", state.FocusHere)
	becomes("%1", state.FocusElsewhere)
	_, _ = io.WriteString(keys, "\x1b[O")
	becomes("%0", state.FocusElsewhere)
	_, _ = io.WriteString(keys, "\x1b[I")
	becomes("%0", state.FocusHere)
	tmux("set-option", "-s", "focus-events", "off")
	becomes("%0", state.FocusUnknown)
	if got := Focus(pane("%0"), time.Now()); got != state.FocusHere {
		t.Errorf("a key just now: %d", got)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", "")
	if got := Focus(pane("%0"), time.Now()); got != state.FocusUnknown {
		t.Errorf("without tmux on PATH: %d", got)
	}
	t.Setenv("PATH", path)
}

// Where a screen cannot be read, the client gets five seconds for its start.
func TestAsksAtStart(t *testing.T) {
	for _, term := range []event.Terminal{{}, {Kind: "ghostty"}, {Kind: "tmux", Tmux: event.Tmux{Socket: "/nonexistent", Pane: "%0"}}} {
		if asksAtStart(term, 4999) || !asksAtStart(term, 5000) {
			t.Errorf("%+v", term)
		}
	}
}
