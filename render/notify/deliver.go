package notify

import (
	"context"
	"errors"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/evidence"
	"beckon/state/store"
)

// Deliverer decides on edges and tells of them.
type Deliverer struct {
	Store    *store.Store
	Reader   *evidence.Reader
	Settings alert.Settings
	Channels []Channel
	By       string // who tells, for the log: deliver, watch, serve
	Getenv   func(string) string
}

// Order is an edge that a hook hands over.
type Order struct {
	Session string // id
	Edge    string // ID of the edge
	Still   bool   // the client has just said that nobody has typed for six seconds
	Claimed bool   // the hook has decided and taken the edge; only the sending is left
}

// Deliver waits until the edge has stood long enough, looks again with all
// evidence, and tells of it if nothing speaks against it.
func (d *Deliverer) Deliver(ctx context.Context, o Order) error {
	seen, stand, now, err := d.settled(ctx, o)
	if err != nil {
		return err
	}
	c := alert.Case{Edge: stand.Edge, Session: &seen.Session, Still: o.Still}
	if !stand.Open || stand.Edge.ID() != o.Edge {
		c.Edge = named(o.Edge)
		return d.log(c, state.Decision{Verdict: state.Never, Reason: state.ReasonPassed}, "", now)
	}
	return d.tell(ctx, c, o.Claimed, now)
}

// closing is for how long a turn that is over is waited for while the client
// is still busy with it: other hooks of its Stop may run a test.
const closing = 2 * time.Minute

// settled looks at the session when the edge has stood long enough.
func (d *Deliverer) settled(ctx context.Context, o Order) (seen state.Seen, stand state.Stand, now time.Time, err error) {
	edge, began := named(o.Edge), time.Now()
	wait := hold(edge)
	if o.Still {
		wait = 0
	}
	for {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return seen, stand, now, ctx.Err()
		}
		s, err := d.Store.Load(store.KeyOf(o.Session))
		if err != nil {
			return seen, stand, now, err
		}
		now = time.Now()
		seen = d.Reader.One(s, millis(now))
		stand = state.Standing(seen.Session, seen.Evidence, millis(now))
		if !stand.Closes(edge) || now.Sub(began) > closing {
			return seen, stand, now, nil
		}
		wait = time.Second
	}
}

// named is the edge of which only the name is known.
func named(id string) state.Edge {
	e, _ := state.ParseEdge(id)
	return e
}

// tell decides, takes the edge and sends.
func (d *Deliverer) tell(ctx context.Context, c alert.Case, claimed bool, now time.Time) error {
	verdict := state.Decision{Verdict: state.Tell, Reason: state.ReasonTell}
	if !claimed {
		verdict = d.Settings.Decide(d.Store, c, d.Getenv, now)
		if verdict.Verdict == state.Tell {
			verdict = alert.Claim(d.Store, c, verdict)
		}
	}
	if verdict.Verdict != state.Tell {
		return d.log(c, verdict, "", now)
	}
	said := send(ctx, d.Channels, NoteOf(c.Session, c.Edge))
	return d.log(c, verdict, said, time.Now())
}

func (d *Deliverer) log(c alert.Case, v state.Decision, channels string, now time.Time) error {
	if err := d.Store.Decide(c.Decided(v, d.By, channels, now)); err != nil {
		return errors.Join(errors.New("logging a decision"), err)
	}
	return nil
}

func hold(e state.Edge) time.Duration { return time.Duration(e.Kind.Hold()) * time.Millisecond }

func millis(t time.Time) event.Millis { return event.Millis(t.UnixMilli()) }
