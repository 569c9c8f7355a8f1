package feed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/web/respond"
	"beckon/state"
	"beckon/state/history"
	"beckon/state/live"
	"beckon/state/store"
)

// board holds the row of every live session and publishes what changes. It belongs to one
// goroutine, the follower's.
type board struct {
	o      *Options
	feed   *Feed
	follow *live.Follower
	sweep  sweeper
	alerts alerts

	handing atomic.Bool // Options.Seen is running

	now   event.Millis // of the present update
	begun event.Millis // older alerts were published before, or will not be

	tail  *store.Tail
	heard map[store.Key]*heard

	cards map[store.Key]*card
	due   map[string]*happened // rows to check again
	gone  int                  // removed since the last forget
}

// happened is what this look has found out about a row.
type happened struct {
	turns  []render.TurnLine
	alerts []reached
}

// card is one live session.
type card struct {
	key   store.Key
	group string
	seen  state.Seen
}

func newBoard(f *Feed) *board {
	o := &f.o
	b := &board{
		o: o, feed: f, alerts: alerts{stood: map[string]state.AlertState{}},
		cards: map[store.Key]*card{}, due: map[string]*happened{}, heard: map[store.Key]*heard{},
	}
	follow := live.Options{Recheck: o.Timing.Recheck, Poll: b.poll, Blind: o.Unwatched}
	b.follow = live.NewFollower(live.NewReader(o.Store, o.Registry), follow)
	b.sweep.transcripts = history.NewSweeper(o.Store)
	return b
}

// groupOf identifies the row that a session is part of: its seat, or itself if it has none.
func groupOf(s *state.Session) string { return cmp.Or(s.Seat, "session "+s.Record()) }

// start reads all sessions, before any request is served. What their history contains already
// is not published.
func (b *board) start() error {
	if err := os.MkdirAll(b.o.Store.SessionsDir(), 0o700); err != nil { // there must be something to watch
		return err
	}
	b.tail = b.o.Store.Tail()
	u, err := b.follow.Look()
	if err != nil {
		return err
	}
	b.begun = u.Now
	b.take(u)
	b.alerts.began = b.begun
	return nil
}

// run keeps the board current until ctx ends.
func (b *board) run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	b.follow.Run(ctx, func(u live.Update, err error) {
		if err != nil {
			b.o.Log(err)
		}
		b.take(u)
		if u.Rechecked {
			b.sweepIfDue(ctx, &work)
			b.hand(ctx, &work)
		}
	})
}

// pollIdle is the least time between two looks if nobody listens and the system does not
// report changes.
const pollIdle = 250 * time.Millisecond

func (b *board) poll() time.Duration {
	if b.feed.Clients() == 0 {
		return max(b.o.Timing.Poll, pollIdle)
	}
	return b.o.Timing.Poll
}

// take passes changes on.
func (b *board) take(u live.Update) {
	b.now = u.Now
	for _, p := range u.Problems {
		b.o.Log(p.Err)
	}
	for _, k := range u.Gone {
		if c := b.cards[k]; c != nil {
			b.remove(c)
		}
	}
	b.readAll(u.Changed)
	for i := range u.Changed {
		b.put(&u.Changed[i])
	}
	b.addTurns(u.Rechecked)
	b.publish()
}

// put adds a session to the board, or updates it.
func (b *board) put(v *state.Seen) {
	s := &v.Session
	k := store.KeyOf(s.Record())
	c := b.cards[k]
	if c == nil {
		c = &card{key: k, group: groupOf(s)}
		b.cards[k] = c
	}
	c.seen = *v
	if g := groupOf(s); g != c.group { // it is known only after the first event
		b.touch(c.group)
		c.group = g
	}
	row := b.touch(c.group)
	if raised, ok := b.alerts.note(v, b.now); ok {
		row.alerts = append(row.alerts, reached{s.Record(), raised})
	}
	b.o.Meter.Heard(s.Last.At, s.Last.Reason)
}

