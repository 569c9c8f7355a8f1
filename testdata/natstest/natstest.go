// Package natstest runs a real nats-server for tests.
package natstest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"beckon/testdata/need"
)

// Program returns a nats-server. .ci/run installs it.
func Program(t testing.TB) string {
	t.Helper()
	cache, _ := os.UserCacheDir()
	return need.Program(t, "nats-server", filepath.Join(cache, "beckon-test", "bin", "nats-server"))
}

// Address returns a free address of the loopback interface.
func Address(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// Server is a nats-server, as a process.
type Server struct {
	t       testing.TB
	program string
	config  string
	address string
	cmd     *exec.Cmd
}

// Serve starts a server with a configuration that listens on an address. It ends with the test.
func Serve(t testing.TB, config, address string) *Server {
	t.Helper()
	s := &Server{t: t, program: Program(t), config: config, address: address}
	t.Cleanup(s.Kill)
	s.Start()
	return s
}

// Start starts the server, and returns once it listens.
func (s *Server) Start() {
	s.t.Helper()
	s.cmd = exec.Command(s.program, "-c", s.config)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", s.address); err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			s.t.Fatal("nats-server does not listen")
		}
	}
}

// Kill is kill -9.
func (s *Server) Kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// Reload makes the server read its configuration again, by its own command.
func (s *Server) Reload(pidFile string) {
	s.t.Helper()
	if out, err := exec.Command(s.program, "--signal", "reload="+pidFile).CombinedOutput(); err != nil {
		s.t.Fatalf("reload: %v\n%s", err, out)
	}
}
