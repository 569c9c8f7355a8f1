package live

import (
	"os"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/agents/beside"
	"beckon/event/redact"
	"beckon/state"
	"beckon/state/evidence"
)

// beside reads what another agent reports outside the hooks of s: its session file, and
// failing that its terminal's title. open means that both may change at any time.
func (r *Reader) beside(s *state.Session, now event.Millis) (reg state.Registry, open bool) {
	st := s.ByHooks(now).State
	if !st.AtWork() && !st.Asks() {
		return reg, false
	}
	home, _ := os.UserHomeDir()
	if f := beside.File(s.Agent, beside.Path(s.Agent, s.ID, s.Transcript, home, os.Getenv)); f.Status != "" {
		reg = state.Reported(f.Status, redact.Text(f.Detail), f.At)
	}
	over := reg.Status != "" && reg.Status != beside.Busy && reg.At >= s.Main().Active
	if t := &s.Origin.Terminal; !over && reg.Status != "waiting" && t.Kind == "tmux" && beside.Titles(s.Agent) {
		if title, ok := r.title(t.Tmux); ok {
			if seen := s.Titled(beside.Title(s.Agent, title, s.Cwd), now); seen.Status != "" {
				reg = seen
			}
		}
	}
	if reg.Status != "waiting" && r.runs(s, now) {
		reg = s.Titled(beside.Busy, now)
	}
	return reg, true
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
	if !beside.Breaks(s.Agent) || now > s.Stop.At+noted || !s.BrokenOff(s.Stop.At) {
		return m, false
	}
	if f := beside.File(s.Agent, s.Transcript); f.Status == beside.Idle && s.BrokenOff(f.At) {
		return state.Marker{At: max(f.At, s.Stop.At), Kind: "interrupt"}, false
	}
	return m, true
}

// versionOf returns the version of the agent that runs s: from its own files, or from the package
// that its process, which lives, runs from.
func versionOf(s *state.Session, lives bool) string {
	home, _ := os.UserHomeDir()
	v := beside.Version(s.Agent, beside.Path(s.Agent, s.ID, s.Transcript, home, os.Getenv))
	if v == "" && lives {
		v = evidence.PackageVersion(s.Agent, s.Origin.Process.Pid)
	}
	return v
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
