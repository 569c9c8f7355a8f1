package notify

import (
	"context"
	"io"

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
