//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state/store"
)

// wait ends with the row of the first session that needs the user, now or later.
func TestWait(t *testing.T) {
	home := t.TempDir()
	st := store.Open(filepath.Join(home, "state"))
	env := map[string]string{"HOME": home, "BECKON_STATE_DIR": st.Dir}
	wait := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := run(append([]string{"wait"}, args...), strings.NewReader(""), &out, &errs, func(k string) string { return env[k] })
		return code, out.String() + errs.String()
	}
	fold(t, st, "first", event.SessionStart, event.UserPromptSubmit)
	fold(t, st, "second", event.SessionStart, event.UserPromptSubmit)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"--timeout 50ms", 124, ""},
		{"--timeout 50ms --state=", 124, ""}, // as without
		{"nosuch", 3, "no such session"},
		{"--timeout soon", 2, `--timeout "soon"`},
		{"--state asleep", 2, "no such state"},
		{"--state working", 0, "working"},
		{"second --state working", 0, "second"},
	} {
		if code, said := wait(strings.Fields(c.args)...); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("wait %s: code %d, %q, want %d and %q", c.args, code, said, c.code, c.says)
		}
	}

	type result struct {
		code int
		said string
	}
	done := make(chan result)
	go func() {
		code, said := wait("--json", "--timeout", "2m")
		done <- result{code, said}
	}()
	time.Sleep(100 * time.Millisecond) // usually it follows the sessions by now
	fold(t, st, "second", event.PermissionRequest)
	r := <-done
	var row render.Row
	if err := json.Unmarshal([]byte(r.said), &row); r.code != 0 || err != nil || row.SessionID != "second" || !row.NeedsYou {
		t.Errorf("code %d, %v, %q", r.code, err, r.said)
	}
}
