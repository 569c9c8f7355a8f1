package jump

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state/evidence"
)

type server struct {
	socket  string
	pid     int
	panes   []pane
	clients []client
}

// pane is one pane in one session; a window linked into two sessions has it twice.
type pane struct {
	id, window, session string // %N, @N, $N
	place               string // window.pane, by their indexes
	name                string // the session's
}

type client struct {
	name, session, active string // active is the pane in front, %N
	used                  int64  // when it was last used, in seconds
	control               bool   // in control mode: iTerm2 shows its windows as tabs, other programs only listen
}

// The formats contain no tab, because a server without UTF-8 prints "_" for it. Names, which
// may contain spaces, come last.
const (
	paneFormat   = "P #{pid} #{pane_id} #{window_id} #{session_id} #{window_index}.#{pane_index} #{session_name}"
	clientFormat = "C #{client_control_mode} #{client_activity} #{session_id} #{pane_id} #{client_name}"
)

// askTmux asks the server at socket, the user's own if it is empty.
func (m *move) askTmux(socket string) (*server, error) {
	argv := append(tmuxArgv(socket), "list-panes", "-a", "-F", paneFormat, ";", "list-clients", "-F", clientFormat)
	out, err := m.ask(Command{Argv: argv})
	for _, none := range []string{"no server running", "error connecting to", "server exited", "lost server"} {
		if err != nil && strings.Contains(out, none) {
			return nil, isGone("its tmux server has ended")
		}
	}
	if err != nil {
		return nil, m.failed("tmux", out, err)
	}
	return parseServer(socket, out), nil
}

func tmuxArgv(socket string) []string {
	if socket == "" {
		return []string{"tmux"}
	}
	return []string{"tmux", "-S", socket}
}

// command runs a command of tmux that moves the focus.
func (m *move) command(socket string, args ...string) error {
	out, err := m.do(Command{Argv: append(tmuxArgv(socket), args...)})
	return m.failed("tmux", out, err)
}

func parseServer(socket, out string) *server {
	s := &server{socket: socket}
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		switch f := strings.SplitN(line, " ", 7); {
		case len(f) == 7 && f[0] == "P":
			s.pid, _ = strconv.Atoi(f[1])
			s.panes = append(s.panes, pane{f[2], f[3], f[4], f[5], f[6]})
		case len(f) >= 6 && f[0] == "C":
			used, _ := strconv.ParseInt(f[2], 10, 64)
			s.clients = append(s.clients,
				client{control: f[1] == "1", used: used, session: f[3], active: f[4], name: strings.Join(f[5:], " ")})
		}
	}
	return s
}

// tmux selects the pane in its window and session, and switches a client to that session: the
// caller's own if it is on the same server, else the one used last. If that server has no
// client, the caller's own moves to it.
func (m *move) tmux() (string, error) {
	t := m.row.Pane.Tmux
	if t.Pane == "" || t.Pane[0] != '%' || t.Socket != "" && !absolute(t.Socket) {
		return "", m.byHand("tmux gave this pane no id")
	}
	s, err := m.askTmux(t.Socket)
	if err == nil && t.Server != 0 && s.pid != t.Server {
		err = isGone("its tmux server has ended, another one is at %s", render.OneLine(t.Socket))
	}
	if err != nil {
		return "", err
	}
	own := m.caller(s)
	c := cmp.Or(own, s.in(s.sessions(t.Pane)))
	p := s.find(t.Pane, c)
	if p == nil {
		return "", isGone("tmux has no pane %s", t.Pane)
	}
	show := []string{"select-window", "-t", p.session + ":" + p.window, ";", "select-pane", "-t", p.id}
	if c == nil {
		return m.attach(s, p, show)
	}
	if c.session != p.session {
		show = append(show, ";", "switch-client", "-c", c.name, "-t", p.session)
	}
	if err := m.command(t.Socket, show...); err != nil {
		return "", err
	}
	did := fmt.Sprintf("tmux shows %s:%s", render.OneLine(p.name), p.place)
	if own != nil {
		return did, nil
	}
	// A failure to raise the client's terminal, which its tty identifies, is no error: the pane is shown.
	if m.row.Pane.Outer == "iterm2" && m.OS == "darwin" && absolute(c.name) {
		_, _ = m.do(Command{Argv: []string{"osascript", "-e", itermByTTY, c.name}})
	}
	return did + " in " + render.OneLine(c.name), nil
}

// attach shows a pane of a server without clients: by moving the caller's own client to it,
// else by hand.
func (m *move) attach(s *server, p *pane, show []string) (string, error) {
	if err := m.command(s.socket, show...); err != nil {
		return "", err
	}
	mine, c := m.own()
	if c == nil || !plain(s.socket, "/,:+") {
		by := Command{Argv: append(tmuxArgv(s.socket), "attach-session", "-t", p.name)}
		return "", &ByHand{"nobody is attached to its tmux server", by.String()}
	}
	// The client runs this in the user's shell: only the dollar of the session's id needs
	// quoting.
	line := "exec tmux -S " + s.socket + " attach-session -t '" + p.session + "'"
	if err := m.command(mine.socket, "detach-client", "-t", c.name, "-E", line); err != nil {
		return "", err
	}
	return fmt.Sprintf("tmux left its server for %s and shows %s:%s", s.socket, render.OneLine(p.name), p.place), nil
}