// touch has a row checked again.
func (b *board) touch(group string) *happened {
	if b.due[group] == nil {
		b.due[group] = &happened{}
	}
	return b.due[group]
}

// maxGone is how many removed sessions are remembered, and lately how long before all are
// forgotten something counts as not published yet.
const (
	maxGone = 1000
	lately  = event.Millis(60_000)
)

// remove removes a session from the board: it is archived, or its file is gone.
func (b *board) remove(c *card) {
	b.touch(c.group)
	delete(b.cards, c.key)
	if b.gone++; b.gone > maxGone {
		b.forget()
	}
}

// forget drops what is known of the removed sessions. What happened long ago in one that comes
// back counts as published.
func (b *board) forget() {
	b.gone = 0
	live := map[string]bool{}
	for _, c := range b.cards {
		live[c.seen.Session.Record()] = true
	}
	maps.DeleteFunc(b.alerts.stood, func(record string, _ state.AlertState) bool { return !live[record] })
	b.begun = max(b.begun, b.now-lately)
	b.alerts.began = b.begun
}

// hand passes the live sessions to Options.Seen, in a goroutine, so that this delays no
// stream.
func (b *board) hand(ctx context.Context, work *sync.WaitGroup) {
	if b.o.Seen == nil || !b.handing.CompareAndSwap(false, true) {
		return
	}
	seen, now := b.follow.Seen(), b.at()
	work.Go(func() {
		defer b.handing.Store(false)
		b.o.Seen(ctx, seen, now)
	})
}

// publish reports changes of the rows that are due.
func (b *board) publish() {
	members := map[string][]state.Seen{}
	for _, c := range b.cards {
		if b.due[c.group] != nil {
			members[c.group] = append(members[c.group], c.seen)
		}
	}
	b.feed.update(b.at(), func(p *publisher) {
		for group, h := range b.due {
			p.refresh(group, members[group], h)
		}
	})
	clear(b.due)
}

func (b *board) at() time.Time { return b.now.Time() }

// refresh publishes what happened to the row of some sessions: its creation, what was said, its
// change, its alerts, its end. A new row is published before what was said in it, a changed one
// after.
func (p *publisher) refresh(group string, seen []state.Seen, h *happened) {
	was := p.shown(group)
	rows := render.Rows(seen, false)
	if len(rows) == 0 {
		p.turns(h.turns, was)
		if was != nil {
			p.end(group, was, seen)
		}
		return
	}
	now := newShown(rows[0])
	if was == nil {
		p.set(group, now)
		p.emit("session_created", now, nil, "")
	}
	p.turns(h.turns, now)
	if was != nil && !bytes.Equal(was.json, now.json) {
		p.set(group, now)
		p.emit("session_updated", now, was, "")
	}
	p.notices(h.alerts, now)
}

// end publishes the end of a row, with its last state.
func (p *publisher) end(group string, was *shown, seen []state.Seen) {
	p.drop(group)
	last := was
	reason := "removed"
	if rows := render.Rows(seen, true); len(rows) > 0 {
		last = newShown(rows[0])
		if !rows[0].State.Live() {
			reason = string(rows[0].State)
		}
	}
	p.emit("session_ended", last, was, reason)
}

// news is the data of session_created, session_updated and session_ended.
type news struct {
	AgentID   string          `json:"agent_id"` // the seat
	ProjectID string          `json:"project_id,omitempty"`
	Timestamp string          `json:"timestamp"`
	Reason    string          `json:"reason,omitempty"` // of an end: ended, lost, removed
	Session   json.RawMessage `json:"session"`
}

func (p *publisher) emit(name string, s, was *shown, reason string) {
	m := message{name: name, session: s.row.SessionID, seat: s.row.SeatID, now: s.row.State}
	if was != nil {
		m.before, m.previous = was.row.State, was.row.SessionID
	}
	p.report(m, news{s.row.SeatID, s.row.ProjectID, respond.Time(p.at), reason, s.json})
}
