package store

import (
	"os"
	"testing"
	"time"

	"beckon/event"
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
