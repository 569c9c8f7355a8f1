//go:build unix

package main

import (
	"bytes"
	"net"
	"net/http"
	"os/exec"
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
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if res, err := http.Get("http://" + addr + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return "http://" + addr
			}
		}
	}
	t.Fatal("it is not ready after 20 s")
	return ""
}
