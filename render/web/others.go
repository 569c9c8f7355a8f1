package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"beckon/render"
)

// others publishes what changed in the rows of other machines.
func (h *hub) others(rows []render.Row) {
	h.change(func(p *publisher) {
		p.at = time.Now()
		there := make(map[string]bool, len(rows))
		for i := range rows {
			key := farKey(rows[i].Remote.Name, cmp.Or(rows[i].SeatID, rows[i].Record()))
			if there[key] || !rows[i].State.Live() || p.isHere(&rows[i]) {
				continue
			}
			there[key] = true
			p.putOther(key, rows[i])
		}
		for key, was := range h.rows {
			if strings.HasPrefix(key, farPrefix) && !there[key] {
				p.drop(key)
				p.emit("session_ended", was, was, "removed")
			}
		}
	})
}

// isHere reports whether a row is this machine's own, read back from where it was published.
func (p *publisher) isHere(r *render.Row) bool {
	s := p.shown(cmp.Or(r.SeatID, "session "+r.Record()))
	return s != nil && s.row.Record() == r.Record()
}

func (p *publisher) putOther(key string, row render.Row) {
	was := p.shown(key)
	if was != nil { // being heard again is not a change
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
	p.set(key, now)
	name := "session_updated"
	if was == nil {
		name = "session_created"
	}
	p.emit(name, now, was, "")
}
