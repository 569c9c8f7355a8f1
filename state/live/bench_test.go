package live

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
)

// BenchmarkLook reads 1,000 live sessions with a registry record each.
func BenchmarkLook(b *testing.B) {
	dir := b.TempDir()
	registry := filepath.Join(dir, "registry")
	if err := os.Mkdir(registry, 0o700); err != nil {
		b.Fatal(err)
	}
	st := store.Open(filepath.Join(dir, "state"))
	now := event.MillisOf(time.Now())
	for i := range 1000 {
		id := fmt.Sprintf("session-%04d", i)
		e := event.Event{Agent: "claude-code", Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", SessionID: id, At: now, Cwd: "/", Prompt: "go",
			Origin: &event.Origin{Seat: id, Process: event.Process{Host: "here", Pid: 4_000_000 + i, Start: "1"}}}
		if _, err := st.Fold(store.KeyOf(id), store.Update{Change: state.Change{At: now, Event: &e}}); err != nil {
			b.Fatal(err)
		}
		rec := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/","startedAt":%d,"procStart":"1","version":"2.1.329","kind":"interactive","status":"busy","updatedAt":%d,"statusUpdatedAt":%d}`, 4_000_000+i, id, now, now, now)
		if err := os.WriteFile(filepath.Join(registry, fmt.Sprintf("%d.json", 4_000_000+i)), []byte(rec), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for b.Loop() {
		snap, err := NewReader(st, registry).Look(false)
		if err != nil || len(snap.Seen) != 1000 {
			b.Fatalf("%d sessions, %v", len(snap.Seen), err)
		}
	}
}
