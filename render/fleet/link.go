package fleet

import (
	"errors"
	"time"

	"beckon/render"
)

// Link decides what a host publishes when. What is in doubt is published again
// under a new epoch: then it does not matter what the server has kept.
type Link struct {
	*Publisher
	acked    uint64 // the server's number of our newest presence; 0 for none
	asserted bool   // as far as is known the server has every row
	doubtful bool   // Check is to be asked before anything is published
	since    bool   // something was published after our newest presence
	quarrel  int    // checks until a copy of this machine must have yielded
}

// NewLink returns a link that has published nothing yet.
func NewLink(p *Publisher) *Link { return &Link{Publisher: p, doubtful: true} }

// Kept is what the server has under the key of our presence, and the number
// that it gave to it: later messages have larger ones.
type Kept struct {
	Data     []byte
	Sequence uint64
}

// ErrCopied says that another machine publishes under our id: one was made of a
// copy of the other's files. This one must publish its presence once more, by which
// the other learns that rows of its may be written over, and take another node.
var ErrCopied = errors.New("another machine publishes under the same id")

// Check compares what the server has, nil for nothing, with what it was sent. It
// is to be asked before each beat, after each connection, which fresh says, and when
// Doubtful.
func (l *Link) Check(kept *Kept, fresh bool) error {
	l.doubtful = false
	if fresh && l.since { // what stands behind the new connection may have less than the old one
		l.renew(0)
	}
	if kept == nil {
		if l.acked > 0 {
			l.renew(0)
		}
		l.acked = 0
		return nil
	}
	ours, epoch, instance := l.Ours(kept.Data)
	if ours {
		if kept.Sequence != l.acked { // a backup of what it had, rows and all
			l.renew(0)
			l.acked = kept.Sequence
		}
		if l.quarrel > 0 { // the copy may have written rows of ours until now
			l.quarrel--
			l.renew(0)
		}
		return nil
	}
	copied := l.acked > 0 && kept.Sequence > l.acked && instance != l.host.Instance
	l.renew(epoch)
	l.acked = min(l.acked, kept.Sequence)
	if !copied {
		return nil
	}
	if l.host.Instance > instance { // one of the two yields
		return ErrCopied
	}
	l.acked, l.quarrel = kept.Sequence, 3
	return nil
}

// Doubt has everything published anew: some message may not have arrived.
func (l *Link) Doubt() {
	l.renew(0)
	l.doubtful = true
}

// Doubtful reports whether Check is to be asked before anything is published.
func (l *Link) Doubtful() bool { return l.doubtful }

func (l *Link) renew(above uint64) {
	l.Renew(above)
	l.asserted = false
}

// Due returns what is to be published now that the host's rows are these.
func (l *Link) Due(rows []render.Row, now time.Time) []Message {
	changes := l.Look(rows, now)
	l.since = l.since || len(changes) > 0 || !l.asserted
	if l.asserted {
		return changes
	}
	l.asserted = true
	return l.All(now)
}

// Again has every row published once more: the server forgets what is not
// renewed within Keep.
func (l *Link) Again() { l.asserted = false }

// Acked notes the number that the server gave to our presence.
func (l *Link) Acked(sequence uint64) { l.acked, l.since = sequence, false }
