//go:build unix

package lab

import (
	"errors"
	"testing"
)

// Lab is one client version with everything it needs to run: a server that
// answers it, a home, and a terminal.
type Lab struct {
	Client Client
	Server *Server
	Home   *Home
	Tmux   *Tmux
}

// New makes a lab. No client runs yet: see Tmux.StartClient and Home.Print.
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
	return &Lab{client, s, h, NewTmux(h)}, nil
}

// Close ends the clients, the tmux server and the API, and removes the home.
func (l *Lab) Close() error {
	err := l.Tmux.Close()
	l.Server.Close()
	return errors.Join(err, l.Home.Close())
}

// Start makes a lab for a test, which is skipped as Need says, and closes it
// when the test ends.
func Start(t testing.TB, version string) *Lab {
	t.Helper()
	return StartWith(t, Need(t, version))
}

// StartWith is Start for a client that is there already.
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
