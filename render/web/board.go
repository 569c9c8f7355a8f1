package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/history"
	"beckon/state/store"
)

// board holds every live session in memory and tells the hub what changed. It
// belongs to one goroutine; others reach it through its todo list.
type board struct {
	o     *Options
	hub   *hub
	meter *meter
	todo  *todo
	sweep sweeper
	edges edges

	handing atomic.Bool   // Options.Seen is under way
	scanned time.Duration // what the last poll took

	reader *evidence.Reader
	glance evidence.Glance
	now    event.Millis // of the look under way
	begun  event.Millis // lines older than this were told before

	cards  map[store.Key]*card
	bare   []state.Seen                 // known to the client's registry alone
	bareAt event.Millis                 // when they were seen
	seats  map[string]map[*card]bool    // the cards of each row
	due    map[string]bool              // rows to be looked at again
	turns  map[string][]render.TurnLine // of this look, by row
	gone   map[store.Key]store.Place    // where the journals of sessions that left were
}

// card is one live session.
type card struct {
	key   store.Key
	group string
	seen  state.Seen
	at    event.Millis // when it was seen so
	place store.Place  // how far its journal was followed
}

func newBoard(o *Options, h *hub, m *meter) *board {
	b := &board{
		o: o, hub: h, meter: m, todo: newTodo(), edges: newEdges(),
		cards: map[store.Key]*card{}, seats: map[string]map[*card]bool{}, due: map[string]bool{}, turns: map[string][]render.TurnLine{}, gone: map[store.Key]store.Place{},
	}
	if o.Sweep == nil {
		b.sweep.transcripts = history.NewSweeper(o.Store)
		o.Sweep = b.sweepTranscripts
	}
	return b
}

// groupOf names the row that a session is part of: its seat, or itself when it
// has none.
func groupOf(s *state.Session) string {
	if s.Seat == "" {
		return "session " + s.Record()
	}
	return s.Seat
}

// start reads all sessions, before anybody is served. What their journals hold
// already is no news.
func (b *board) start() error {
	if err := os.MkdirAll(b.o.Store.SessionsDir(), 0o700); err != nil { // there must be something to watch
		return err
	}
	b.reader = evidence.NewReader(b.o.Store, b.o.Registry).Keep()
	b.look()
	b.begun = b.now
	_ = b.o.Store.DrainSpool()
	keys, err := b.o.Store.LiveKeys()
	if err != nil {
		return err
	}
	for _, k := range keys {
		if s, ok := b.read(k); ok {
			b.take(k, s, store.Place{Seq: s.Seq, Offset: s.Offset})
		}
	}
	b.recheck()
	b.edges.began = b.begun
	b.publish()
	return nil
}

// look makes the evidence current: the clock, the client's registry, and what
// status lines report.
func (b *board) look() {
	b.tick()
	b.glance = b.reader.Glance()
}

func (b *board) tick() { b.now = b.reader.Now(time.Now()) }

// read loads a session. What cannot be read is logged, and tried again when it
// changes.
func (b *board) read(k store.Key) (state.Session, bool) {
	s, err := b.o.Store.Load(k)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			b.o.Log(err)
		}
		return s, false
	}
	return s, true
}

// take puts a session on the board, or what is new of it.
func (b *board) take(k store.Key, s state.Session, place store.Place) {
	c := b.cards[k]
	if c == nil {
		if left, ok := b.gone[k]; ok {
			place = left
			delete(b.gone, k)
		}
		c = &card{key: k, place: place}
		b.cards[k] = c
	}
	turns := b.follow(c)
	b.meter.last(s.Last.At, s.Last.Reason)
	c.seen, c.at = b.reader.See(s, b.glance, b.now), b.now
	b.seat(c)
	b.said(c.group, &s, turns)
	b.noted(c, s.Seq)
	b.noteEdge(c.group, &c.seen)
	b.due[c.group] = true
}

// noted follows what the reader itself has written since line seq.
func (b *board) noted(c *card, seq int64) {
	if c.seen.Session.Seq != seq {
		b.said(c.group, &c.seen.Session, b.follow(c))
	}
}

// seat puts a card into its row; it is known only after the first event.
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

// remove takes a session off the board: it is archived, or its file is gone.
func (b *board) remove(c *card) {
	b.unseat(c)
	b.gone[c.key] = c.place
	delete(b.cards, c.key)
}

// refresh reads the sessions that may have changed.
func (b *board) refresh(keys []store.Key) {
	b.tick()
	for _, k := range keys {
		c := b.cards[k]
		if c != nil && !b.o.Store.Stale(k, &c.seen.Session) {
			continue
		}
		if s, ok := b.read(k); ok {
			b.take(k, s, store.Place{})
		}
	}
}

// scan compares the board with the live directory: what no watch told is found
// here.
func (b *board) scan() {
	_ = b.o.Store.DrainSpool()
	keys, err := b.o.Store.LiveKeys()
	if err != nil {
		b.o.Log(err)
		return
	}
	live := make(map[store.Key]bool, len(keys))
	for _, k := range keys {
		live[k] = true
	}
	for k, c := range b.cards {
		if !live[k] {
			b.remove(c)
		}
	}
	b.refresh(keys)
}

