//go:build unix

package suite

import (
	"regexp"
	"strings"
)

// screenStates maps what a screen shows to a state; the first match wins.
var screenStates = []struct {
	state string
	text  *regexp.Regexp
}{
	{"", regexp.MustCompile(`Waiting for permission…`)}, // whatever it will ask is not there yet
	{"question", regexp.MustCompile(`Enter to select|Would you like to proceed|Review your answers`)},
	{"permission", regexp.MustCompile(`Do you want to`)},
	{"compacting", regexp.MustCompile(`Compacting conversation`)},
	{"working", regexp.MustCompile(`esc to interrupt|Retrying in|Waiting for \d+ background agent|(?m:^[^\s\w●❯>] \S+…)`)},
	{"failed", regexp.MustCompile(`(?m)^● .*API Error`)},
	{"question", regexp.MustCompile(`(?m)^● .*\?$`)}, // asked in plain text, then the prompt
	{"idle", regexp.MustCompile(`(?m)^[>❯][\s\x{a0}]`)},
}

// ScreenState returns the state that a client's screen shows, or "". Only what is below the
// agent's last words counts: above it is the past.
func ScreenState(screen string) string {
	if i := strings.LastIndex(screen, "\n●"); i >= 0 {
		screen = screen[i+1:]
	}
	for _, s := range screenStates {
		if s.text.MatchString(screen) {
			return s.state
		}
	}
	return ""
}

var interrupted = regexp.MustCompile(`Interrupted ·|Rejected|Declined|User rejected|User declined`)

// ScreenObserver observes what the screens of this lab's clients show, as a person would: the
// reference for scenarios, and for any other observer. A client that is gone has ended if it
// removed its registry file, and is lost otherwise.
func ScreenObserver(l *Lab) Observe {
	known := map[int]SessionID{}
	return func() (map[SessionID]State, error) {
		registered := map[int]bool{}
		for _, r := range l.Home.Registry() {
			registered[r.PID] = true
			known[r.PID] = SessionID(r.SessionID)
		}
		panes, err := l.Tmux.Panes()
		states := map[SessionID]State{}
		for _, p := range panes {
			if id := known[p.Pid]; id != "" {
				states[id] = stateOf(p, registered[p.Pid])
			}
		}
		return states, err
	}
}

func stateOf(p *Pane, registered bool) State {
	if p.Dead() {
		if registered {
			return State{State: "lost"}
		}
		return State{State: "ended"}
	}
	screen := p.Capture()
	s := State{State: ScreenState(screen)}
	if s.State == "idle" {
		s.Reason = "done"
		if i := strings.LastIndex(screen, "\n●"); interrupted.MatchString(screen[max(0, i):]) {
			s.Reason = "interrupted"
		}
	}
	return s
}
