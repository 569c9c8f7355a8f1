package notify

import (
	"context"
	"sync"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/alert"
)

// Follower notifies of the edges that watch and serve see. Conditions at its start are not
// edges. It is not safe for concurrent use.
type Follower struct {
	d       *Deliverer
	began   event.Millis           // of the first look
	stood   map[string]state.Stand // by record; nil before the first look
	pending map[string]waiting
	sending sync.WaitGroup
}

// NewFollower returns a follower that notifies through d.
func NewFollower(d *Deliverer) *Follower {
	return &Follower{d: d, pending: map[string]waiting{}}
}

// Look notifies of the edges in seen that are due. It does not wait until they are sent.
func (f *Follower) Look(ctx context.Context, seen []state.Seen, now time.Time) {
	stood := make(map[string]state.Stand, len(seen))
	for i := range seen {
		v := &seen[i]
		is := state.Standing(v.Session, v.Evidence, event.MillisOf(now))
		stood[v.Session.Record()] = is
		f.note(v.Session.Record(), is, now)
		if w, ok := f.pending[v.Session.Record()]; ok && now.Sub(w.since) >= stands(w.edge) {
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

// note records an edge, and forgets one that has passed.
func (f *Follower) note(id string, is state.Stand, now time.Time) {
	was, known := f.stood[id]
	if f.stood != nil {
		if e, ok := state.EdgeSeen(was, known, is, f.began); ok {
			f.pending[id] = waiting{edge: e, since: now}
		}
	}
	if w, ok := f.pending[id]; ok &&
		(!is.Open || is.Edge.ID() != w.edge.ID() || now.Sub(w.since) > patience+f.d.Settings.Limit) {
		delete(f.pending, id)
	}
}

// consider decides on an edge that has stood long enough.
func (f *Follower) consider(ctx context.Context, s state.Session, w waiting, now time.Time) {
	c := alert.Case{Edge: w.edge, Session: &s}
	v := f.d.Settings.Decide(f.d.Store, c, f.d.Getenv, now)
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
