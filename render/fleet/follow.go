package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"beckon/render"

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
