package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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

// follower keeps a view of a fleet current.
type follower struct {
	credential Credential
	nc         *nats.Conn
	js         jetstream.JetStream
	wake       chan struct{} // the connection was made or lost
	clock      func() time.Time

	mu      sync.Mutex
	view    *view
	shown   Shown
	changed bool
}

// Follow calls show with the fleet, now and whenever it changes, until ctx ends. An error is one of
// the credential; it waits for a server that is away.
func Follow(ctx context.Context, a Credential, name string, show func(Shown)) error {
	begun := time.Now()
	// Changes of the clock while the program runs do not matter.
	return follow(ctx, a, name, func() time.Time { return begun.Round(0).Add(time.Since(begun)) }, show)
}

func follow(ctx context.Context, a Credential, name string, clock func() time.Time, show func(Shown)) error {
	f := &follower{credential: a, wake: make(chan struct{}, 1), clock: clock, view: newView()}
	var err error
	if f.nc, err = dial(a, name, f.wake); err != nil {
		return err
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	defer f.nc.Close()
	if f.js, err = jetstream.New(f.nc); err != nil {
		return err
	}
	reading.Go(func() { f.run(ctx) })
	tick := time.NewTicker(screenPause)
	defer tick.Stop()
	var last time.Time // of the last view
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			if s, is := f.next(now.Sub(last) > look); is {
				last = now
				show(s)
			}
		}
	}
}

// next returns the present view if it has changed, or if it is due.
func (f *follower) next(due bool) (Shown, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.changed && !due {
		return Shown{}, false
	}
	f.changed = false
	f.shown.Rows, f.shown.Hosts = f.view.snapshot(f.clock())
	return f.shown, true
}

// run reads everything and then the changes, and again after each failure or lost connection,
// until ctx ends.
func (f *follower) run(ctx context.Context) {
	for try := 0; ; try++ {
		before := f.nc.Stats().Reconnects
		whole, err := f.read(ctx)
		f.fail(err)
		if whole || f.nc.Stats().Reconnects != before {
			try = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		case <-time.After(backOff(try)):
		}
	}
}

func (f *follower) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed = true
	switch {
	case !f.nc.IsConnected():
		f.shown.Err = away(f.credential, f.nc)
	case !errors.Is(err, context.Canceled): // a new connection
		f.shown.Err = fmt.Errorf("watching %s: %w", f.credential.URL, err)
	}
}

// read reads everything, then the changes, until the connection is lost or something else fails. It
// reports whether it had everything.
func (f *follower) read(ctx context.Context) (whole bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	reading := f.nc.Stats().Reconnects
	go func() {
		defer stop()
		for f.nc.IsConnected() && f.nc.Stats().Reconnects == reading { // else it may be another server
			select {
			case <-f.wake:
			case <-ctx.Done():
				return
			}
		}
	}()
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
		return false, errNoBucket
	} else if err != nil {
		return whole, err
	}
	values, err := c.Messages(jetstream.PullMaxMessages(1000))
	if err != nil {
		return whole, err
	}
	defer values.Stop()
	v, info := newView(), c.CachedInfo()
	v.serverTime(info.TimeStamp, f.clock())
	whole = info.NumPending == 0
	for n := uint64(1); ; n++ {
		if whole {
			f.show(v)
		}
		m, err := values.Next(jetstream.NextContext(ctx))
		if err != nil {
			return whole, err
		}
		meta, err := m.Metadata()
		if err != nil || meta.Sequence.Consumer != n {
			return whole, errors.New("values were lost")
		}
		f.take(v, m, meta)
		whole = whole || meta.NumPending == 0
	}
}

// show replaces the view by one that is whole.
func (f *follower) show(v *view) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.view != v {
		f.view, f.changed = v, true
		f.shown.Whole, f.shown.Err = true, nil
	}
}

// take applies one value to a view.
func (f *follower) take(v *view, m jetstream.Msg, meta *jetstream.MsgMetadata) {
	op := m.Headers().Get("KV-Operation")
	gone := op != "" && op != "PUT" || m.Headers().Get("Nats-Marker-Reason") != ""
	value := message{strings.TrimPrefix(m.Subject(), subjects), m.Data(), gone}
	f.mu.Lock()
	defer f.mu.Unlock()
	if v.apply(value, meta.Timestamp, f.clock()) && v == f.view {
		f.changed = true
	}
}
