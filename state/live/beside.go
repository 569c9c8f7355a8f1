package live

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/redact"
	"beckon/event/transcript"
	"beckon/state"
)

// beside reads what another agent reports outside the hooks of s: its session file, and
// failing that its terminal's title. open means that both may change at any time.
func (r *Reader) beside(s *state.Session, now event.Millis) (reg state.Registry, open bool) {
	st := s.ByHooks(now).State
	if !st.AtWork() && !st.Asks() {
		return reg, false
	}
	if f := transcript.StatusOf(s.Agent, besideFile(s)); f.Status != "" {
		reg = state.Reported(f.Status, redact.Text(f.Detail), f.At)
	}
	over := reg.Status != "" && reg.Status != transcript.Busy && reg.At >= s.Main().Active
	if t := &s.Origin.Terminal; !over && reg.Status != "waiting" && t.Kind == "tmux" && transcript.Titles(s.Agent) {
		if title, ok := r.title(t.Tmux); ok {
			if seen := s.Titled(transcript.TitleStatus(s.Agent, title, s.Cwd), now); seen.Status != "" {
				reg = seen
			}
		}
	}
	if reg.Status != "waiting" && r.runs(s, now) {
		reg = s.Titled(transcript.Busy, now)
	}
	return reg, true
}

// besideFile returns the file that the agent of s keeps of it.
func besideFile(s *state.Session) string {
	home, _ := os.UserHomeDir()
	return transcript.PathOf(s.Agent, s.ID, s.Transcript, home, os.Getenv)
}

// runs reports whether the only call of s, which asks for a permission as far as hooks tell,
// demonstrably runs: the user has answered.
func (r *Reader) runs(s *state.Session, now event.Millis) bool {
	asked := s.SoleAsk()
	return asked != 0 && r.here.Spawned(s.Origin.Process, asked, now)
}

// noted is how long after the end of a turn, in milliseconds, an agent's file is read for the
// note that the user interrupted it.
const noted = 5000

// brokenOff reads whether the user interrupted the turn that has just ended.
func (r *Reader) brokenOff(s *state.Session, now event.Millis) (m state.Marker, open bool) {
	if !transcript.Breaks(s.Agent) || now > s.Stop.At+noted || !s.BrokenOff(s.Stop.At) {
		return m, false
	}
	if f := transcript.StatusOf(s.Agent, s.Transcript); f.Status == transcript.Idle && s.BrokenOff(f.At) {
		return state.Marker{At: max(f.At, s.Stop.At), Kind: "interrupt"}, false
	}
	return m, true
}

// title asks a tmux server for a pane's title. Each look asks a server once, for all panes.
func (r *Reader) title(tm event.Tmux) (title string, ok bool) {
	if tm.Socket == "" || tm.Pane == "" {
		return "", false
	}
	ask, _ := r.titles.LoadOrStore(tm.Socket, sync.OnceValue(func() map[string]string { return titlesOf(tm.Socket) }))
	title, ok = ask.(func() map[string]string)()[tm.Pane]
	return title, ok
}

// titlesLimit is how long a tmux server may take to return its panes' titles.
const titlesLimit = time.Second

func titlesOf(socket string) map[string]string {
	out, _ := tmux(socket, titlesLimit, "list-panes", "-a", "-F", "#{pane_id} #{pane_title}") // none: nothing is known
	all := map[string]string{}
	for line := range strings.Lines(out) {
		pane, title, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		all[pane] = title
	}
	return all
}

// Focus asks whether the user looks at a terminal's pane. Only tmux can be asked; kitty decides by
// itself, as the escape sequence tells it to.
func Focus(t event.Terminal, now time.Time) state.Focus {
	if t.Kind != "tmux" || t.Tmux.Pane == "" || t.Tmux.Socket == "" {
		return state.FocusUnknown
	}
	out, err := tmux(t.Tmux.Socket, 300*time.Millisecond, "list-clients", "-F", clientFormat)
	if err != nil {
		return state.FocusUnknown
	}
	return focusOf(out, t.Tmux.Pane, now)
}

// tmux asks a tmux server, for at most limit.
func tmux(socket string, limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-S", socket}, args...)...).Output()
	return string(out), err
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
