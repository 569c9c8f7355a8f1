package live

import (
	"context"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/state"
)

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
