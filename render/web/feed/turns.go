package feed

import (
	"slices"
	"time"

	"beckon/render"
	"beckon/state"
	"beckon/state/store"
)

// heard is what the history has of a session.
type heard struct {
	seq   int64        // of the newest line
	turns []store.Turn // to be published
	old   bool         // nothing else was known of the session at a recheck
}

// hear returns what was heard of a session.
func (b *board) hear(k store.Key) *heard {
	if b.heard[k] == nil {
		b.heard[k] = &heard{}
	}
	return b.heard[k]
}

// read reads what was added to the history, and counts its events.
func (b *board) read() {
	err := b.tail.Read(func(l *store.Line) {
		b.o.Meter.Line(l)
		h := b.hear(l.Key)
		h.seq = max(h.seq, l.Change.Seq)
		if t := l.Change.Turn; t != nil {
			h.turns = append(h.turns, store.Turn{Seq: l.Change.Seq, Turn: *t})
		}
	})
	if err != nil {
		b.o.Log(err)
	}
}

// readAll reads until the history has what the changed sessions have. A hook writes it a moment
// after the session, or not at all if it is killed: what comes later is published with the next
// look, at the latest with the next recheck.
func (b *board) readAll(changed []state.Seen) {
	b.read()
	for range 20 {
		lacks := func(v state.Seen) bool { return v.Session.Seq > b.hear(store.KeyOf(v.Session.Record())).seq }
		if b.alerts.began == 0 || !slices.ContainsFunc(changed, lacks) {
			break
		}
		time.Sleep(2 * time.Millisecond)
		b.read()
	}
	for i := range changed {
		h := b.hear(store.KeyOf(changed[i].Session.Record()))
		h.seq = max(h.seq, changed[i].Session.Seq)
	}
}

// addTurns has what was said in the live sessions published. A line may be read before its session
// is: it is kept until a recheck has found no such session.
func (b *board) addTurns(rechecked bool) {
	for k, h := range b.heard {
		c := b.cards[k]
		switch {
		case c != nil:
			if len(h.turns) > 0 {
				row := b.touch(c.group)
				row.turns = append(row.turns, render.TurnLines(&c.seen.Session, h.turns)...)
			}
			h.turns, h.old = nil, false
		case c == nil && rechecked && h.old:
			delete(b.heard, k)
		case c == nil && rechecked:
			h.old = true
		}
	}
}

// turns publishes what was said in a row, which may not be shown: turn_created.
func (p *publisher) turns(said []render.TurnLine, s *shown) {
	for _, t := range said {
		m := message{name: "turn_created", session: t.SessionID, seat: t.AgentID}
		if s != nil {
			m.now = s.row.State
		}
		p.report(m, t)
	}
}
