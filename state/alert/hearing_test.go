package alert

import (
	"testing"
	"time"

	"beckon/state"
	"beckon/state/store"
)

// Another alert of its kind and session counts for the limit; one of another kind does not.
func TestHearing(t *testing.T) {
	st, now := store.Open(t.TempDir()), time.Now()
	s := state.Session{ID: "k"}
	e := state.Alert{Kind: state.AlertPermission, At: 17}
	if _, err := st.Claim("k", e.ID()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		alert          state.Alert
		notified, last bool
	}{
		{e, true, true},
		{state.Alert{Kind: e.Kind, At: 18}, false, true},
		{state.Alert{Kind: state.AlertDone, At: 17}, false, false},
	} {
		h := Settings{}.hearing(st, Case{Alert: c.alert, Session: &s}, now)
		if h.Notified != c.notified || (h.NotifiedAt != 0) != c.last {
			t.Errorf("%s: %+v", c.alert.ID(), h)
		}
	}
}
