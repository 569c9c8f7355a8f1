package fleet

import (
	"errors"
	"hash/fnv"
	"time"

	"beckon/render"
)

// Link turns one host's rows into messages with whole rows, and decides when to publish them:
// when they have changed, and at once if the change matters to the user. Whatever may be lost
// is published again under a new epoch, and then it does not matter what the server has
// stored.
type Link struct {
	prefix   string
	host     Presence // the constant part of every presence
	level    Level
	epoch    uint64
	step     uint64 // between epochs: two links never have the same
	seq      uint64
	rows     map[string]*published
	heldBack bool

	acked    uint64 // the server's number of our newest presence; 0 for none
	asserted bool   // the server is believed to have every row
	doubtful bool   // Check must be called before anything is published
	since    bool   // something was published after our newest presence
	quarrel  int    // checks until a copy of this machine must have yielded
}

// NewLink returns a link that has published nothing yet. epoch must be greater than those of
// earlier links of the same id; instance is unique.
func NewLink(id ID, epoch uint64, instance, version string, level Level) (*Link, error) {
	prefix, err := id.prefix()
	if err != nil {
		return nil, err
	}
	first := fnv.New32a() // two machines that publish as one host begin with different numbers
	first.Write([]byte(instance))
	return &Link{
		prefix: prefix, level: level, epoch: epoch, seq: uint64(first.Sum32()), step: 1 + uint64(first.Sum32()%10_000), rows: map[string]*published{},
		host:     Presence{Schema: schema, Instance: instance, User: word(id.User), Host: word(id.Host), Version: word(version)},
		doubtful: true,
	}, nil
}

// Name returns the link's unique name, which the messages of package ctl use.
func (l *Link) Name() string { return l.prefix + "." + Token(l.host.Instance) }

// PresenceKey returns the key of the host's presence.
func (l *Link) PresenceKey() string { return l.prefix + "." + presencePart }

// Epoch returns the epoch in force.
func (l *Link) Epoch() uint64 { return l.epoch }

// HeldBack reports whether the last Due kept something for a later one.
func (l *Link) HeldBack() bool { return l.heldBack }

// Kept is the server's value of our presence's key, and its number: later messages have larger
// ones.
type Kept struct {
	Data     []byte
	Sequence uint64
}

// ErrCopied means that another machine publishes under our id, because one has a copy of the
// other's files. This one must publish its presence once more, so that the other learns that
// its rows may be overwritten, and take another node.
var ErrCopied = errors.New("another machine publishes under the same id")

// Check compares what the server has, nil for nothing, with what it was sent. It must be
// called before each beat, after each connection (fresh), and when Doubtful.
func (l *Link) Check(kept *Kept, fresh bool) error {
	l.doubtful = false
	if fresh && l.since { // the server of the new connection may have less than that of the old one
		l.renew(0)
	}
	if kept == nil {
		if l.acked > 0 {
			l.renew(0)
		}
		l.acked = 0
		return nil
	}
	was, ok := readPresence(kept.Data)
	if !ok {
		was = Presence{} // and so not ours
	}
	if was.Instance == l.host.Instance && was.Epoch == l.epoch {
		if kept.Sequence != l.acked { // a backup of what it had, including the rows
			l.renew(0)
			l.acked = kept.Sequence
		}
		if l.quarrel > 0 { // the copy may have written our rows until now
			l.quarrel--
			l.renew(0)
		}
		return nil
	}
	copied := l.acked > 0 && kept.Sequence > l.acked && was.Instance != l.host.Instance
	l.renew(was.Epoch)
	l.acked = min(l.acked, kept.Sequence)
	if !copied {
		return nil
	}
	if l.host.Instance > was.Instance { // one of the two yields
		return ErrCopied
	}
	l.acked, l.quarrel = kept.Sequence, 3
	return nil
}

// Doubt causes everything to be published again, because a message may not have arrived.
func (l *Link) Doubt() {
	l.renew(0)
	l.doubtful = true
}

// Doubtful reports whether Check must be called before anything is published.
func (l *Link) Doubtful() bool { return l.doubtful }

// renew starts an epoch above the given one, in which everything is published again: nothing
// published before counts any more.
func (l *Link) renew(above uint64) {
	l.epoch = max(l.epoch, above) + l.step
	for _, o := range l.rows {
		o.Epoch = l.epoch
	}
	l.asserted = false
}

// Due returns the messages to publish for the host's present rows.
func (l *Link) Due(rows []render.Row, now time.Time) []Message {
	changes := l.changes(rows, now)
	l.since = l.since || len(changes) > 0 || !l.asserted
	if l.asserted {
		return changes
	}
	l.asserted = true
	return l.all(now)
}

// Again causes every row to be published once more, because the server forgets what is not
// renewed within Keep.
func (l *Link) Again() { l.asserted = false }

// Acked records the number that the server gave to our presence.
func (l *Link) Acked(sequence uint64) { l.acked, l.since = sequence, false }
