package notify

import (
	"context"
	"io"
	"os/exec"
	"strings"
	"time"

	"beckon/event/osc"
	"beckon/state/alert"
)

// Terminal is the channel of the terminal that this program runs in: for `watch` and for
// tests. A session's own terminal is notified through its hook.
type Terminal struct {
	W     io.Writer
	Style osc.Style
	Tmux  bool // W is a pane of tmux, which forwards a sequence only if it is wrapped
}

// Name returns the channel's name in the configuration.
func (Terminal) Name() string { return alert.Terminal }

// Send writes the sequence.
func (t Terminal) Send(_ context.Context, n Note) error {
	seq := osc.Notify(t.Style, n.record(), n.Title, n.Body)
	if t.Tmux && t.Style != osc.Bell { // tmux itself handles a bell
		seq = osc.Tmux(seq)
	}
	_, err := io.WriteString(t.W, seq)
	return err
}

// Kept is why tmux does not forward what the channel terminal writes in its panes.
type Kept struct {
	Background bool // only from windows that are not visible
	value      string
}

// KeptByTmux asks the server at socket, which may be the value of TMUX. It returns nil if
// everything is forwarded, or the server cannot be asked: before 3.3, which lacks the option,
// tmux forwards everything.
func KeptByTmux(socket string) *Kept {
	socket, _, _ = strings.Cut(socket, ",")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", "-S", socket, "show-options", "-gv", "allow-passthrough").Output()
	value := strings.TrimSpace(string(out))
	if socket == "" || err != nil || value == "all" {
		return nil
	}
	return &Kept{Background: value == "on", value: value}
}

func (k *Kept) Error() string {
	what := "it back"
	if k.Background {
		what = "back what windows in the background send"
	}
	return "tmux keeps " + what + ": allow-passthrough is " + k.value
}

// Hint says how to have it forwarded.
func (*Kept) Hint() string {
	return "put this into ~/.tmux.conf: set -g allow-passthrough all (on, where tmux is older than 3.4)"
}
