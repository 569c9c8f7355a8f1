package live

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
)

// manySessions creates n live sessions with a registry record each.
func manySessions(t testing.TB, n int) (st *store.Store, registry string) {
	dir := t.TempDir()
	registry = filepath.Join(dir, "registry")
	if err := os.Mkdir(registry, 0o700); err != nil {
		t.Fatal(err)
	}
	st = store.Open(filepath.Join(dir, "state"))
	now := event.MillisOf(time.Now())
	for i := range n {
		id := fmt.Sprintf("session-%04d", i)
		e := event.Event{Agent: "claude-code", Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", SessionID: id, At: now, Cwd: "/", Prompt: "go",
			Origin: &event.Origin{Seat: id, Process: event.Process{Host: "here", Pid: 4_000_000 + i, Start: "1"}}}
		if _, err := st.Fold(store.KeyOf(id), store.Update{Change: state.Change{At: now, Event: &e}}); err != nil {
			t.Fatal(err)
		}
		rec := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/","startedAt":%d,"procStart":"1","version":"2.1.329","kind":"interactive","status":"busy","updatedAt":%d,"statusUpdatedAt":%d}`, 4_000_000+i, id, now, now, now)
		if err := os.WriteFile(filepath.Join(registry, fmt.Sprintf("%d.json", 4_000_000+i)), []byte(rec), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return st, registry
}

// A list is one look, and the memory that a look takes costs page faults, so a session may
// take no more than a few times its own size.
func TestLookMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector, where the short tests run, memory is the detector's")
	}
	const sessions, most = 200, 6 << 10
	st, registry := manySessions(t, sessions)
	look := func() {
		if snap, err := NewReader(st, registry).Look(false); err != nil || len(snap.Seen) != sessions {
			t.Fatalf("%d sessions, %v", len(snap.Seen), err)
		}
	}
	look() // what is made once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	look()
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / sessions; each > most {
		t.Errorf("a session takes %d bytes, more than %d", each, most)
	}
}

// BenchmarkLook reads 1,000 sessions.
func BenchmarkLook(b *testing.B) {
	st, registry := manySessions(b, 1000)
	for b.Loop() {
		snap, err := NewReader(st, registry).Look(false)
		if err != nil || len(snap.Seen) != 1000 {
			b.Fatalf("%d sessions, %v", len(snap.Seen), err)
		}
	}
}
