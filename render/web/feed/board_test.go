package feed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"beckon/event"
	"beckon/state"
	"beckon/state/live"
	"beckon/state/store"
)

// noMeter counts nothing.
type noMeter struct{}

func (noMeter) Line(*store.Line)               {}
func (noMeter) Heard(event.Millis, string)     {}
func (noMeter) Newest() (event.Millis, string) { return 0, "" }
func (noMeter) Sent(string)                    {}
func (noMeter) Gap()                           {}
func (noMeter) Refused(string)                 {}

// sentMeter counts the events of the streams.
type sentMeter struct {
	noMeter
	sent map[string]int
}

func (m sentMeter) Sent(name string) { m.sent[name]++ }

// What was said is published once, whether the session or its history is seen first; of a
// session that never shows it is forgotten.
func TestHistoryBeforeOrAfter(t *testing.T) {
	m := sentMeter{sent: map[string]int{}}
	st := store.Open(t.TempDir())
	b := New(Options{Store: st, Meter: m, Log: func(err error) { t.Error(err) }}).board
	if err := b.start(); err != nil {
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
		want int
	}{
		{func() { b.take(seen("late")) }, 0},
		{func() { said("late"); b.take(recheck) }, 1},
		{func() { said("early"); b.take(recheck) }, 1},
		{func() { b.take(seen("early")) }, 2},
		{func() { b.take(seen("early")); b.take(seen("late")); b.take(recheck) }, 2},
		{func() { said("never"); b.take(recheck); b.take(recheck); b.take(seen("never")) }, 2},
	} {
		step.do()
		if n := m.sent["turn_created"]; n != step.want {
			t.Errorf("step %d: %d turns were published, want %d", i, n, step.want)
		}
	}
}

// What is kept of removed sessions is bounded, and forgetting it publishes nothing again.
func TestRemovedSessions(t *testing.T) {
	f := New(Options{Store: store.Open(t.TempDir()), Meter: noMeter{}, Log: func(err error) { t.Error(err) }})
	b := f.board
	if err := b.start(); err != nil {
		t.Fatal(err)
	}
	began := b.begun
	session := func(i int) live.Update {
		s := state.Session{ID: fmt.Sprint("session ", i)}
		return live.Update{Now: began + event.Millis(i), Changed: []state.Seen{{Session: s}}}
	}
	for i := range 3 * maxGone {
		u := session(i)
		b.take(u)
		b.take(live.Update{Now: u.Now, Gone: []store.Key{store.KeyOf(u.Changed[0].Session.Record())}})
	}
	b.take(session(3 * maxGone))
	if b.gone > maxGone || len(b.alerts.stood) > maxGone+1 || len(b.cards) != 1 {
		t.Errorf("%d removed sessions are kept, %d states, %d cards", b.gone, len(b.alerts.stood), len(b.cards))
	}
	b.now = began + 10*lately
	b.forget()
	if len(b.alerts.stood) != 1 || b.begun != b.now-lately || b.alerts.began != b.begun {
		t.Errorf("%d states, since %d", len(b.alerts.stood), b.begun-began)
	}
}
