//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state/request"
	"beckon/state/request/pin"
	"beckon/state/store"
)

// A user sets a PIN in a terminal, where it is not shown; a screen then asks for it, and what it
// gives is signed.
func TestPIN(t *testing.T) {
	t.Parallel()
	const secret = "471147"
	home := t.TempDir()
	st := store.Open(filepath.Join(home, "state"))
	d := request.In(st.Dir)
	fold(t, st, "first", event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest)
	env := []string{"GORACE=" + noNap, "HOME=" + home, "BECKON_STATE_DIR=" + st.Dir, "USER=kim", "CLAUDECODE="}
	set := openTerminal(t, 100, 30, env, "config", "pin")
	set.wait(`A PIN for answers`)
	set.press("-l", secret)
	set.press("Enter")
	s := set.wait(`Once more`)
	set.press("-l", secret)
	set.press("Enter")
	for end := time.Now().Add(time.Minute); !d.HasPIN() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if strings.Contains(s, secret) {
		t.Errorf("it is shown:\n%s", s)
	}
	if _, err := pin.Unlock(d, secret); err != nil {
		t.Fatal(err)
	}

	o := asking(t, st, "first", "make test")
	p := openTerminal(t, 100, 30, env, "watch")
	p.wait(`NEEDS YOU 1`)
	p.press("Space")
	p.wait(`│ make test`)
	time.Sleep(time.Second) // as long as reading it takes
	p.press("y")
	p.wait(`PIN .*your PIN for answers`)
	p.press("-l", "12345")
	p.press("Enter")
	p.wait(`this is not your PIN`)
	p.press("-l", secret)
	if s := p.wait(`••••••`); strings.Contains(s, secret) {
		t.Errorf("it is shown:\n%s", s)
	}
	p.press("Enter")
	a := took(t, st, o)
	a.Message = "" // as it was signed
	if a.Word != request.Allow || d.Verify(&o, &a) != nil {
		t.Errorf("it answered %+v", a)
	}
	p.wait(`allowed: Bash`)
}
