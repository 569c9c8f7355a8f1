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

// How long changes without urgency are held back: of what a row shows, and of how
// full the context is and what the session cost.
const (
	soon = time.Second
	late = 15 * time.Second
)

// Publisher turns one host's rows into messages: whole rows, when what they say
// has changed, at once where it is news for the user.
type Publisher struct {
	prefix   string
	host     Presence // what every presence says
	level    Level
	epoch    uint64
	step     uint64 // between epochs: two publishers never have the same one
	seq      uint64
	rows     map[string]*published
	heldBack bool
}

// published is a row as it was sent last.
type published struct {
	wire
	since time.Time
	sent  time.Time
	// What was sent, by how soon a change of it must be published.
	news, shown, all string
}

// NewPublisher returns the publisher of a host. epoch must be greater than those of
// earlier publishers of the same id; instance names this one alone.
func NewPublisher(id ID, epoch uint64, instance, version string, level Level) (*Publisher, error) {
	prefix, err := id.Prefix()
	if err != nil {
		return nil, err
	}
	first := fnv.New32a() // two machines that publish as one host begin with different numbers
	first.Write([]byte(instance))
	return &Publisher{
		prefix: prefix, level: level, epoch: epoch, seq: uint64(first.Sum32()), step: 1 + uint64(first.Sum32()%10_000), rows: map[string]*published{},
		host: Presence{Schema: Schema, Instance: instance, User: word(id.User), Host: word(id.Host), Version: word(version)},
	}, nil
}

// Epoch is the epoch in force.
func (p *Publisher) Epoch() uint64 { return p.epoch }

// Renew begins an epoch above the given one: nothing counts any more that was
// published before. What Look and All return from then on is of the new epoch.
func (p *Publisher) Renew(above uint64) {
	p.epoch = max(p.epoch, above) + p.step
	for _, o := range p.rows {
		o.Epoch = p.epoch
	}
}

// Look returns what is to be published now that the host's rows are these.
func (p *Publisher) Look(rows []render.Row, now time.Time) []Message {
	var out []Message
	p.heldBack = false
	here := make(map[string]bool, len(rows))
	for i := range rows[:min(len(rows), maxRows)] {
		r := &rows[i]
		key := seatOf(r)
		if here[key] {
			continue // two records in one seat: the first stands for it
		}
		here[key] = true
		next := published{wire: wireOf(r, p.level), since: r.Since}
		next.describe()
		old := p.rows[key]
		if old != nil && next.all == old.all {
			continue
		}
		if old != nil && next.news == old.news {
			wait := late
			if next.shown != old.shown {
				wait = soon
			}
			if now.Sub(old.sent).Abs() < wait { // a clock that was set back holds nothing up for long
				p.heldBack = true
				continue
			}
		}
		p.seq++
		next.stamp = stamp{p.epoch, p.seq}
		p.rows[key] = &next
		out = append(out, p.message(key, now))
	}
	for _, key := range slices.Sorted(maps.Keys(p.rows)) {
		if !here[key] {
			delete(p.rows, key)
			p.seq++
			out = append(out, p.tombstone(key))
		}
	}
	return out
}

// describe notes what the row says.
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

// HeldBack reports whether the last Look kept something for a later one.
func (p *Publisher) HeldBack() bool { return p.heldBack }

// All returns every row, as it was published last, with its age as of now.
func (p *Publisher) All(now time.Time) []Message {
	var out []Message
	for _, key := range slices.Sorted(maps.Keys(p.rows)) {
		out = append(out, p.message(key, now))
	}
	return out
}

func (p *Publisher) message(key string, now time.Time) Message {
	o := p.rows[key]
	o.sent = now
	w := o.wire
	w.Age = max(0, now.Sub(o.since).Milliseconds())
	data, _ := json.Marshal(w)
	return Message{Key: p.prefix + "." + rowPart + "." + key, Data: data}
}

func (p *Publisher) tombstone(key string) Message {
	data, _ := json.Marshal(wire{Schema: Schema, stamp: stamp{p.epoch, p.seq}, Gone: true})
	return Message{Key: p.prefix + "." + rowPart + "." + key, Data: data, Gone: true}
}

// Link names this publisher among all, as the messages of package ctl do.
func (p *Publisher) Link() string { return p.prefix + "." + Token(p.host.Instance) }

// PresenceKey is the key of what the host says of itself.
func (p *Publisher) PresenceKey() string { return p.prefix + "." + presencePart }

// Presence returns what the host says of itself, for after the rows were sent.
func (p *Publisher) Presence() Message { return p.presence(false) }

// Bye returns the last presence, of a host that will not be heard for now.
func (p *Publisher) Bye() Message { return p.presence(true) }

// Forget returns what takes the host and its rows off every list.
func (p *Publisher) Forget() []Message {
	p.seq++
	var out []Message
	for _, key := range slices.Sorted(maps.Keys(p.rows)) {
		out = append(out, p.tombstone(key))
	}
	clear(p.rows)
	m := p.presence(true)
	m.Gone = true
	return append(out, m)
}

func (p *Publisher) presence(bye bool) Message {
	h := p.host
	p.seq++
	h.stamp, h.Rows, h.Bye = stamp{p.epoch, p.seq}, len(p.rows), bye
	seqs := make(map[string]uint64, len(p.rows))
	for key, o := range p.rows {
		seqs[key] = o.Seq
		if o.State.NeedsYou() {
			h.Needs++
		}
		if o.State.AtWork() {
			h.Working++
		}
	}
	h.Digest = digest(seqs)
	data, _ := json.Marshal(h)
	return Message{Key: p.PresenceKey(), Data: data}
}

// Ours reports whether a presence that is kept under our key was written by this
// publisher; above is its epoch.
func (p *Publisher) Ours(data []byte) (ours bool, above uint64, instance string) {
	o, err := readPresence(data)
	if err != nil {
		return false, 0, ""
	}
	return o.Instance == p.host.Instance && o.Epoch == p.epoch, o.Epoch, o.Instance
}

// digest is short for which rows there are, and which number each has.
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
