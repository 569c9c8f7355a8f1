package feed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/web/meter"
	"beckon/render/web/respond"
	"beckon/state"
	"beckon/state/history"
	"beckon/state/live"
	"beckon/state/store"
)

// board holds the row of every live session and reports changes to the hub. It belongs to one
// goroutine, the follower's.
type board struct {
	o      *Options
	hub    *hub
	meter  *meter.Meter
	follow *live.Follower
	sweep  sweeper
	edges  edges

	handing atomic.Bool // Options.Seen is running

	now   event.Millis // of the present update
	begun event.Millis // older lines were published before

	cards map[store.Key]*card
	seats map[string]map[*card]bool    // the cards of each row
	due   map[string]bool              // rows to check again
	turns map[string][]render.TurnLine // of this look, by row
	gone  map[store.Key]store.Place    // how far the journals of removed sessions were read
}

// card is one live session.
type card struct {
	key   store.Key
	group string
	seen  state.Seen
	place store.Place // how far its journal was read
}

func newBoard(o *Options, h *hub) *board {
	b := &board{
		o: o, hub: h, meter: o.Meter, edges: edges{stood: map[string]state.Stand{}, found: map[string][]reached{}},
		cards: map[store.Key]*card{}, seats: map[string]map[*card]bool{}, due: map[string]bool{}, turns: map[string][]render.TurnLine{}, gone: map[store.Key]store.Place{},
	}
	b.follow = live.NewFollower(live.NewReader(o.Store, o.Registry), live.Options{Recheck: o.Timing.Recheck, Poll: b.poll, Blind: o.Unwatched})
	b.sweep.transcripts = history.NewSweeper(o.Store)
	return b
}

// groupOf identifies the row that a session is part of: its seat, or itself if it has none.
func groupOf(s *state.Session) string { return cmp.Or(s.Seat, "session "+s.Record()) }

// start reads all sessions, before any request is served. What their journals contain already
// is not published.
func (b *board) start() error {
	if err := os.MkdirAll(b.o.Store.SessionsDir(), 0o700); err != nil { // there must be something to watch
		return err
	}
	u, err := b.follow.Look()
	if err != nil {
		return err
	}
	b.begun = u.Now
	b.take(u)
	b.edges.began = b.begun
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
	if b.hub.count() == 0 {
		return max(b.o.Timing.Poll, pollIdle)
	}
	return b.o.Timing.Poll
}

// take passes changes to the hub.
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
	for i := range u.Changed {
		b.put(&u.Changed[i])
	}
	b.publish()
}

// put adds a session to the board, or updates it.
func (b *board) put(v *state.Seen) {
	s := &v.Session
	k := store.KeyOf(s.Record())
	c := b.cards[k]
	if c == nil {
		c = &card{key: k, place: b.gone[k]}
		delete(b.gone, k)
		if b.edges.began == 0 { // what its journal contains by now is not published
			c.place = store.Place{Seq: s.Seq, Offset: s.Offset}
		}
		b.cards[k] = c
	}
	c.seen = *v
	b.seat(c)
	if s.Seq != c.place.Seq {
		if turns := b.read(c); len(turns) > 0 {
			b.turns[c.group] = append(b.turns[c.group], render.TurnLines(s, turns)...)
		}
	}
	b.meter.Heard(s.Last.At, s.Last.Reason)
	b.edges.note(c.group, v, b.now)
	b.due[c.group] = true
}

// seat assigns a card to its row, which is known only after the first event.
func (b *board) seat(c *card) {
	g := groupOf(&c.seen.Session)
	if g == c.group {
		return
	}
	b.unseat(c)
	c.group = g
	if b.seats[g] == nil {
		b.seats[g] = map[*card]bool{}
	}
	b.seats[g][c] = true
}

func (b *board) unseat(c *card) {
	if c.group == "" {
		return
	}
	delete(b.seats[c.group], c)
	if len(b.seats[c.group]) == 0 {
		delete(b.seats, c.group)
	}
	b.due[c.group] = true
}

// remove removes a session from the board: it is archived, or its file is gone.
func (b *board) remove(c *card) {
	b.unseat(c)
	b.gone[c.key] = c.place
	delete(b.cards, c.key)
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

// members returns the sessions of one row.
func (b *board) members(group string) []state.Seen {
	var seen []state.Seen
	for c := range b.seats[group] {
		seen = append(seen, c.seen)
	}
	return seen
}

// publish reports changes of the rows that are due to the hub.
func (b *board) publish() {
	if len(b.due) == 0 && len(b.turns) == 0 {
		b.hub.update(b.at(), func(*publisher) {})
		return
	}
	b.hub.update(b.at(), func(p *publisher) {
		for g := range b.due {
			b.show(p, g)
		}
		for g := range b.turns { // of rows that are not shown
			b.emitTurns(p, g, nil)
		}
	})
	clear(b.due)
	clear(b.turns)
	clear(b.edges.found)
}

func (b *board) at() time.Time { return b.now.Time() }

// show publishes what happened to one row: its creation, what was said, its change, its edges,
// its end.
func (b *board) show(p *publisher, group string) {
	seen := b.members(group)
	was := p.shown(group)
	rows := render.Rows(seen, false)
	if len(rows) == 0 {
		b.emitTurns(p, group, was)
		if was != nil {
			b.end(p, group, was, seen)
		}
		return
	}
	now := newShown(rows[0])
	b.emitRow(p, group, was, now)
	b.emitEdges(p, group, now)
}

// emitRow publishes the events of an existing row. A new row is published before what was said
// in it, a changed one after.
func (b *board) emitRow(p *publisher, group string, was, now *shown) {
	if was == nil {
		p.set(group, now)
		p.emit("session_created", now, nil, "")
		b.emitTurns(p, group, now)
		return
	}
	b.emitTurns(p, group, now)
	if !bytes.Equal(was.json, now.json) {
		p.set(group, now)
		p.emit("session_updated", now, was, "")
	}
}

// end publishes the end of a row, with its last state.
func (b *board) end(p *publisher, group string, was *shown, seen []state.Seen) {
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
