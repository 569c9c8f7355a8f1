package history

import (
	"beckon/event"
	"beckon/state"
	"beckon/state/stats"
	"beckon/state/store"
)

// Count adds to t what history counts from the day of since on, and the time of sessions that
// has not ended by now.
func Count(st *store.Store, t *stats.Totals, since event.Millis, sessions []state.Session, now event.Millis) error {
	err := st.Counts(store.Select{Since: since}, func(k store.Key, at event.Millis, n *stats.Count) {
		t.Add(string(k), at, n)
	})
	for i := range sessions {
		n := stats.Open(&sessions[i], now)
		t.Add(string(store.KeyOf(sessions[i].Record())), now, &n)
	}
	return err
}
