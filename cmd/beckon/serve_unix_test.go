//go:build unix

package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startServe runs `beckon serve` as a user would, and stops it with the test.
func startServe(t *testing.T, env []string, args ...string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // a free port
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(program(t), append([]string{"serve", "--addr", addr}, args...)...)
	var said bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve: %v: %s", err, said.String())
		}
	})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if res, err := http.Get("http://" + addr + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return "http://" + addr
			}
		}
	}
	t.Fatal("it is not ready after a minute")
	return ""
}

// A state directory that others may write to is a fault, whoever owns it.
func TestDoctorStateDir(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	doctor := func() string {
		cmd := exec.Command(program(t), "doctor")
		cmd.Env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin", "BECKON_STATE_DIR=" + state}
		out, _ := cmd.CombinedOutput() // there are other faults: nothing is installed
		return string(out)
	}
	if out := doctor(); strings.Contains(out, "not yours alone") {
		t.Errorf("of one's own: %s", out)
	}
	if err := os.Chmod(state, 0o777); err != nil {
		t.Fatal(err)
	}
	if out := doctor(); !strings.Contains(out, "not yours alone") {
		t.Errorf("writable to all: %s", out)
	}
}
