package feed

import (
	"fmt"
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
	if len(b.gone) > maxGone || len(b.edges.stood) > maxGone+1 || len(b.cards) != 1 {
		t.Errorf("%d removed sessions are kept, %d states, %d cards", len(b.gone), len(b.edges.stood), len(b.cards))
	}
	b.now = began + 10*lately
	b.forget()
	if len(b.edges.stood) != 1 || b.begun != b.now-lately || b.edges.began != b.begun {
		t.Errorf("%d states, since %d", len(b.edges.stood), b.begun-began)
	}
}
