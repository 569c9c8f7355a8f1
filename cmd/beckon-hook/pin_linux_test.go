package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/state/request"
	"beckon/state/request/pin"
	"beckon/testdata/need"
)

// With a PIN only what it signs is an answer: not a file that somebody writes, not a command in a
// terminal that an agent opens.
func TestPIN(t *testing.T) {
	const secret = "47 11"
	for name, c := range map[string]struct {
		answer func(t *testing.T, env []string, d request.Dir, a request.Answer)
		taken  bool
		ends   bool // the attempt ends the request
	}{
		"signed": {func(t *testing.T, _ []string, d request.Dir, a request.Answer) {
			k, err := pin.Unlock(d, secret)
			if err == nil {
				k.Sign(loaded(t, d, a.Request), &a)
				err = d.Give(a, time.Now())
			}
			if err != nil {
				t.Error(err)
			}
		}, true, true},
		"by hand": {func(t *testing.T, _ []string, d request.Dir, a request.Answer) {
			b, err := json.Marshal(a)
			if err == nil {
				err = os.WriteFile(filepath.Join(d.OpenDir(), a.Request, "answer.json"), b, 0o600)
			}
			if err != nil {
				t.Error(err)
			}
		}, false, true},
		"with another's signature": {func(t *testing.T, _ []string, d request.Dir, a request.Answer) {
			other := request.In(t.TempDir())
			if err := pin.Set(other, secret); err != nil {
				t.Fatal(err)
			}
			k, err := pin.Unlock(other, secret)
			if err == nil {
				k.Sign(loaded(t, d, a.Request), &a)
				err = d.Give(a, time.Now())
			}
			if err != nil {
				t.Error(err)
			}
		}, false, true},
		"shown another call": {func(t *testing.T, _ []string, d request.Dir, a request.Answer) {
			signedFor(t, d, a, secret, func(_ map[string]any, payload []byte) []byte {
				return []byte(strings.Replace(string(payload), "y <", "n <", 1))
			}, false)
		}, false, true},
		"shown as another tool's": {func(t *testing.T, _ []string, d request.Dir, a request.Answer) {
			signedFor(t, d, a, secret, func(r map[string]any, payload []byte) []byte {
				r["tool"] = "Read"
				return payload
			}, true)
		}, false, true},
		"in a terminal of its own": {func(t *testing.T, env []string, _ request.Dir, a request.Answer) {
			beckon := program(t, "beckon")
			try := "'" + beckon + "' answer " + a.Request[:5] + "; '" + beckon + "' answer " + a.Request[:5] + " yes"
			cmd := exec.Command(need.Program(t, "setsid"), "--wait", need.Program(t, "script"), "-qec", try, "/dev/null")
			cmd.Env, cmd.Stdin = env, strings.NewReader("guess\n")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "PIN: ") || strings.Contains(string(out), "allowed") {
				t.Errorf("%v: %s", err, out)
			}
		}, false, false},
		"in its own tmux": {func(t *testing.T, env []string, _ request.Dir, a request.Answer) {
			beckon, dir := program(t, "beckon"), t.TempDir()
			try := "'" + beckon + "' answer " + a.Request[:5] + "; '" + beckon + "' answer " + a.Request[:5] + " yes; echo done=$? >'" + dir + "/code'"
			tmux := []string{"-S", dir + "/tmux", "-f", "/dev/null"}
			run := func(args ...string) {
				cmd := exec.Command(need.Program(t, "tmux"), append(tmux, args...)...)
				cmd.Env = env
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Logf("tmux %v: %v: %s", args, err, out)
				}
			}
			run("new-session", "-d", "-s", "own", "-x", "100", "-y", "40", "sh", "-c", try)
			t.Cleanup(func() { run("kill-server") })
			for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
				code, err := os.ReadFile(dir + "/code")
				if err == nil && strings.HasSuffix(string(code), "\n") {
					if string(code) == "done=0\n" {
						t.Error("it answered")
					}
					return
				}
				if time.Now().After(end) {
					t.Fatal("it does not end")
				}
				run("send-keys", "-t", "own", "guess", "Enter")
			}
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			env := environ(dir, "TERM=xterm")
			d := request.In(filepath.Join(dir, "state"))
			if err := os.MkdirAll(string(d), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := pin.Set(d, secret); err != nil {
				t.Fatal(err)
			}
			a := ask(t, env, "s1")
			o := requestOf(t, d, "s1")
			waits(t, o)
			c.answer(t, env, d, request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Allow, From: request.Terminal, By: "kim"})
			if !c.ends {
				if !d.StillOpen(&o) {
					t.Error("it is not open any more")
				}
				_ = a.cmd.Process.Kill()
				return
			}
			out := a.said(t)
			if strings.Contains(out, `"allow"`) != c.taken || !c.taken && out != "" {
				t.Errorf("the client was told %q", out)
			}
			if became, known := d.Outcome(o.ID, time.Second); !known || became.Taken != c.taken {
				t.Errorf("it became %+v, %v", became, known)
			}
		})
	}
}

func loaded(t *testing.T, d request.Dir, id string) *request.Request {
	t.Helper()
	r, err := d.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	return &r
}

// signedFor changes the files of a request, has the user sign what they show then, and gives that
// answer, with the files as they were if back is set.
func signedFor(
	t *testing.T, d request.Dir, a request.Answer, secret string,
	change func(r map[string]any, payload []byte) []byte, back bool,
) {
	t.Helper()
	path := filepath.Join(d.OpenDir(), a.Request, "offer.json")
	write := func(path string, parts ...[]byte) {
		if err := os.WriteFile(path, bytes.Join(parts, []byte("\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, payload, _ := bytes.Cut(was, []byte("\n"))
	var members map[string]any
	if err := json.Unmarshal(line, &members); err != nil {
		t.Fatal(err)
	}
	payload = change(members, payload)
	head, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	write(path, head, payload)
	r := loaded(t, d, a.Request)
	a.Digest = r.Digest
	k, err := pin.Unlock(d, secret)
	if err != nil {
		t.Fatal(err)
	}
	k.Sign(r, &a)
	if !back {
		if err := d.Give(a, time.Now()); err != nil {
			t.Error(err)
		}
		return
	}
	write(path, was)
	if err := d.Give(a, time.Now()); !errors.Is(err, request.ErrChanged) {
		t.Errorf("the answer to another request: %v", err)
	}
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(d.OpenDir(), a.Request, "answer.json"), b)
}
