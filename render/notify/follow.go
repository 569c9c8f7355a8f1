package notify

import (
	"context"
	"sync"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/live"
)

// Follower notifies of the alerts that watch and serve see. Conditions at its start are not
// alerts. It is not safe for concurrent use.
type Follower struct {
	d       *Deliverer
	began   event.Millis                // of the first look
	stood   map[string]state.AlertState // by record; nil before the first look
	pending map[string]waiting
	sending sync.WaitGroup
}

// NewFollower returns a follower that notifies through d.
func NewFollower(d *Deliverer) *Follower {
	return &Follower{d: d, pending: map[string]waiting{}}
}

// Look notifies of the alerts in seen that are due. It does not wait until they are sent.
func (f *Follower) Look(ctx context.Context, seen []state.Seen, now time.Time) {
	stood := make(map[string]state.AlertState, len(seen))
	for i := range seen {
		v := &seen[i]
		is := state.AlertStateOf(v.Session, v.Evidence, event.MillisOf(now))
		stood[v.Session.Record()] = is
		f.note(v.Session.Record(), is, now)
		if w, ok := f.pending[v.Session.Record()]; ok && now.Sub(w.since) >= settles(w.alert) {
			f.consider(ctx, v.Session, w, now)
		}
	}
	if f.stood == nil {
		f.began = event.MillisOf(now)
	}
	f.stood = stood
	for id := range f.pending {
		if _, there := stood[id]; !there {
			delete(f.pending, id)
		}
	}
}

// Wait waits until everything is sent.
func (f *Follower) Wait() { f.sending.Wait() }

// note records an alert, and forgets one that has passed.
func (f *Follower) note(id string, is state.AlertState, now time.Time) {
	was, known := f.stood[id]
	if f.stood != nil {
		if e, ok := state.AlertSeen(was, known, is, f.began); ok {
			f.pending[id] = waiting{alert: e, since: now}
		}
	}
	if w, ok := f.pending[id]; ok &&
		(!is.Open || is.Alert.ID() != w.alert.ID() || now.Sub(w.since) > patience+f.d.Settings.Limit) {
		delete(f.pending, id)
	}
}

// consider decides on an alert that has stood long enough.
func (f *Follower) consider(ctx context.Context, s state.Session, w waiting, now time.Time) {
	c := alert.Case{Alert: w.alert, Session: &s}
	v := f.d.Settings.Decide(f.d.Store, c, live.Focus, now)
	if v.Verdict == state.Later {
		if v.Reason != w.reason {
			w.reason = v.Reason
			f.pending[s.Record()] = w
			_ = f.d.log(c, v, "", now)
		}
		return
	}
	delete(f.pending, s.Record())
	if v.Reason == state.ReasonNotified {
		return // the process that notified has logged it
	}
	f.sending.Go(func() { _ = f.d.send(ctx, f.d.Channels, c, v, now) })
}
