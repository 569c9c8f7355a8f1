package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
)

// A status line's report that came before the session's first event is found when the session
// appears, although the meter directory has not changed since.
func TestMeterBeforeSession(t *testing.T) {
	st := Open(t.TempDir())
	x := st.Index()
	fold := func(id string) {
		t.Helper()
		e := event.Event{Agent: "claude-code", Kind: event.SessionStart, Name: "SessionStart", SessionID: id, At: 1000, Cwd: "/"}
		if _, err := st.Fold(KeyOf(id), Update{Change: state.Change{At: e.At, Event: &e}}); err != nil {
			t.Fatal(err)
		}
	}
	scan := func() []Key {
		t.Helper()
		if _, _, _, err := x.Scan(); err != nil {
			t.Fatal(err)
		}
		return x.Meters()
	}
	fold("other")
	if err := st.SetMeter("s", event.Meter{At: 1, Model: "m"}); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Second) // old enough for the index to trust
	if err := os.Chtimes(st.path(meterDir, ""), long, long); err != nil {
		t.Fatal(err)
	}
	if got := scan(); len(got) > 0 {
		t.Fatalf("of a session that is not there: %v", got)
	}
	fold("s")
	if got := scan(); len(got) != 1 || x.Meter(KeyOf("s")) == nil {
		t.Errorf("changed %v, the meter is %v", got, x.Meter(KeyOf("s")))
	}
}

// What fsck mends is read again, although the journal's content is as it was.
func TestIndexSeesMending(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, tool("s", "a", t0))
	path := st.session(KeyOf("s"))
	write(t, path, bytes.Replace(read(t, path), []byte("Bash"), []byte("Wrong"), 1))
	x := st.Index()
	if _, _, _, err := x.Scan(); err != nil {
		t.Fatal(err)
	}
	found, err := st.Check(true, nil)
	if err != nil || len(found) != 1 || !found[0].Mended {
		t.Fatalf("fsck found %+v, %v", found, err)
	}
	if changed, _, _, err := x.Scan(); err != nil || len(changed) != 1 {
		t.Errorf("changed: %v, %v", changed, err)
	}
}

// A session that Refresh found archived stays gone, although the directory, whose clock may be
// coarse, looks unchanged.
func TestIndexForgetsArchived(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, tool("s", "a", t0))
	x := st.Index()
	if _, _, _, err := x.Scan(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(st.path(archiveDir, ""), dirMode); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(st.session("s"), st.archived("s")); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Refresh("s"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("an archived session: %v", err)
	}
	for x.sessionsDir.dir, _ = plainfile.StampOf(st.SessionsDir()); x.sessionsDir.dir.Young(); { // as with a coarse clock
		time.Sleep(10 * time.Millisecond)
	}
	if changed, _, _, err := x.Scan(); err != nil || len(changed) > 0 {
		t.Errorf("changed: %v, %v", changed, err)
	}
}

// A session whose journal is lost is read once, not at every look.
func TestIndexOfLostJournal(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, tool("s", "a", t0))
	if err := os.Remove(st.journal("s")); err != nil {
		t.Fatal(err)
	}
	x := st.Index()
	if changed, _, _, err := x.Scan(); err != nil || len(changed) != 1 {
		t.Fatalf("first: %v, %v", changed, err)
	}
	if changed, _, _, err := x.Scan(); err != nil || len(changed) > 0 {
		t.Errorf("then: %v, %v", changed, err)
	}
	fold(t, st, tool("s", "b", t0+1000))
	if changed, _, _, err := x.Scan(); err != nil || len(changed) != 1 {
		t.Errorf("after an event: %v, %v", changed, err)
	}
}
