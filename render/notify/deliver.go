package notify

import (
	"context"
	"errors"
	"strings"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/live"
	"beckon/state/offer"
	"beckon/state/offer/hold"
	"beckon/state/store"
)

// Deliverer decides on edges and notifies of them.
type Deliverer struct {
	Store    *store.Store
	Reader   *live.Reader
	Settings alert.Settings
	Channels []Channel
	By       string // the program that notifies, for the log: deliver, watch, serve
	Getenv   func(string) string
}

// Order is an edge that a hook passes on.
type Order struct {
	Session string // id
	Edge    string // ID of the edge
	Still   bool   // the client has just reported that nobody has typed for six seconds
	Claimed bool   // the hook has decided and claimed the edge; it only has to be sent
}

// again is how long to wait when the limit delays an edge.
const again = time.Second

// Deliver waits until the edge has stood long enough, looks again with all evidence, and
// notifies of it if no rule forbids it. If only the limit delays it, it notifies afterwards,
// if the edge still stands.
func (d *Deliverer) Deliver(ctx context.Context, o Order) error {
	for limited := false; ; limited = true {
		seen, stand, now, err := d.settled(ctx, o)
		if err != nil {
			return err
		}
		c := alert.Case{Edge: stand.Edge, Session: &seen.Session, Still: o.Still}
		if !stand.Open || stand.Edge.ID() != o.Edge {
			c.Edge, _ = state.ParseEdge(o.Edge) // nothing else is known about it
			return d.log(c, state.Decision{Verdict: state.Never, Reason: state.ReasonPassed}, "", now)
		}
		v := state.Decision{Verdict: state.Notify, Reason: state.ReasonNotify}
		if !o.Claimed {
			v = d.Settings.Decide(d.Store, c, d.Getenv, now)
		}
		if v.Reason != state.ReasonLimit {
			return d.send(ctx, c, v, now)
		}
		if !limited {
			_ = d.log(c, v, "", now)
		}
		if err := sleep(ctx, again); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closing is how long to wait if the client is still busy after the end of a turn: other hooks
// of its Stop may run a test.
const closing = 2 * time.Minute

// settled looks at the session after the edge has stood long enough.
func (d *Deliverer) settled(ctx context.Context, o Order) (seen state.Seen, stand state.Stand, now time.Time, err error) {
	edge, _ := state.ParseEdge(o.Edge)
	began := time.Now()
	wait := stands(edge)
	if o.Still {
		wait = 0
	}
	for {
		if err := sleep(ctx, wait); err != nil {
			return seen, stand, now, err
		}
		s, err := d.Store.Load(store.KeyOf(o.Session))
		if err != nil {
			return seen, stand, now, err
		}
		now = time.Now()
		seen = d.Reader.One(s, event.MillisOf(now))
		stand = state.Standing(seen.Session, seen.Evidence, event.MillisOf(now))
		if !stand.Closes(edge) || now.Sub(began) > closing {
			return seen, stand, now, nil
		}
		wait = time.Second
	}
}

// send sends the notification, and logs the decision.
func (d *Deliverer) send(ctx context.Context, c alert.Case, v state.Decision, now time.Time) error {
	if v.Verdict != state.Notify {
		return d.log(c, v, "", now)
	}
	n, channels, asked := noteOf(c.Session, c.Edge), d.Channels, ""
	if o, ok := d.offer(c, now); ok {
		n.Offer = o.ID
		channels, asked = d.asked(o.ID)
	}
	said := send(ctx, channels, n)
	if asked != "" && said != "" {
		asked += ", "
	}
	return d.log(c, v, asked+said, time.Now())
}

// offer returns the open offer that an edge is about.
func (d *Deliverer) offer(c alert.Case, now time.Time) (found offer.Offer, ok bool) {
	if !c.Edge.Dialog {
		return found, false
	}
	list, _ := offer.In(d.Store.Dir).List(now) // unreadable: none that could be answered
	call := &c.Edge.Call
	for _, o := range list {
		same := o.Hash == call.Hash && o.Tool == call.Name
		if o.UseID != "" && call.UseID != "" {
			same = o.UseID == call.UseID
		}
		if o.Record == c.Session.Record() && o.Kind != offer.Reply && same {
			found, ok = o, true // the newest
		}
	}
	return found, ok
}

// heeded is how long the process that holds a call may take to see an answer: without file
// events it checks once a second.
const heeded = 3 * time.Second

// asked makes the process that holds a call ask the user through the channels with buttons,
// and returns the other channels.
func (d *Deliverer) asked(id string) (others []Channel, line string) {
	var names []string
	for _, c := range d.Channels {
		if a, ok := c.(Asker); ok && a.Asks() {
			names = append(names, c.Name())
		} else {
			others = append(others, c)
		}
	}
	if len(names) == 0 || hold.Notify(d.Store.Dir, id, names) != nil || !hold.Heard(d.Store.Dir, id, heeded) {
		return d.Channels, ""
	}
	return others, strings.Join(names, ", ")
}

func (d *Deliverer) log(c alert.Case, v state.Decision, channels string, now time.Time) error {
	if err := d.Store.Decide(c.Decided(v, d.By, channels, now)); err != nil {
		return errors.Join(errors.New("logging a decision"), err)
	}
	return nil
}

func stands(e state.Edge) time.Duration { return time.Duration(e.Kind.Hold()) * time.Millisecond }