// own returns the tmux server that beckon was called in and the client there, nil if it was
// called outside tmux.
func (m *move) own() (*server, *client) {
	here := evidence.Terminal(m.Getenv).Tmux
	if here.Socket == "" {
		return nil, nil
	}
	s, err := m.askTmux(here.Socket)
	if err != nil {
		return nil, nil
	}
	return s, m.caller(s)
}

// caller returns the client of s that beckon was called in, nil if it was called elsewhere. A
// command that tmux itself runs (a key binding) knows its session but no pane; the key was
// pressed in the client used last.
func (m *move) caller(s *server) *client {
	here := evidence.Terminal(m.Getenv).Tmux
	if here.Server == 0 || here.Server != s.pid {
		return nil
	}
	if i := slices.IndexFunc(s.clients, func(c client) bool { return c.name == m.Client }); i >= 0 {
		return &s.clients[i]
	}
	sessions := s.sessions(here.Pane)
	if tmux := m.Getenv("TMUX"); here.Pane == "" { // the last part is the session's number
		sessions = append(sessions, "$"+tmux[strings.LastIndexByte(tmux, ',')+1:])
	}
	return s.in(sessions)
}

func (s *server) sessions(id string) (all []string) {
	for _, p := range s.panes {
		if p.id == id {
			all = append(all, p.session)
		}
	}
	return all
}

// in returns the client in one of the sessions, else any; of several the one that was used last, but
// for those in control mode. It returns nil if there is none.
func (s *server) in(sessions []string) *client {
	if len(s.clients) == 0 {
		return nil
	}
	rank := func(c client) (n int) {
		if slices.Contains(sessions, c.session) {
			n += 2
		}
		if !c.control {
			n++
		}
		return n
	}
	c := slices.MaxFunc(s.clients, func(a, b client) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.used, b.used))
	})
	return &c
}

// find returns the pane in the session that c shows, else in any.
func (s *server) find(id string, c *client) (found *pane) {
	for i := range s.panes {
		if p := &s.panes[i]; p.id == id && (found == nil || c != nil && p.session == c.session) {
			found = p
		}
	}
	return found
}

// Message shows a text in the status line of the caller's tmux client, for messageTime. It
// escapes the text, since tmux would expand formats in it, and run commands.
func (j *Jumper) Message(ctx context.Context, text string) error {
	argv := []string{"tmux", "display-message", "-d", messageTime}
	if j.Client != "" {
		argv = append(argv, "-c", j.Client)
	}
	out, err := j.Run(ctx, Command{Argv: append(argv, "--",
		"beckon: "+strings.ReplaceAll(render.OneLine(text), "#", "##"))})
	if err != nil {
		return fmt.Errorf("showing a message in tmux: %w: %s", err, render.FirstLine(out))
	}
	return nil
}

// messageTime is in milliseconds: long enough to be read.
const messageTime = "4000"

// Here returns the session in the pane beckon was called in, and whether there is one. A
// command that tmux itself runs (a key binding, a popup) is in no pane: it stands for the one
// in front of the client used last.
func (j *Jumper) Here(ctx context.Context, rows []render.Row) (string, bool) {
	t := evidence.Terminal(j.Getenv)
	if t.Kind == "tmux" && t.Tmux.Pane == "" {
		m := &move{Jumper: j, ctx: ctx, row: &render.Row{}}
		if _, c := m.own(); c != nil {
			t.Tmux.Pane = c.active
		}
	}
	best, found := "", time.Time{}
	for i := range rows {
		r := &rows[i]
		if r.Remote == nil && SamePane(r.Pane, t) && (best == "" || r.UpdatedAt.After(found)) {
			best, found = r.Record(), r.UpdatedAt
		}
	}
	return best, best != ""
}

// SamePane reports whether a and b are the same pane of a terminal. Panes without an id are never the
// same. The socket of a tmux server may have two paths, so its pid decides if both are known.
func SamePane(a, b event.Terminal) bool {
	switch x, y := a.Tmux, b.Tmux; {
	case a.Kind != b.Kind:
		return false
	case a.Kind != "tmux":
		return a.ID != "" && a.ID == b.ID
	case x.Server != 0 && y.Server != 0:
		return x.Pane != "" && x.Pane == y.Pane && x.Server == y.Server
	default:
		return x.Pane != "" && x.Pane == y.Pane && (x.Socket == y.Socket || x.Socket == "" || y.Socket == "")
	}
}

// Windows returns the grouping for render.Queue: the tmux window of each row, which only its
// server knows, else what the row's terminal says.
func (j *Jumper) Windows(ctx context.Context, rows []render.Row) func(*render.Row) string {
	servers := map[string]*server{}
	for i := range rows {
		socket := rows[i].Pane.Tmux.Socket
		if _, ok := servers[socket]; ok || rows[i].Pane.Kind != "tmux" || rows[i].Remote != nil {
			continue
		}
		m := &move{Jumper: j, ctx: ctx, row: &rows[i]}
		servers[socket], _ = m.askTmux(socket)
	}
	return func(r *render.Row) string {
		if s := servers[r.Pane.Tmux.Socket]; s != nil && r.Pane.Kind == "tmux" {
			if p := s.find(r.Pane.Tmux.Pane, nil); p != nil {
				return "tmux:" + s.socket + ":" + p.window
			}
		}
		return r.Window()
	}
}