// recheck looks at every session again: its process, its registry record, and
// the time alone may have changed what it is at.
func (b *board) recheck() {
	for _, c := range b.cards {
		b.recheckCard(c)
	}
	b.recheckBare()
}

func (b *board) recheckCard(c *card) {
	seen := b.reader.See(c.seen.Session, b.glance, b.now)
	if changed(&c.seen, &seen) {
		b.due[c.group] = true
	}
	before := c.seen.Session.Seq
	c.seen, c.at = seen, b.now
	b.noted(c, before)
	b.noteEdge(c.group, &seen)
	if b.reader.Archive(&c.seen, b.now) {
		b.remove(c)
	}
}

// changed reports whether a row may look different.
func changed(a, b *state.Seen) bool {
	return a.Session.Seq != b.Session.Seq || a.Status != b.Status || a.Evidence != b.Evidence || a.Meter != b.Meter
}

// recheckBare finds the sessions that only the client's registry knows.
func (b *board) recheckBare() {
	seen := make([]state.Seen, 0, len(b.cards))
	for _, c := range b.cards {
		seen = append(seen, c.seen)
	}
	for i := range b.bare {
		b.due[groupOf(&b.bare[i].Session)] = true
	}
	b.bare, b.bareAt = b.reader.Unhooked(seen, b.glance, b.now), b.now
	for i := range b.bare {
		group := groupOf(&b.bare[i].Session)
		b.due[group] = true
		b.noteEdge(group, &b.bare[i])
	}
}

// members returns the sessions of one row.
func (b *board) members(group string) []state.Seen {
	var seen []state.Seen
	for c := range b.seats[group] {
		seen = append(seen, c.seen)
	}
	for i := range b.bare {
		if groupOf(&b.bare[i].Session) == group {
			seen = append(seen, b.bare[i])
		}
	}
	return seen
}

// publish tells the hub what changed in the rows that are due.
func (b *board) publish() {
	if len(b.due) == 0 && len(b.turns) == 0 {
		b.hub.update(b.at(), func(*publisher) {})
		return
	}
	b.hub.update(b.at(), func(p *publisher) {
		for g := range b.due {
			b.show(p, g)
		}
		for g := range b.turns { // of rows that nobody sees
			b.tellTurns(p, g, nil)
		}
	})
	clear(b.due)
	clear(b.turns)
	clear(b.edges.found)
}

func (b *board) at() time.Time { return millis(b.now) }

// show tells of one row: that it came, what was said, that it changed, what it
// came to, that it went.
func (b *board) show(p *publisher, group string) {
	seen := b.members(group)
	was := p.shown(group)
	rows := render.Rows(seen, false)
	if len(rows) == 0 {
		b.tellTurns(p, group, was)
		if was != nil {
			b.end(p, group, was, seen)
		}
		return
	}
	now := &shown{row: rows[0]}
	now.json, _ = json.Marshal(&now.row) // rows always encode
	b.tellRow(p, group, was, now)
	b.tellEdges(p, group, now)
}

// tellRow tells of a row that is there. A row that came is told before what was
// said in it, one that changed after.
func (b *board) tellRow(p *publisher, group string, was, now *shown) {
	if was == nil {
		p.set(group, now)
		b.tell(p, "session_created", now, nil, "")
		b.tellTurns(p, group, now)
		return
	}
	b.tellTurns(p, group, now)
	if !bytes.Equal(was.json, now.json) {
		p.set(group, now)
		b.tell(p, "session_updated", now, was, "")
	}
}

// end tells that a row is no more, with the row as it ended.
func (b *board) end(p *publisher, group string, was *shown, seen []state.Seen) {
	p.drop(group)
	last := was
	reason := "removed"
	if rows := render.Rows(seen, true); len(rows) > 0 {
		last = &shown{row: rows[0]}
		last.json, _ = json.Marshal(&last.row)
		if !rows[0].State.Live() {
			reason = string(rows[0].State)
		}
	}
	b.tell(p, "session_ended", last, was, reason)
}

// news is the data of session_created, session_updated and session_ended.
type news struct {
	AgentID   string          `json:"agent_id"` // the seat
	ProjectID string          `json:"project_id,omitempty"`
	Timestamp string          `json:"timestamp"`
	Reason    string          `json:"reason,omitempty"` // of an end: ended, lost, removed
	Session   json.RawMessage `json:"session"`
}

func (b *board) tell(p *publisher, name string, s, was *shown, reason string) {
	m := message{name: name, session: s.row.SessionID, seat: s.row.SeatID, now: s.row.State}
	if was != nil {
		m.before, m.ousted = was.row.State, was.row.SessionID
	}
	data, _ := encode(news{s.row.SeatID, s.row.ProjectID, iso(p.at), reason, s.json})
	p.send(m, data)
	b.meter.told(name)
}
