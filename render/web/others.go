package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"beckon/render"
)

// others shows the rows of other machines. It belongs to one goroutine.
type others struct {
	board *board
	rows  map[string]*shown
}

// show publishes what changed in the rows of other machines.
func (o *others) show(rows []render.Row) {
	o.board.hub.change(func(p *publisher) {
		p.at = time.Now()
		there := make(map[string]bool, len(rows))
		for i := range rows {
			key := farKey(rows[i].Remote.Name, cmp.Or(rows[i].SeatID, rows[i].Record()))
			if there[key] || !rows[i].State.Live() || o.here(p, &rows[i]) {
				continue
			}
			there[key] = true
			o.put(p, key, rows[i])
		}
		for key, was := range o.rows {
			if !there[key] {
				delete(o.rows, key)
				p.drop(key)
				o.board.emit(p, "session_ended", was, was, "removed")
			}
		}
	})
}

// here reports whether a row is this machine's own, back from where it was
// published.
func (o *others) here(p *publisher, r *render.Row) bool {
	s := p.shown(cmp.Or(r.SeatID, "session "+r.Record()))
	return s != nil && s.row.Record() == r.Record()
}

func (o *others) put(p *publisher, key string, row render.Row) {
	was := o.rows[key]
	if was != nil { // that it was heard again is no news
		remote := *row.Remote
		remote.AsOf = was.row.Remote.AsOf
		if same := row; remote.Stale == was.row.Remote.Stale && remote.Link == was.row.Remote.Link {
			same.Remote = &remote
			same.Since, same.CreatedAt, same.FirstSeen, same.UpdatedAt = was.row.Since, was.row.CreatedAt, was.row.FirstSeen, was.row.UpdatedAt
			if data, _ := json.Marshal(&same); bytes.Equal(data, was.json) && row.Since.Sub(was.row.Since).Abs() < time.Second {
				return
			}
		}
	}
	now := newShown(row)
	o.rows[key] = now
	p.set(key, now)
	name := "session_updated"
	if was == nil {
		name = "session_created"
	}
	o.board.emit(p, name, now, was, "")
}
