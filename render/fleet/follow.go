package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"beckon/render"
	"beckon/render/hosts"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Shown is what a viewer shows of a fleet.
type Shown struct {
	Rows  []render.Row
	Hosts []render.Host
	Whole bool  // all that the server had has arrived, at least once
	Err   error // why there is no news
}

// The times between two views of the fleet: at least screenPause, since changes come in bursts, and
// at most look.
const (
	screenPause = 100 * time.Millisecond
	look        = 5 * time.Second
)

// inactive is when the server forgets a viewer that has gone.
const inactive = 30 * time.Second

// errNoBucket means that the server is there, and nobody publishes yet.
var errNoBucket = errors.New("nothing has been published yet, or this access may not see it")

type follower struct {
	nc    *nats.Conn
	js    jetstream.JetStream
	clock func() time.Time
	show  func(Shown)

	view  *view // the newest that was whole
	shown Shown
	last  time.Time // of shown
}

// away returns why there is no connection.
func away(a Credential, nc *nats.Conn) error {
	return fmt.Errorf("no connection to %s: %w", a.URL, cmp.Or(nc.LastError(), nats.ErrDisconnected))
}

// Follow calls show with the fleet, now and whenever it changes, until ctx ends. An error is one of
// the credential; it waits for a server that is away.
func Follow(ctx context.Context, a Credential, show func(Shown)) error {
	begun := time.Now()
	// Changes of the clock while the program runs do not matter.
	return follow(ctx, a, func() time.Time { return begun.Round(0).Add(time.Since(begun)) }, show)
}

func follow(ctx context.Context, a Credential, clock func() time.Time, show func(Shown)) error {
	wake := make(chan struct{}, 1) // the connection was made or lost
	nc, err := dial(a, "beckon", wake)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	f := &follower{nc: nc, js: js, clock: clock, show: show, view: newView()}
	for {
		err := f.read(ctx)
		switch {
		case !nc.IsConnected():
			f.shown.Err = away(a, nc)
		case err != nil:
			f.shown.Err = fmt.Errorf("watching %s: %w", a.URL, err)
		}
		f.draw()
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		case <-time.After(retry + rand.N(retry)):
		}
	}
}

func (f *follower) draw() {
	f.shown.Rows, f.shown.Hosts = f.view.snapshot(f.clock())
	f.last = time.Now()
	f.show(f.shown)
}

// read reads everything, then the changes, until the connection is lost, ctx ends or something else
// fails.
func (f *follower) read(ctx context.Context) error {
	reading := f.nc.Stats().Reconnects
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := f.js.CreateConsumer(asking, stream, jetstream.ConsumerConfig{
		FilterSubject:     subjects + ">",
		DeliverPolicy:     jetstream.DeliverLastPerSubjectPolicy,
		AckPolicy:         jetstream.AckNonePolicy,
		InactiveThreshold: inactive,
		MemoryStorage:     true,
		Replicas:          1,
	})
	if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, nats.ErrNoResponders) {
		return errNoBucket
	} else if err != nil {
		return err
	}
	values, err := c.Messages(jetstream.PullMaxMessages(1000))
	if err != nil {
		return err
	}
	defer values.Stop()
	v, info := newView(), c.CachedInfo()
	v.serverTime(info.TimeStamp, f.clock())
	left, changed, whole := info.NumPending, true, false
	for n := uint64(1); ; {
		if left == 0 && !whole {
			whole, f.view, f.shown.Whole, f.shown.Err = true, v, true, nil
		}
		if since := time.Since(f.last); whole && changed && since > screenPause || since > look {
			f.draw()
			changed = false
		}
		if ctx.Err() != nil || !f.nc.IsConnected() || f.nc.Stats().Reconnects != reading { // else it may be another server
			return nil
		}
		m, err := values.Next(jetstream.NextMaxWait(screenPause))
		if errors.Is(err, nats.ErrTimeout) {
			continue
		}
		if err != nil {
			return err
		}
		meta, err := m.Metadata()
		if err != nil || meta.Sequence.Consumer != n {
			return errors.New("values were lost")
		}
		n, left = n+1, meta.NumPending
		changed = v.apply(strings.TrimPrefix(m.Subject(), subjects), m.Data(), meta.Timestamp, f.clock()) || changed
	}
}

// view is what a viewer knows about a fleet. It is not safe for concurrent use.
type view struct {
	nodes  map[string]node // by their keys
	offset time.Duration   // from this machine's clock to the server's
}

// node is a host, with the server's time of its newest value.
type node struct {
	report
	user, host string
	at         time.Time
}

// lost is Lost, but in tests.
var lost = Lost

func newView() *view { return &view{map[string]node{}, math.MinInt64} }

// serverTime records that the server's clock showed t when this machine's showed now. The
// largest difference ever seen belongs to the least delayed message.
func (v *view) serverTime(t, now time.Time) {
	v.offset = max(v.offset, t.Sub(now))
}

func (v *view) here(t time.Time) time.Time { return t.Add(-v.offset) }

// apply applies a value that the server received at the time server, an empty one if the host has gone,
// and reports whether it changes what is shown. now is this machine's time. The server ensures that
// nobody publishes under another's key.
func (v *view) apply(key string, data []byte, server, now time.Time) (news bool) {
	v.serverTime(server, now)
	n, known := v.nodes[key]
	if len(data) == 0 {
		delete(v.nodes, key)
		return known
	}
	is, readable := unpack(data)
	user, host, named := namesOf(key)
	if !readable || !named {
		return false
	}
	if news = !known || !is.Changed.Equal(n.Changed) || server.Sub(n.at) > Lost; news {
		n.report, n.user, n.host = is, word(user), word(host)
		n.Sessions = readRows(is.List, server.UTC())
	}
	n.at = server
	v.nodes[key] = n
	return news
}

// readRows returns the rows that an untrusted host sent, and that the server received at a time.
func readRows(list render.List, at time.Time) []render.Row {
	rows := hosts.Accept(&list, at, 0)
	for i := range rows {
		r := &rows[i]
		*r = permitted(r, func(s string) string { return cut(s, fullText) })
		if r.UpdatedAt = at; r.Since.After(at) || at.Sub(r.Since) > maxAge {
			r.Since = at
		}
	}
	return rows
}

// snapshot returns the rows of all hosts, unordered, and the hosts, sorted by name.
func (v *view) snapshot(now time.Time) (rows []render.Row, all []render.Host) {
	for key, n := range v.nodes {
		asOf := v.here(n.at).UTC()
		if now.Sub(asOf) > Keep {
			delete(v.nodes, key)
			continue
		}
		h := render.Host{Name: n.host, User: n.user, AsOf: &asOf, Stale: now.Sub(asOf) > lost}
		remote := render.Remote{Name: n.host, User: n.user, AsOf: asOf, Stale: h.Stale}
		for _, r := range n.Sessions {
			r.Since, r.UpdatedAt = v.here(r.Since), v.here(r.UpdatedAt)
			r.CreatedAt, r.FirstSeen, r.Host, r.Remote = r.Since, r.Since, n.host, &remote
			rows = append(rows, r)
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b render.Host) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.User, b.User))
	})
	return rows, all
}
