package feed

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"beckon/event"
	"beckon/state"
	"beckon/state/live"
	"beckon/state/store"
)

// What was said is published once, whether the session or its history is seen first; of a
// session that never shows it is forgotten.
func TestHistoryBeforeOrAfter(t *testing.T) {
	m := NewMeter()
	st := store.Open(t.TempDir())
	b := New(Options{Store: st, Meter: m, Log: func(err error) { t.Error(err) }})
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(st.Dir, "history")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	said := func(key string) {
		line := `{"key":"` + key + `","seq":2,"at":1,"kind":"turn","us":0,"count":{},` +
			`"turn":{"actor":"human","rule":"prompt","text":"hello","at":1}}`
		f, err := os.OpenFile(filepath.Join(dir, "1970-01-01.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString(line + "\n")
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	seen := func(id string) live.Update {
		return live.Update{Now: b.begun + 1, Changed: []state.Seen{{Session: state.Session{ID: id, Seq: 2}}}}
	}
	recheck := live.Update{Now: b.begun + 1, Rechecked: true}
	for i, step := range []struct {
		do   func()
		want uint64
	}{
		{func() { b.take(seen("late")) }, 0},
		{func() { said("late"); b.take(recheck) }, 1},
		{func() { said("early"); b.take(recheck) }, 1},
		{func() { b.take(seen("early")) }, 2},
		{func() { b.take(seen("early")); b.take(seen("late")); b.take(recheck) }, 2},
		{func() { said("never"); b.take(recheck); b.take(recheck); b.take(seen("never")) }, 2},
	} {
		step.do()
		if n := m.set.GetOrCreateCounter(`beckon_sse_events_total{event="turn_created"}`).Get(); n != step.want {
			t.Errorf("step %d: %d turns were published, want %d", i, n, step.want)
		}
	}
}

// Nothing is kept of removed sessions, and one that comes back publishes nothing again that is old.
func TestRemovedSessions(t *testing.T) {
	m := NewMeter()
	f := New(Options{Store: store.Open(t.TempDir()), Meter: m, Log: func(err error) { t.Error(err) }})
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	began := f.begun
	key := store.KeyOf("one")
	for i, kind := range []event.Kind{event.UserPromptSubmit, event.Stop} {
		at := began + 1 + event.Millis(i)
		e := event.Event{Agent: event.ClaudeCode, Kind: kind, SessionID: "one", Cwd: "/tmp", Prompt: "build it", At: at}
		if _, err := f.o.Store.Fold(key, store.Update{Change: state.Change{At: at, Event: &e}}); err != nil {
			t.Fatal(err)
		}
	}
	done, err := f.o.Store.Load(key)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		now := began + 2 + event.Millis(i)*10*lately
		f.take(live.Update{Now: now, Changed: []state.Seen{{Session: done}}})
		f.take(live.Update{Now: now, Gone: []store.Key{store.KeyOf(done.Record())}})
		f.take(live.Update{Now: now, Rechecked: true})
		f.take(live.Update{Now: now, Rechecked: true})
		if len(f.cards)+len(f.heard)+len(f.rows) > 0 {
			t.Errorf("%d cards, %d histories, %d rows are kept", len(f.cards), len(f.heard), len(f.rows))
		}
	}
	if n := m.set.GetOrCreateCounter(`beckon_sse_events_total{event="notification"}`).Get(); n != 1 {
		t.Errorf("%d notifications", n)
	}
}
