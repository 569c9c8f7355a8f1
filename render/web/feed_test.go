package web

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/live"
	"beckon/state/request"
	"beckon/state/store"
)

// What was said is published once, whether the session or its history is seen first; of a
// session that never shows it is forgotten.
func TestHistoryBeforeOrAfter(t *testing.T) {
	st := store.Open(t.TempDir())
	b := newFeed(&Options{Store: st, Log: logOnce(func(err error) { t.Error(err) })})
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
	var all []state.Seen
	see := func(id string) {
		v := state.Seen{Session: state.Session{ID: id, Seq: 2}}
		if !slices.ContainsFunc(all, func(old state.Seen) bool { return old.Session.ID == id }) {
			all = append(all, v)
		}
		b.take(live.Update{Now: event.MillisOf(b.at) + 1, Changed: []state.Seen{v}}, all)
	}
	recheck := func() { b.take(live.Update{Now: event.MillisOf(b.at) + 1, Rechecked: true}, all) }
	for i, step := range []struct {
		do   func()
		want uint64
	}{
		{func() { see("late") }, 0},
		{func() { said("late"); recheck() }, 1},
		{func() { said("early"); recheck() }, 1},
		{func() { see("early") }, 2},
		{func() { see("early"); see("late"); recheck() }, 2},
		{func() { said("never"); recheck(); recheck(); see("never") }, 2},
	} {
		step.do()
		if n := b.meter.GetOrCreateCounter(`beckon_sse_events_total{event="turn_created"}`).Get(); n != step.want {
			t.Errorf("step %d: %d turns were published, want %d", i, n, step.want)
		}
	}
}

// Nothing is kept of removed sessions, and one that comes back publishes nothing again that is old.
func TestRemovedSessions(t *testing.T) {
	f := newFeed(&Options{Store: store.Open(t.TempDir()), Log: logOnce(func(err error) { t.Error(err) })})
	if err := f.start(); err != nil {
		t.Fatal(err)
	}
	began := event.MillisOf(f.at)
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
		now := began + 2 + event.Millis(i)*600_000
		seen := []state.Seen{{Session: done, Status: state.Resolve(done, state.Evidence{}, now)}}
		f.take(live.Update{Now: now, Changed: seen}, seen)
		f.take(live.Update{Now: now, Gone: []store.Key{store.KeyOf(done.Record())}}, nil)
		f.take(live.Update{Now: now, Rechecked: true}, nil)
		f.take(live.Update{Now: now, Rechecked: true}, nil)
		if len(f.untold)+len(f.rows) > 0 {
			t.Errorf("%d turns, %d rows are kept", len(f.untold), len(f.rows))
		}
	}
	if n := f.meter.GetOrCreateCounter(`beckon_sse_events_total{event="notification"}`).Get(); n != 1 {
		t.Errorf("%d notifications", n)
	}
}

// A stream that reads nothing delays nobody. It is closed, and its client starts with a snapshot again.
func TestStalledStream(t *testing.T) {
	f := newFeed(&Options{Store: store.Open(t.TempDir())})
	c := f.join()
	for range maxBehind + 1 {
		f.mu.Lock()
		f.report("away", awayNews{})
		f.mu.Unlock()
	}
	for range maxBehind {
		if data, ok := <-c; !ok || len(data) == 0 {
			t.Fatal("it ends early")
		}
	}
	if _, ok := <-c; ok || f.clients() != 0 {
		t.Error("a client that fell behind is not disconnected")
	}
}

// The limit of streams is reported, and a place that becomes free can be taken.
func TestTooManyStreams(t *testing.T) {
	x := serve(t, Options{})
	first := x.s.feed.join()
	for range maxStreams - 1 {
		if x.s.feed.join() == nil {
			t.Fatal("refused early")
		}
	}
	if r := x.Get("/events"); r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v", r.Status, r.Header)
	}
	x.s.feed.leave(first)
	x.stream("/events").await("snapshot", nil)
}

// A server creates nothing from which hooks would conclude that calls are held.
func TestNoOfferNoDirectory(t *testing.T) {
	o := Options{Store: store.Open(t.TempDir()), Timing: Timing{}.orDefault()}
	o.Log = logOnce(func(err error) { t.Error(err) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	newFeed(&o).followRequests(ctx)
	if _, err := os.Stat(request.In(o.Store.Dir).OpenDir()); err == nil {
		t.Error("there is a directory of offers, and was no offer")
	}
}
