package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// follower keeps a view of a fleet current.
type follower struct {
	credential Credential
	nc         *nats.Conn
	js         jetstream.JetStream
	wake       chan struct{}
	clock      func() time.Time

	view    *view
	loading *view // what is being read from the beginning; it becomes the view once it is whole
	shown   Shown
	changed bool
	stop    func() // ends the reading; nil while there is none
	values  chan jetstream.Msg
	lost    chan error // the reading ended
	reading uint64     // the number of the connection that is read from
}

// Follow calls show with the fleet, now and whenever it changes, until ctx ends. An error is one of
// the credential; it waits for a server that is away.
func Follow(ctx context.Context, a Credential, name string, show func(Shown)) error {
	begun := time.Now()
	// Changes of the clock while the program runs do not matter.
	return follow(ctx, a, name, func() time.Time { return begun.Round(0).Add(time.Since(begun)) }, show)
}

func follow(ctx context.Context, a Credential, name string, clock func() time.Time, show func(Shown)) error {
	f := &follower{credential: a, wake: make(chan struct{}, 1), clock: clock, view: newView(), loading: newView()}
	var err error
	if f.nc, err = dial(a, name, f.wake); err != nil {
		return err
	}
	defer f.nc.Close()
	if f.js, err = jetstream.New(f.nc); err != nil {
		return err
	}
	f.run(ctx, show)
	return nil
}

// run reads everything, then the changes, and everything again after the connection was lost
// or something seems lost.
func (f *follower) run(ctx context.Context, show func(Shown)) {
	tick := time.NewTicker(screenPause)
	defer tick.Stop()
	var next, last time.Time // of the next try, and of the last view
	for try := 0; ; {
		now := time.Now()
		if f.stop == nil && !now.Before(next) {
			if err := f.begin(ctx); err != nil {
				f.fail(err)
				next = time.Now().Add(backOff(try))
				try++
			}
		}
		select {
		case <-ctx.Done():
			f.end()
			return
		case m := <-f.values:
			f.take(m)
			try = 0
		case err := <-f.lost:
			f.end()
			f.fail(err)
			next = now.Add(backOff(try))
		case <-f.wake: // what was missed is read again; a new connection may lead to another server
			next = now
			if !f.nc.IsConnected() || f.nc.Stats().Reconnects != f.reading {
				f.end()
			}
			if !f.nc.IsConnected() {
				f.fail(nil)
			}
		case <-tick.C:
			if f.stop != nil && f.clock().Sub(cmp.Or(f.loading, f.view).last) > Lost { // it may be dead
				f.end()
			}
			if f.changed || now.Sub(last) > look {
				f.changed, last = false, now
				f.shown.Rows, f.shown.Hosts = f.view.snapshot(f.clock())
				show(f.shown)
			}
		}
	}
}

func (f *follower) fail(err error) {
	f.changed = true
	if f.nc.IsConnected() {
		f.shown.Err = fmt.Errorf("watching %s: %w", f.credential.URL, err)
	} else {
		f.shown.Err = away(f.credential, f.nc)
	}
}

func (f *follower) end() {
	if f.stop != nil {
		f.stop()
	}
	f.stop, f.values, f.lost = nil, nil, nil
}

// inactive is when the server forgets a viewer that has gone.
const inactive = 30 * time.Second

// errNoBucket means that the server is there, and nobody publishes yet.
var errNoBucket = errors.New("nothing has been published yet, or this access may not see it")

// begin begins to read everything, and then the changes.
func (f *follower) begin(ctx context.Context) error {
	f.reading = f.nc.Stats().Reconnects
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := f.js.OrderedConsumer(asking, stream, jetstream.OrderedConsumerConfig{
		FilterSubjects:    []string{subjects + ">"},
		DeliverPolicy:     jetstream.DeliverLastPerSubjectPolicy,
		InactiveThreshold: inactive,
		MaxResetAttempts:  1,
	})
	if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, nats.ErrNoResponders) {
		return errNoBucket
	} else if err != nil {
		return err
	}
	info := c.CachedInfo()
	f.loading = newView()
	f.loading.serverTime(info.TimeStamp, f.clock())
	if info.NumPending == 0 {
		f.whole()
	}
	values, lost, done := make(chan jetstream.Msg), make(chan error, 1), make(chan struct{})
	failed := func(_ jetstream.ConsumeContext, err error) {
		for _, final := range []error{jetstream.ErrConsumerDeleted, jetstream.ErrConsumerNotFound, jetstream.ErrNoHeartbeat} {
			if errors.Is(err, final) {
				select {
				case lost <- err:
				default:
				}
			}
		}
	}
	pass := func(m jetstream.Msg) {
		select {
		case values <- m:
		case <-done:
		}
	}
	consuming, err := c.Consume(pass, jetstream.PullMaxMessages(1000), jetstream.ConsumeErrHandler(failed))
	if err != nil {
		return err
	}
	f.values, f.lost = values, lost
	f.stop = func() {
		close(done)
		consuming.Stop()
	}
	return nil
}

// whole shows what was read.
func (f *follower) whole() {
	f.view, f.loading, f.changed = f.loading, nil, true
	f.shown.Whole, f.shown.Err = true, nil
}

// take applies one value.
func (f *follower) take(m jetstream.Msg) {
	meta, err := m.Metadata()
	if err != nil || len(m.Subject()) < len(subjects) {
		return
	}
	op := m.Headers().Get("KV-Operation")
	gone := op != "" && op != "PUT" || m.Headers().Get("Nats-Marker-Reason") != ""
	value := message{m.Subject()[len(subjects):], m.Data(), gone}
	if f.loading == nil {
		f.changed = f.view.apply(value, meta.Timestamp, f.clock()) || f.changed
		return
	}
	if f.loading.apply(value, meta.Timestamp, f.clock()); meta.NumPending == 0 {
		f.whole()
	}
}
