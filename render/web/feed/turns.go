package feed

import (
	"beckon/render"
	"beckon/state/store"
)

// read reads the new lines of a session's journal: it counts events, and returns the turns to
// publish. If a journal is read from its beginning, lines from before the server's start are
// not published.
func (b *board) read(c *card) (turns []store.Turn) {
	first := c.place == (store.Place{})
	next, err := b.o.Store.Follow(c.key, c.place, func(l store.Line) {
		if first && l.Change.At < b.begun {
			return
		}
		b.o.Meter.Line(&l)
		if t := l.Change.Turn; t != nil {
			turns = append(turns, store.Turn{Seq: l.Change.Seq, Turn: *t})
		}
	})
	if err != nil {
		b.o.Log(err)
		return nil
	}
	c.place = next
	return turns
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
