package store

import (
	"errors"
	"testing"
	"time"

	"beckon/event"
)

// told folds an event whose sender reports its origin.
func told(t *testing.T, st *Store, k event.Kind, at event.Millis, o *event.Origin, wait time.Duration) error {
	t.Helper()
	e := kind(k, "s", at)
	e.Origin = o
	u := folding(e)
	u.Origin = func(o event.Origin) event.Origin {
		if o.Host == "" {
			o.Host = "here"
		}
		return o
	}
	u.Wait = wait
	_, err := st.Fold("s", u)
	return err
}

// An origin that a sender reported stays if a later event does not report it, even if that
// event has to wait in the spool.
func TestToldOriginStands(t *testing.T) {
	st := Open(t.TempDir())
	first := event.Origin{Host: "there", Launcher: "l", Terminal: event.Terminal{Kind: "kitty", ID: "7", SSH: true}, Git: event.Git{Branch: "main", Repo: "shop"}}
	o := first
	if err := told(t, st, event.SessionStart, t0, &o, 0); err != nil {
		t.Fatal(err)
	}
	want := load(t, st, "s").Origin
	if err := told(t, st, event.SessionStart, t0+1, nil, 0); err != nil || load(t, st, "s").Origin != want {
		t.Errorf("after a start that says nothing %+v, %v", load(t, st, "s").Origin, err)
	}
	l, err := st.lock("s", noWait)
	if err != nil {
		t.Fatal(err)
	}
	err = told(t, st, event.SessionStart, t0+2, &event.Origin{Git: event.Git{Branch: "fix"}}, time.Millisecond)
	l.Close()
	want.Git.Branch = "fix"
	if !errors.Is(err, ErrBusy) {
		t.Fatal(err)
	}
	eventually(t, "the spooled event", func() bool { return st.TakeLate() == nil && len(list(t, st, lateDir)) == 0 })
	if got := load(t, st, "s"); got.Origin != want || got.Seat != want.Seat {
		t.Errorf("by way of the spool %+v, want %+v", got.Origin, want)
	}
}

// A session that reports its own id takes the seat of the stand-in for its terminal, and the
// stand-in does not come back.
func TestStandInGoes(t *testing.T) {
	st := Open(t.TempDir())
	nameless := kind(event.UserPromptSubmit, "", t0)
	nameless.Origin = &event.Origin{Host: "here", Terminal: event.Terminal{ID: "t1"}}
	if ok, err := st.Identify(nameless, "here"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	standIn := fold(t, st, nameless)
	named := kind(event.SessionStart, "s", t0+10)
	named.Origin = &event.Origin{Host: "here", Terminal: event.Terminal{ID: "t1"}}
	if s := fold(t, st, named); s.Seat != standIn.Seat {
		t.Errorf("seat %s, want %s", s.Seat, standIn.Seat)
	}
	if s := load(t, st, standIn.ID); s.Removed == 0 {
		t.Errorf("%s is still there", s.ID)
	}
	nameless = kind(event.Stop, "", t0+20)
	nameless.Origin = &event.Origin{Terminal: event.Terminal{ID: "t1"}}
	if ok, err := st.Identify(nameless, "here"); !ok || err != nil || nameless.SessionID != "s" {
		t.Errorf("the next is %q's, %v", nameless.SessionID, err)
	}
}

// A stand-in that another process holds is left alone: the session that takes its seat does not
// wait for the lock.
func TestStandInIsHeld(t *testing.T) {
	st := Open(t.TempDir())
	terminal := &event.Origin{Host: "here", Terminal: event.Terminal{ID: "t1"}}
	nameless := kind(event.UserPromptSubmit, "at:t1", t0)
	nameless.Origin = terminal
	standIn := fold(t, st, nameless)
	l, err := st.lock(KeyOf(standIn.ID), noWait)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	named := kind(event.SessionStart, "s", t0+10)
	named.Origin = &event.Origin{Host: "here", Terminal: event.Terminal{ID: "t1"}}
	began := time.Now()
	if s := fold(t, st, named); s.Seat != standIn.Seat {
		t.Errorf("seat %s, want %s", s.Seat, standIn.Seat)
	}
	if took := time.Since(began); took > LockWait/2 {
		t.Errorf("it took %v", took)
	}
}
