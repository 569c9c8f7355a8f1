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
	return startServeAt(t, "127.0.0.1", env, args...)
}

// startServeAt is startServe at an address of this machine, or at all of them.
func startServeAt(t *testing.T, host string, env []string, args ...string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // a free port
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(program(t), append([]string{"serve", "--addr", strings.Replace(addr, "127.0.0.1", host, 1)}, args...)...)
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
		if res, err := http.Get("http://" + addr + "/healthz"); err == nil {
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
		cmd.Env = []string{"GORACE=" + noNap, "HOME=" + dir, "PATH=/usr/bin:/bin", "BECKON_STATE_DIR=" + state}
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

// A phone that reads the code is signed in, once; a server that no phone can reach shows none.
func TestServeQR(t *testing.T) {
	home := t.TempDir()
	env := []string{"GORACE=" + noNap, "HOME=" + home, "PATH=/usr/bin:/bin", "BECKON_STATE_DIR=" + filepath.Join(home, "state"), "NO_COLOR=1"}
	beckon := func(args ...string) (string, error) {
		cmd := exec.Command(program(t), args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := beckon("serve", "--qr", "--addr", "127.0.0.1:0"); err == nil || !strings.Contains(out, "no other device reaches") || !strings.Contains(out, "hint: --addr 0.0.0.0") {
		t.Errorf("on loopback: %v, %s", err, out)
	}
	url := startServeAt(t, "0.0.0.0", env)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	out, err := beckon("serve", "url", "--qr", "--addr", "0.0.0.0:"+port)
	code, words, _ := strings.Cut(out, "  it signs one phone in, within ten minutes: ")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address := scan(t, code, true)
	if address != strings.TrimSpace(words) {
		t.Errorf("the code says %s, below it stands %s", address, words)
	}
	at, secret, _ := strings.Cut(address, "#code=")
	for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		r, err := http.NewRequest(http.MethodPost, at+"api/login", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("signing in at %s: %s, want %d", at, res.Status, want)
		}
	}
}
