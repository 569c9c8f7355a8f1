package trust

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// If a link is in the place of the trace, the trace is not written through it.
func TestTraceIsNoLink(t *testing.T) {
	dir := t.TempDir()
	d, other := In(dir), filepath.Join(dir, "other")
	if err := d.Trace(Entry{At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(d.Path(traceFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, d.Path(traceFile)); err != nil {
		t.Skip(err)
	}
	if err := d.Trace(Entry{At: time.Now()}); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("the file that the link names was made")
	}
}

func TestOnce(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	call := CallName("s", "/p", "Bash", []byte(`{"command":"x"}`))
	takes := func(call, use string) bool {
		_, ok := d.Take(call, use, now)
		return ok
	}
	code, err := d.Refuse(Refused{Call: call, Tool: "Bash", Subject: "x"}, now)
	if err != nil || takes(call, "t1") {
		t.Fatalf("taken before it was allowed: %v", err)
	}
	if _, err := d.Allow(code, now.Add(onceFor+time.Second)); err != ErrNoCode {
		t.Errorf("a code that is too old: %v", err)
	}
	if code, err = d.Refuse(Refused{Call: call, Tool: "Bash", Subject: "x"}, now); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"", "../../x", "AAAA-AAA", "AAAA/AAAA", "AAAAAAAAA", "AAAA-AAAA"} {
		if _, err := d.Allow(wrong, now); err != ErrNoCode {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if r, err := d.Allow(" "+code+"\n", now); err != nil || r.Tool != "Bash" {
		t.Fatal(r, err)
	}
	if !d.Allows() {
		t.Error("no call may come")
	}
	if takes(CallName("s", "/q", "Bash", []byte(`{"command":"x"}`)), "t2") {
		t.Error("another directory's call was taken")
	}
	if !takes(call, "t2") || takes(call, "t3") {
		t.Error("the call is not taken once")
	}
	if now = now.Add(onceFor + time.Minute); takes(call, "t4") || d.Allows() {
		t.Error("a call may still come")
	}
}

// A policy file that somebody is writing is read again, and never taken by halves.
func TestReadFileBeingWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	for writes, wants := range map[int]string{0: "{}", 2: "{}  ", 99: ""} {
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		reads := 0
		got, err := readWith(path, func(path string) ([]byte, error) {
			data, err := os.ReadFile(path)
			if reads++; reads > writes {
				return data, err
			}
			return data[:1], errors.Join(err, os.WriteFile(path, append(data, ' '), 0o600))
		})
		if string(got) != wants || (err == nil) != (wants != "") {
			t.Errorf("after %d writes: %q, %v", writes, got, err)
		}
	}
}
