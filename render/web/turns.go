package web

import (
	"encoding/json"

	"beckon/event"
	"beckon/state/store"
)

// follow reads what a session's journal has gained: it counts events, and
// finds the turns to tell of.
func (b *board) follow(c *card) {
	next, err := b.o.Store.Follow(c.key, c.place, func(l store.Line) {
		if b.begun == 0 || l.Change.At < b.begun {
			return // told by an earlier server, or before there was one
		}
		b.meter.line(&l)
	})
	if err != nil {
		b.o.Log(err)
		return
	}
	c.place = next
}

// turnNews is a turn to tell of.
type turnNews struct {
	session string
	data    turnData
}

// turnData is the data of turn_created (row B3).
type turnData struct {
	AgentID         string `json:"agent_id"`
	ProjectID       string `json:"project_id,omitempty"`
	SessionID       string `json:"session_id"`
	TurnID          string `json:"turn_id"`
	CommandID       string `json:"command_id"`
	Actor           string `json:"actor"`
	Intent          string `json:"intent"`
	Text            string `json:"text"`
	Timestamp       string `json:"timestamp"`
	TimestampSource string `json:"timestamp_source"`
	at              event.Millis
}

// tellTurns publishes what was said in a row.
func (b *board) tellTurns(p *publisher, group string, s *shown) {
	for _, t := range b.turns[group] {
		data, _ := json.Marshal(t.data)
		m := message{name: "turn_created", session: t.session, seat: t.data.AgentID}
		if s != nil {
			m.now = s.row.State
		}
		p.send(m, data)
		b.meter.told("turn_created")
	}
	delete(b.turns, group)
}
