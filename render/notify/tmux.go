package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"beckon/render/run"
)

func tmux(ctx context.Context, socket string, args ...string) (string, error) {
	p := run.Program{Argv: append([]string{"tmux", "-S", socket}, args...), Limit: desktopLimit}
	out, err := p.Output(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(out))
	}
	return out, err
}

// tmuxTime is how long tmux shows a notification, in milliseconds.
const tmuxTime = "10000"

// tmuxShows shows n in the status line of every client of the server at socket. It escapes the
// text, since tmux would expand formats in it, and run commands.
func tmuxShows(ctx context.Context, socket string, n Note) error {
	out, err := tmux(ctx, socket, "list-clients", "-F", "#{client_name}")
	if err != nil {
		return err
	}
	if out == "" {
		return errors.New("nobody is attached to its tmux server")
	}
	text := strings.ReplaceAll(n.Title+": "+n.Body, "#", "##")
	for client := range strings.Lines(out) {
		_, e := tmux(ctx, socket, "display-message", "-d", tmuxTime, "-c", strings.TrimSpace(client), "--", text)
		err = cmp.Or(err, e)
	}
	return err
}

// Kept is why tmux does not forward what is written in its panes.
type Kept struct {
	Background bool // only from windows that are not visible
	value      string
}

// KeptByTmux asks the server at socket, which may be the value of TMUX. It returns nil if
// everything is forwarded, or the server cannot be asked: before 3.3, which lacks the option,
// tmux forwards everything.
func KeptByTmux(socket string) *Kept {
	socket, _, _ = strings.Cut(socket, ",")
	out, err := tmux(context.Background(), socket, "show-options", "-gv", "allow-passthrough")
	value := strings.TrimSpace(string(out))
	if socket == "" || err != nil || value == "all" {
		return nil
	}
	return &Kept{Background: value == "on", value: value}
}

func (k *Kept) Error() string {
	if k.Background {
		return "tmux keeps back what windows in the background send: allow-passthrough is " + k.value
	}
	return "tmux keeps back what its windows send: allow-passthrough is " + k.value +
		", so its status line shows notifications"
}

// Hint says how to have them forwarded.
func (*Kept) Hint() string {
	return "to see your terminal's own notifications instead, put this into ~/.tmux.conf: set -g allow-passthrough all (on, where tmux is older than 3.4)"
}
