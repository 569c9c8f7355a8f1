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

// Terminal is the channel of the terminal that this program itself runs in: for
// `watch` and for tests. A session's own terminal is notified through its hook.
type Terminal struct {
	W     io.Writer
	Style osc.Style
	Tmux  bool // W is a pane of tmux, which passes a sequence on only when wrapped
}

// Name is the configuration's word for it.
func (Terminal) Name() string { return alert.Terminal }

// Send writes the sequence.
func (t Terminal) Send(_ context.Context, n Note) error {
	seq := osc.Notify(t.Style, n.record(), n.Title, n.Body)
	if t.Tmux && t.Style != osc.Bell { // a bell is tmux's own to show
		seq = osc.Tmux(seq)
	}
	_, err := io.WriteString(t.W, seq)
	return err
}

// KeptByTmux is why the server at socket, a TMUX variable will do, does not pass on what
// the channel terminal writes in its panes. It is nil where it does, or cannot be asked:
// before 3.3, which has no such option, tmux passes everything on.
func KeptByTmux(socket string) error {
	socket, _, _ = strings.Cut(socket, ",")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", "-S", socket, "show-options", "-gv", "allow-passthrough").Output()
	if value := strings.TrimSpace(string(out)); socket != "" && err == nil && value != "on" && value != "all" {
		return kept(value)
	}
	return nil
}

// kept is the value of tmux's option that keeps notifications.
type kept string

func (k kept) Error() string {
	return "tmux keeps it back: allow-passthrough is " + string(k)
}

// Hint says how to have them passed on.
func (kept) Hint() string { return "put this into ~/.tmux.conf: set -g allow-passthrough on" }
