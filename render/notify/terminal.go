package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"beckon/event"
	"beckon/event/osc"
	"beckon/event/run"
	"beckon/event/typed"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/evidence"
)

// Terminal is the channel of a terminal. In a tmux that keeps its sequences back, tmux itself
// shows the notification, in the status line of every client.
type Terminal struct {
	W      io.Writer // nil: that of Client
	Client event.Process
	Style  osc.Style
	Socket string // of the tmux server that it is a pane of
	tty    string // the file of the terminal, if it is known
}

// terminalOf returns the channel of a session's own terminal.
func terminalOf(s *state.Session) Terminal {
	t := s.Origin.Terminal
	return Terminal{Client: s.Origin.Process, Style: osc.For(t), Socket: t.Tmux.Socket}
}

// Channel returns the channel.
func (t Terminal) Channel() Channel { return Channel{Name: alert.Terminal, Send: t.send} }

func (t Terminal) reaches() bool { return t.Socket != "" || t.W != nil || t.device() != "" }

// send writes the sequence.
func (t Terminal) send(ctx context.Context, n Note) error {
	seq := osc.Notify(t.Style, n.record(), n.Title, n.Body)
	if t.Style != osc.Bell && KeptByTmux(t.Socket) == errKept { // tmux itself handles a bell
		return tmuxShows(ctx, t.Socket, n)
	}
	return t.write(seq, t.Style != osc.Bell)
}

// write writes a sequence, which tmux forwards only if it is wrapped.
func (t Terminal) write(seq string, wrap bool) error {
	if t.Socket != "" && wrap {
		seq = osc.Tmux(seq)
	}
	if t.W != nil {
		_, err := io.WriteString(t.W, seq)
		return err
	}
	f, err := os.OpenFile(cmp.Or(t.tty, t.device()), os.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	_ = f.SetWriteDeadline(time.Now().Add(programLimit)) // a terminal that is stopped takes nothing
	_, err = f.WriteString(seq)
	return errors.Join(err, f.Close())
}

// device returns the file of the client's terminal, "" if there is none or it cannot be seen.
func (t Terminal) device() string {
	if evidence.Presence(t.Client, event.MillisOf(time.Now())) != state.Alive {
		return ""
	}
	pid := strconv.Itoa(t.Client.Pid)
	for _, fd := range []string{"0", "1", "2"} {
		if path, err := os.Readlink("/proc/" + pid + "/fd/" + fd); err == nil && strings.HasPrefix(path, "/dev/pts/") {
			return path
		}
	}
	ps := run.Program{Argv: []string{"ps", "-o", "tty=", "-p", pid}, Limit: programLimit}
	out, err := ps.Output(context.Background())
	if name := strings.TrimSpace(out); err == nil && strings.HasPrefix(name, "tty") {
		return "/dev/" + name
	}
	return ""
}

func tmux(ctx context.Context, socket string, args ...string) (string, error) {
	p := run.Program{Argv: append([]string{"tmux", "-S", socket}, args...), Limit: programLimit}
	out, err := p.Output(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(out))
	}
	return out, err
}

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

const passthrough = "to see your terminal's own notifications instead, put this into ~/.tmux.conf: " +
	"set -g allow-passthrough all (on, where tmux is older than 3.4)"

// Why tmux does not forward what is written in its panes: in none, or only in windows that are not
// visible.
var (
	errKept = typed.Advise(errors.New("tmux keeps back what its windows send: allow-passthrough is off, "+
		"so its status line shows notifications"), passthrough)
	errBackground = typed.Advise(errors.New("tmux keeps back what windows in the background send: "+
		"allow-passthrough is on"), passthrough)
)

// KeptByTmux asks the server at socket, which may be the value of TMUX. It returns nil if
// everything is forwarded, or the server cannot be asked: before 3.3, which lacks the option,
// tmux forwards everything.
func KeptByTmux(socket string) error {
	if socket, _, _ = strings.Cut(socket, ","); socket == "" {
		return nil
	}
	out, _ := tmux(context.Background(), socket, "show-options", "-gv", "allow-passthrough")
	return map[string]error{"off": errKept, "on": errBackground}[strings.TrimSpace(out)]
}
