package evidence

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/state"
)

// Focus asks whether the user looks at a terminal's pane. Only tmux can be asked;
// kitty decides by itself, as the escape sequence tells it to. It starts one short process, so
// call it only when there is something to notify about.
func Focus(t event.Terminal, getenv func(string) string, now time.Time) state.Focus {
	if t.Kind != "tmux" || t.Tmux.Pane == "" || t.Tmux.Socket == "" {
		return state.FocusUnknown
	}
	program := lookPath("tmux", getenv("PATH"))
	if program == "" {
		return state.FocusUnknown
	}
	out, err := output(program, "-S", t.Tmux.Socket, "list-clients", "-F", clientFormat)
	if err != nil {
		return state.FocusUnknown
	}
	return focusOf(out, t.Tmux.Pane, now)
}

// clientFormat lists, for each tmux client, the pane that has its keyboard and whether
// somebody is there. The pane is the one of the session's current window.
const clientFormat = "#{pane_id}|#{client_activity}|#{focus-events}|#{client_termfeatures}|#{client_flags}"

// handsOn is how long after a key press the user is taken to be at the keyboard.
const handsOn = 5 * time.Second

// focusOf parses the clients of a tmux server. A pane that no client shows is not looked at.
// One that is shown is looked at if its client had a key press a moment ago or reports focus;
// without focus events a client always reports focus, so nothing is known.
func focusOf(clients, pane string, now time.Time) state.Focus {
	shown := state.FocusElsewhere
	for line := range strings.Lines(clients) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 {
			continue
		}
		flags := strings.Split(f[4], ",")
		control := slices.Contains(flags, "control-mode") // its terminal shows panes in its own way
		if f[0] != pane && !control {
			continue
		}
		key, _ := strconv.ParseInt(f[1], 10, 64)
		reports := (f[2] == "1" || f[2] == "on") && slices.Contains(strings.Split(f[3], ","), "focus") && !control
		switch {
		case !control && now.Sub(time.Unix(key, 0)) < handsOn, reports && slices.Contains(flags, "focused"):
			return state.FocusHere
		case !reports:
			shown = state.FocusUnknown
		}
	}
	return shown
}

// lookPath finds a program in the directories of path. os/exec would do it, but is more than
// the hook may link.
func lookPath(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// output runs a program and returns the first 16 KiB that it prints. A program that takes too
// long is killed.
func output(program string, args ...string) (string, error) {
	const wait = 300 * time.Millisecond
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		w.Close()
		return "", err
	}
	p, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{Files: []*os.File{null, w, null}})
	w.Close()
	null.Close()
	if err != nil {
		return "", err
	}
	_ = r.SetReadDeadline(time.Now().Add(wait))
	buf := make([]byte, 16<<10)
	n := 0
	for err == nil && n < len(buf) {
		var m int
		m, err = r.Read(buf[n:])
		n += m
	}
	if os.IsTimeout(err) {
		_ = p.Kill()
	}
	if state, e := p.Wait(); e != nil || !state.Success() {
		return "", os.ErrInvalid
	}
	return string(buf[:n]), nil
}
