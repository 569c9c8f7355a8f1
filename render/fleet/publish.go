package fleet

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"time"

	"beckon/render"
)

// How long changes without urgency are held back: those that a row shows, and those of context
// and cost.
const (
	soon = time.Second
	late = 15 * time.Second
)

// published is a row as last sent.
type published struct {
	wire
	since time.Time
	sent  time.Time
	// What was sent, by how soon a change of it must be published.
	news, shown, all string
}

// changes returns the rows to publish for the host's present rows.
func (l *Link) changes(rows []render.Row, now time.Time) []Message {
	var out []Message
	l.heldBack = false
	here := make(map[string]bool, len(rows))
	for i := range rows[:min(len(rows), maxRows)] {
		r := &rows[i]
		key := seatOf(r)
		if here[key] {
			continue // two records in one seat: the first represents it
		}
		here[key] = true
		next := published{wire: wireOf(r, l.level), since: r.Since}
		next.describe()
		old := l.rows[key]
		if old != nil && next.all == old.all {
			continue
		}
		if old != nil && next.news == old.news {
			wait := late
			if next.shown != old.shown {
				wait = soon
			}
			if now.Sub(old.sent).Abs() < wait { // a clock that was set back must not delay it long
				l.heldBack = true
				continue
			}
		}
		l.seq++
		next.stamp = stamp{l.epoch, l.seq}
		l.rows[key] = &next
		out = append(out, l.message(key, now))
	}
	for _, key := range slices.Sorted(maps.Keys(l.rows)) {
		if !here[key] {
			delete(l.rows, key)
			l.seq++
			out = append(out, l.tombstone(key))
		}
	}
	return out
}

// describe sets the texts to compare.
func (o *published) describe() {
	text := func(w wire) string { b, _ := json.Marshal(w); return string(b) }
	w := o.wire
	w.Age = o.since.UnixMilli()
	o.all = text(w)
	w.Context, w.Cost = nil, 0
	o.shown = text(w)
	ask := ""
	if w.Texts != nil && w.State.NeedsYou() {
		ask = w.Texts.Ask
	}
	o.news = text(wire{Session: w.Session, Part: w.Part, State: w.State, Reason: w.Reason, Unseen: w.Unseen, Texts: &texts{Ask: ask}})
}

// all returns every row as last published, with its present age.
func (l *Link) all(now time.Time) []Message {
	var out []Message
	for _, key := range slices.Sorted(maps.Keys(l.rows)) {
		out = append(out, l.message(key, now))
	}
	return out
}

func (l *Link) message(key string, now time.Time) Message {
	o := l.rows[key]
	o.sent = now
	w := o.wire
	w.Age = max(0, now.Sub(o.since).Milliseconds())
	data, _ := json.Marshal(w)
	return Message{Key: l.prefix + "." + rowPart + "." + key, Data: data}
}

func (l *Link) tombstone(key string) Message {
	data, _ := json.Marshal(wire{Schema: schema, stamp: stamp{l.epoch, l.seq}, Gone: true})
	return Message{Key: l.prefix + "." + rowPart + "." + key, Data: data, Gone: true}
}

// Presence returns the host's presence, to send after the rows.
func (l *Link) Presence() Message { return l.presence(false) }

// Bye returns the last presence of a host that signs off.
func (l *Link) Bye() Message { return l.presence(true) }

// Forget returns messages that remove the host and its rows from every list.
func (l *Link) Forget() []Message {
	l.seq++
	var out []Message
	for _, key := range slices.Sorted(maps.Keys(l.rows)) {
		out = append(out, l.tombstone(key))
	}
	clear(l.rows)
	m := l.presence(true)
	m.Gone = true
	return append(out, m)
}

func (l *Link) presence(bye bool) Message {
	h := l.host
	l.seq++
	h.stamp, h.Bye = stamp{l.epoch, l.seq}, bye
	seqs := make(map[string]uint64, len(l.rows))
	for key, o := range l.rows {
		seqs[key] = o.Seq
	}
	h.Digest = digest(seqs)
	data, _ := json.Marshal(h)
	return Message{Key: l.PresenceKey(), Data: data}
}

// digest summarizes which rows there are, and their numbers.
func digest(seqs map[string]uint64) string {
	h := fnv.New64a()
	for _, key := range slices.Sorted(maps.Keys(seqs)) {
		h.Write([]byte(key))
		h.Write([]byte{' '})
		h.Write(strconv.AppendUint(nil, seqs[key], 10))
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil))
}
