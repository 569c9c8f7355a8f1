//go:build unix

package jump

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state"
	"beckon/testdata/need"
)

// tmuxServer is a private tmux server.
type tmuxServer struct {
	t      *testing.T
	socket string
	pid    int
}

func newTmux(t *testing.T) *tmuxServer {
	t.Helper()
	need.Program(t, "tmux")
	dir, err := os.MkdirTemp("", "bkn") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	s := &tmuxServer{t: t, socket: filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", s.socket, "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	return s
}

// run runs a tmux command on the server, outside any other tmux.
func (s *tmuxServer) run(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", s.socket, "-f", "/dev/null"}, args...)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "TMUX") && !strings.HasPrefix(v, "TERM=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "TERM=screen")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// session opens a session with two windows of two panes and returns the ids
// of all four.
func (s *tmuxServer) session(name string) []string {
	s.t.Helper()
	s.run("new-session", "-d", "-s", name, "-x", "80", "-y", "24", "sleep 600")
	s.run("split-window", "-t", name, "sleep 600")
	s.run("new-window", "-t", name+":", "sleep 600")
	s.run("split-window", "-t", name, "sleep 600")
	s.pid, _ = strconv.Atoi(s.run("display-message", "-p", "#{pid}"))
	return strings.Fields(s.run("list-panes", "-s", "-t", name, "-F", "#{pane_id}"))
}

// attach attaches a client to the session, with a pane of another tmux server as its terminal.
// It returns the client's name.
func (s *tmuxServer) attach(name string) string {
	s.t.Helper()
	before := s.clients()
	outer := newTmux(s.t)
	outer.run("new-session", "-d", "-x", "80", "-y", "24", "env -u TMUX -u TMUX_PANE tmux -S "+s.socket+" attach-session -t '"+name+"'")
	for range 2400 {
		for _, c := range s.clients() {
			if !slices.Contains(before, c) {
				return c
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	s.t.Fatal("no client came")
	return ""
}

func (s *tmuxServer) clients() []string {
	return strings.Fields(s.run("list-clients", "-F", "#{client_name}"))
}

// shows returns the pane that a client shows.
func (s *tmuxServer) shows(client string) string {
	s.t.Helper()
	for line := range strings.Lines(s.run("list-clients", "-F", "#{client_name} #{pane_id}")) {
		if name, pane, _ := strings.Cut(strings.TrimSpace(line), " "); name == client {
			return pane
		}
	}
	s.t.Fatalf("client %s is gone", client)
	return ""
}

// inside is the environment of a program in a pane, or, if pane is empty, of one that tmux
// itself runs.
func (s *tmuxServer) inside(session, pane string) func(string) string {
	n := "-1"
	if session != "" {
		n = strings.TrimPrefix(s.run("display-message", "-p", "-t", session, "#{session_id}"), "$")
	}
	env := map[string]string{"TMUX": fmt.Sprintf("%s,%d,%s", s.socket, s.pid, n), "TMUX_PANE": pane, "TERM": "screen"}
	return func(k string) string { return env[k] }
}

func (s *tmuxServer) row(id, pane string) render.Row {
	t := event.Tmux{Socket: s.socket, Server: s.pid, Pane: pane}
	return render.Row{SessionID: id, SeatID: id, State: state.Permission, NeedsYou: true, Cwd: "/home/u/shop",
		Pane: event.Terminal{Kind: "tmux", ID: s.socket + "," + pane, Tmux: t}}
}

func outside(string) string { return "" }

// A jump shows the right pane of the right window of the right session, in the client from
// which it was called.
func TestTmuxLands(t *testing.T) {
	s := newTmux(t)
	work, play := s.session("work"), s.session("play time")
	other := s.attach("play time")
	time.Sleep(1100 * time.Millisecond) // tmux counts in seconds which client was used last: the caller's
	mine := s.attach("work")
	s.run("select-window", "-t", "work:0")
	j := New(s.inside("work", work[0]))
	for _, pane := range []string{work[3], play[0], work[1], play[2], play[3], work[0]} {
		otherBefore := s.shows(other)
		r := s.row("x", pane)
		res, err := j.To(context.Background(), &r)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.shows(mine); got != pane {
			t.Fatalf("the client shows %s, want %s; %s", got, pane, res.Did)
		}
		// The other client is attached to the same session, so it shows play's windows, too.
		if got := s.shows(other); got != otherBefore && got != pane {
			t.Errorf("the other client went from %s to %s", otherBefore, got)
		}
	}
	r := s.row("x", play[1])
	if res, err := j.To(context.Background(), &r); err != nil || res.Did != "tmux shows play time:0.1" {
		t.Errorf("did %q, %v", res.Did, err)
	}
}

// A key binding runs in no pane: the client whose key was pressed is switched. So are a
// popup's client and a given one.
func TestTmuxKeyBinding(t *testing.T) {
	s := newTmux(t)
	work, play := s.session("work"), s.session("play")
	first, second := s.attach("work"), s.attach("work")
	r := s.row("x", play[3])
	j := New(s.inside("work", ""))
	j.Client = first
	if _, err := j.To(context.Background(), &r); err != nil {
		t.Fatal(err)
	}
	if a, b := s.shows(first), s.shows(second); a != play[3] || b == play[3] {
		t.Errorf("the clients show %s and %s, want %s in the first alone", a, b, play[3])
	}
	rows := []render.Row{s.row("a", work[0]), s.row("b", s.shows(second)), s.row("c", play[3])}
	j.Client = second
	if id, ok := j.Here(context.Background(), rows); !ok || id != "b" {
		t.Errorf("a key pressed in %s is pressed in session %q", second, id)
	}
	if id, ok := New(s.inside("play", play[3])).Here(context.Background(), rows); !ok || id != "c" {
		t.Errorf("the session of pane %s is %q", play[3], id)
	}
}

// From outside tmux, the client that was used last shows the pane; from another server, too.
func TestTmuxFromOutside(t *testing.T) {
	s, elsewhere := newTmux(t), newTmux(t)
	s.session("work")
	play := s.session("play")
	client := s.attach("work")
	there := elsewhere.session("there")
	elsewhere.attach("there")
	for name, env := range map[string]func(string) string{"no tmux": outside, "another tmux": elsewhere.inside("there", there[0])} {
		for _, pane := range []string{play[0], play[3]} {
			r := s.row("x", pane)
			res, err := New(env).To(context.Background(), &r)
			if err != nil || !strings.HasSuffix(res.Did, " in "+client) {
				t.Fatalf("from %s: did %q, %v", name, res.Did, err)
			}
			if got := s.shows(client); got != pane {
				t.Errorf("from %s the client shows %s, want %s", name, got, pane)
			}
		}
	}
}

// If no client is attached to the server, the caller's client is moved there, and returns the
// same way. Outside tmux the user is told how to attach.
func TestTmuxOverToAnotherServer(t *testing.T) {
	s, alone := newTmux(t), newTmux(t)
	work := s.session("work")
	there := alone.session("over there")
	s.attach("work")
	r := alone.row("x", there[1])
	var hand *ByHand
	if _, err := New(outside).To(context.Background(), &r); !errors.As(err, &hand) || hand.Do != "tmux -S "+alone.socket+" attach-session -t 'over there'" {
		t.Fatalf("from outside: %+v", err)
	}
	if _, err := New(s.inside("work", work[0])).To(context.Background(), &r); err != nil {
		t.Fatal(err)
	}
	arrives(t, alone, there[1])
	back := s.row("y", work[2])
	if _, err := New(alone.inside("over there", there[1])).To(context.Background(), &back); err != nil {
		t.Fatal(err)
	}
	arrives(t, s, work[2])
}

func arrives(t *testing.T, s *tmuxServer, pane string) {
	t.Helper()
	for range 2400 {
		if c := s.clients(); len(c) == 1 && s.shows(c[0]) == pane {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("no client of %s shows %s: %q", s.socket, pane, s.clients())
}

// Pane %0 of a server that has ended is not %0 of its successor.
func TestTmuxPaneIsGone(t *testing.T) {
	s := newTmux(t)
	work := s.session("work")
	client := s.attach("work")
	before := s.shows(client)
	closed := s.row("x", "%99")
	killed := s.row("x", work[0])
	killed.Pane.Tmux.Server++
	s.run("kill-pane", "-t", work[2])
	gone := s.row("x", work[2])
	for name, r := range map[string]render.Row{"never there": closed, "of an earlier server": killed, "closed": gone} {
		if _, err := New(s.inside("work", work[0])).To(context.Background(), &r); !errors.Is(err, ErrGone) {
			t.Errorf("a pane %s: %v", name, err)
		}
	}
	if got := s.shows(client); got != before && got != work[3] {
		t.Errorf("the client went from %s to %s", before, got)
	}
	s.run("kill-server")
	r := s.row("x", work[0])
	if _, err := New(outside).To(context.Background(), &r); !errors.Is(err, ErrGone) {
		t.Errorf("a server that has ended: %v", err)
	}
}

// Sessions of one tmux window are visited together, wherever the window has moved.
func TestTmuxWindows(t *testing.T) {
	s, s2 := newTmux(t), newTmux(t)
	work, other := s.session("work"), s2.session("work")
	rows := []render.Row{s.row("a", work[0]), s.row("b", work[2]), s.row("c", work[1]), s.row("d", work[3]), s2.row("e", other[0])}
	window := New(outside).Windows(context.Background(), rows)
	var names []string
	for i := range rows {
		names = append(names, window(&rows[i]))
	}
	if names[0] != names[2] || names[1] != names[3] || names[0] == names[1] || names[0] == names[4] {
		t.Errorf("windows are %q", names)
	}
	for i := range rows {
		rows[i].FirstSeen = time.Unix(int64(i), 0)
	}
	var order []string
	for _, r := range (render.Queue{Mode: render.Grouped, Window: window}).Order(rows) {
		order = append(order, r.SessionID)
	}
	if got := strings.Join(order, ""); got != "acbde" {
		t.Errorf("grouped order is %q", got)
	}
}

// A terminal in control mode, such as iTerm2, is a client like others: it is asked to select
// the window, and not to switch to the session that it shows.
func TestControlMode(t *testing.T) {
	s := newTmux(t)
	work := s.session("work")
	cmd := exec.Command("tmux", "-S", s.socket, "-C", "attach-session", "-t", "work")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	for end := time.Now().Add(time.Minute); len(s.clients()) == 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	row := s.row("5ab1", work[0])
	res, err := New(outside).To(t.Context(), &row)
	if err != nil || strings.Contains(fmt.Sprint(res.Commands), "switch-client") {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := s.shows(s.clients()[0]); got != work[0] {
		t.Errorf("it shows %s", got)
	}
	c := s.attach("work") // somebody sees this one
	if m := parseServer("", "C 1 9 $0 %1 listens\nC 0 5 $0 %1 "+c); m.in([]string{"$0"}).name != c {
		t.Error("a program that only listens goes first")
	}
}
