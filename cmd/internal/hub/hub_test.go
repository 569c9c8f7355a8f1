package hub

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"beckon/render/fleet/bus"
)

// A hub cannot be opened with an incomplete file.
func TestOpenWithoutAKey(t *testing.T) {
	dir := t.TempDir()
	h, err := Init(dir, "127.0.0.1:7484", nil)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := Open(dir); err != nil || same.Account.name != h.Account.name {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{}", `{"operator_seed":"","account_seed":"","system_seed":""}`, `{"operator_seed":null}`} {
		if err := os.WriteFile(filepath.Join(dir, stateFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil {
			t.Errorf("%q opens a hub", text)
		}
	}
}

// Processes that change one hub at the same time keep each other's changes: an access that
// nobody knows of could not be revoked, and a revoked one must stay so.
func TestChangesAtOnce(t *testing.T) {
	dir := t.TempDir()
	first, err := Init(dir, "127.0.0.1:7484", nil)
	if err != nil {
		t.Fatal(err)
	}
	invite := func(h *Hub, host string) {
		if _, err := h.Invite(bus.Access{User: "ann", Host: host}, time.Time{}); err != nil {
			t.Error(err)
		}
	}
	invite(first, "lost")
	second, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := first.Revoke("lost"); err != nil {
		t.Fatal(err)
	}
	invite(second, "kept")
	var all sync.WaitGroup
	const many = 10
	for i := range many {
		all.Go(func() {
			h, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			invite(h, fmt.Sprint("host", i))
		})
	}
	all.Wait()
	now, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if names := now.Names(); len(names) != many+1 || len(now.Revoked) != 1 || now.Given["lost"] != nil {
		t.Errorf("invited %q, revoked %v", names, now.Revoked)
	}
}

// A revocation counts from when it is given, even if the clock was ahead when the access was
// issued: a server compares the two.
func TestRevokedBeforeIssued(t *testing.T) {
	h, err := Init(t.TempDir(), "127.0.0.1:7484", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Invite(bus.Access{User: "ann", Host: "a"}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	g := &h.Given["a"][0]
	g.At = g.At.Add(time.Hour)
	if err := h.save(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.Revoke("a"); err != nil {
		t.Fatal(err)
	}
	if at := h.Revoked[g.Key]; at < g.At.Unix() {
		t.Errorf("revoked at %d what was issued at %d", at, g.At.Unix())
	}
}
