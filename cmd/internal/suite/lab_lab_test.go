//go:build unix

package suite

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// Lab is one client version with everything it needs to run: a server that
// answers it, a home, and a terminal.
type Lab struct {
	Client Client
	Server *Server
	Home   *Home
	Tmux   *Tmux

	guests []*Server
}

// New creates a lab. No client runs yet: see Tmux.StartClient and Home.Print.
func New(client Client) (*Lab, error) {
	s := NewServer()
	h, err := NewHome(client, s.URL)
	if err != nil {
		s.Close()
		return nil, err
	}
	s.Project = h.Project
	if client.Agent != nil {
		s.scripts = client.Agent.scripts()
	}
	return &Lab{Client: client, Server: s, Home: h, Tmux: NewTmux(h)}, nil
}

// Close ends the clients, the tmux server and the API, and removes the home.
func (l *Lab) Close() error {
	err := l.Tmux.Close()
	for _, s := range append(l.guests, l.Server) {
		s.Close()
	}
	return errors.Join(err, l.Home.Close())
}

// Start creates a lab for a test, which is skipped if Need skips it, and closes the lab when
// the test ends.
func Start(t testing.TB, version string) *Lab {
	t.Helper()
	return StartWith(t, Need(t, version))
}

// StartWith is Start for an installed client.
func StartWith(t testing.TB, client Client) *Lab {
	t.Helper()
	l, err := New(client)
	if err != nil {
		t.Fatalf("starting a lab: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Logf("closing the lab: %v", err)
		}
	})
	return l
}

// Join prepares another agent in this lab's home, besides its client, with its own model.
// StartGuest runs it.
func (l *Lab) Join(guest Client) error {
	s := NewServer()
	s.Project, s.scripts = l.Home.Project, guest.Agent.scripts()
	l.guests = append(l.guests, s)
	h := *l.Home
	h.api = s.URL
	maps.Copy(l.Home.Extra, guest.Agent.env(&h))
	return errors.Join(
		os.Symlink(guest.Path, filepath.Join(h.Bin, guest.Agent.Name)),
		guest.Agent.setup(&h),
	)
}

// StartGuest opens a session of an agent that has joined, in the project.
func (l *Lab) StartGuest(guest Client) (*Pane, error) {
	a := guest.Agent
	return l.Tmux.Start(a.Name, l.Home.Project, append([]string{guest.Path}, a.args...)...)
}

// Shows reports the state that the screen of a guest's pane shows.
func (a *Agent) Shows(p *Pane) string { return a.look(p.Capture(), p.Title()).State }
