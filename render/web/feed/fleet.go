package feed

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"beckon/render"
)

// others publishes what changed in the rows of other machines.
func (f *Feed) others(rows []render.Row) {
	f.change(func(p *publisher) {
		p.at = time.Now()
		best := p.best(rows)
		there := make(map[string]bool, len(best))
		for i := range rows {
			key := remoteKey(rows[i].Remote.Name, cmp.Or(rows[i].SeatID, rows[i].Record()))
			if there[key] || best[rows[i].Record()] != &rows[i] {
				continue
			}
			there[key] = true
			p.putOther(key, rows[i])
		}
		for key, was := range f.rows {
			if strings.HasPrefix(key, remotePrefix) && !there[key] {
				p.drop(key)
				p.emit("session_ended", was, was, "removed")
			}
		}
	})
}

// best returns the row to show for each record: of a session that several machines report (as
// in hosts.Merge), always the same machine's. This machine's own rows, read back from where it
// published them, are not among them. After /clear they come with the record before, so the
// seat counts, too.
func (p *publisher) best(rows []render.Row) map[string]*render.Row {
	own := map[string]bool{}
	for _, s := range p.feed.rows {
		if s.row.Remote == nil {
			own[s.row.Record()] = true
		}
	}
	best := make(map[string]*render.Row, len(rows))
	for i := range rows {
		r := &rows[i]
		if !r.State.Live() || own[r.Record()] || r.SeatID != "" && p.shown(r.SeatID) != nil {
			continue
		}
		b := best[r.Record()]
		if b == nil || b.Remote.Stale && !r.Remote.Stale ||
			b.Remote.Stale == r.Remote.Stale && r.Remote.Name < b.Remote.Name {
			best[r.Record()] = r
		}
	}
	return best
}

func (p *publisher) putOther(key string, row render.Row) {
	was := p.shown(key)
	if was != nil { // being heard again is not a change
		remote := *row.Remote
		remote.AsOf = was.row.Remote.AsOf
		if same := row; remote.Stale == was.row.Remote.Stale {
			same.Remote = &remote
			same.Since, same.CreatedAt = was.row.Since, was.row.CreatedAt
			same.FirstSeen, same.UpdatedAt = was.row.FirstSeen, was.row.UpdatedAt
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

// remoteKey returns a key that no seat of this machine and no other machine has: names contain no
// control characters.
func remoteKey(host, id string) string { return remotePrefix + host + "\x00" + id }

const remotePrefix = "elsewhere\x00"
