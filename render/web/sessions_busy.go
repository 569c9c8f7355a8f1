package web

import (
	"errors"
	"sync"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state/stats"
	"beckon/state/store"
)

// busyFor is how long the busy time of a working session is used before its journal is read
// again.
const busyFor = 10 * time.Second

// busy caches how long sessions were at work today. Only the API returns this: events do not
// contain it, since it changes every second.
type busy struct {
	st   *store.Store
	mu   sync.Mutex
	rows map[string]busyToday
}

type busyToday struct {
	updated time.Time // of the row
	read    time.Time
	day     string
	seconds int64
}

// fill sets the rows' busy seconds. A row whose journal cannot be read has none.
func (b *busy) fill(rows []render.Row, now time.Time) (failed error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := make(map[string]busyToday, len(rows))
	for i := range rows {
		r := &rows[i]
		t, ok := b.rows[r.Record()]
		if !ok || !t.holds(r, now) {
			var err error
			if t, err = b.read(r, now); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		kept[r.Record()] = t
		r.Busy = &t.seconds
	}
	b.rows = kept
	return failed
}

// holds reports whether t is still up to date.
func (t busyToday) holds(r *render.Row, now time.Time) bool {
	works := r.State.AtWork()
	return t.day == now.Local().Format(time.DateOnly) &&
		(now.Sub(t.read).Abs() < busyFor || !works && t.updated.Equal(r.UpdatedAt))
}

func (b *busy) read(r *render.Row, now time.Time) (busyToday, error) {
	day := now.Local().Format(time.DateOnly)
	totals := stats.New(time.Local).From(day)
	s := totals.Session()
	err := b.st.Lines(store.KeyOf(r.Record()), 0, func(l store.Line) { s.Line(l.Change, l.Snapshot) })
	s.End(event.MillisOf(now))
	return busyToday{r.UpdatedAt, now, day, int64(totals.Busy(r.Record()) / time.Second)}, err
}
