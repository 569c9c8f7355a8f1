package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"beckon/render"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Follower keeps a view of a fleet current. Its methods are safe for concurrent use.
type Follower struct {
	credential Credential
	nc         *nats.Conn
	js         jetstream.JetStream
	wake       chan struct{}
	begun      time.Time
	end        context.CancelFunc
	running    sync.WaitGroup

	mu      sync.Mutex
	view    *view
	loading *view // what is being read from the beginning; it becomes the view once it is whole
	err     error // why there is no news
	changed chan struct{}
}

// Follow follows until ctx ends; the caller must Close it.
func Follow(ctx context.Context, a Credential, name string) (*Follower, error) {
	f := &Follower{
		credential: a,
		wake:       make(chan struct{}, 1),
		begun:      time.Now(),
		view:       newView(),
		loading:    newView(),
		changed:    make(chan struct{}),
	}
	var err error
	if f.nc, err = dial(a, name, f.wake); err != nil {
		return nil, err
	}
	if f.js, err = jetstream.New(f.nc); err != nil {
		f.nc.Close()
		return nil, err
	}
	ctx, f.end = context.WithCancel(ctx)
	f.running.Go(func() { f.run(ctx) })
	return f, nil
}

// Close ends the following, and the connection.
func (f *Follower) Close() {
	f.end()
	f.running.Wait()
	f.nc.Close()
}

// now returns this machine's time, unaffected by changes of the clock while the program runs.
func (f *Follower) now() time.Time { return f.begun.Round(0).Add(time.Since(f.begun)) }

// Snapshot returns the known rows and hosts, and why there are no updates.
func (f *Follower) Snapshot() ([]render.Row, []render.Host, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rows, hosts := f.view.snapshot(f.now())
	return rows, hosts, f.err
}

// Whole returns when all initial values of the server have arrived, or with the reason why
// not.
func (f *Follower) Whole(ctx context.Context) error {
	for {
		f.mu.Lock()
		whole, err, changed := f.loading == nil, f.err, f.changed
		f.mu.Unlock()
		if whole {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if err == nil {
				err = fmt.Errorf("no answer of %s", f.credential.URL)
			}
			return err
		}
	}
}

// Changed returns a channel that is closed when there is a change.
func (f *Follower) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// news wakes all waiters.
func (f *Follower) news() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *Follower) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	f.news()
}

// run reads everything, then the changes, and everything again after the connection was lost
// or something seems lost.
func (f *Follower) run(ctx context.Context) {
	for try := 0; ctx.Err() == nil; try++ {
		began := time.Now()
		err := f.watch(ctx)
		switch {
		case ctx.Err() != nil:
		case !f.nc.IsConnected():
			f.fail(away(f.credential, f.nc))
		case err != nil:
			f.fail(fmt.Errorf("watching %s: %w", f.credential.URL, err))
		}
		if time.Since(began) > time.Minute {
			try = 0
		}
		select {
		case <-ctx.Done():
		case <-f.wake:
		case <-time.After(backOff(try)):
		}
	}
}

// inactive is when the server forgets a viewer that has gone.
const inactive = 30 * time.Second

// errNoBucket means that the server is there, and nobody publishes yet.
var errNoBucket = errors.New("nothing has been published yet, or this access may not see it")

// watch reads everything and then the changes, until something may be missing.
func (f *Follower) watch(ctx context.Context) error {
	connection := f.nc.Stats().Reconnects
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
	f.mu.Lock()
	f.loading = newView()
	f.loading.lost = f.view.lost
	f.loading.serverTime(info.TimeStamp, f.now())
	if info.NumPending == 0 {
		f.isWhole()
	}
	f.mu.Unlock()
	lost := make(chan error, 1)
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
	consuming, err := c.Consume(f.take, jetstream.PullMaxMessages(1000), jetstream.ConsumeErrHandler(failed))
	if err != nil {
		return err
	}
	defer consuming.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-consuming.Closed():
			return errors.New("the server ended it")
		case err := <-lost:
			return err
		case <-f.wake: // what was missed is read again; a new connection may lead to another server
			if !f.nc.IsConnected() || f.nc.Stats().Reconnects != connection {
				return nil
			}
		case <-time.After(Beat / 3):
			f.mu.Lock()
			silent := f.now().Sub(f.view.last) > Lost // it may be dead
			f.mu.Unlock()
			if silent {
				return nil
			}
		}
	}
}

// isWhole shows what was read.
func (f *Follower) isWhole() {
	f.view, f.loading, f.err = f.loading, nil, nil
	f.news()
}

// take applies one value.
func (f *Follower) take(m jetstream.Msg) {
	meta, err := m.Metadata()
	if err != nil || len(m.Subject()) < len(subjects) {
		return
	}
	op := m.Headers().Get("KV-Operation")
	gone := op != "" && op != "PUT" || m.Headers().Get("Nats-Marker-Reason") != ""
	value := message{m.Subject()[len(subjects):], m.Data(), gone}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.loading != nil {
		if f.loading.apply(value, meta.Timestamp, f.now()); meta.NumPending == 0 {
			f.isWhole()
		}
		return
	}
	if f.view.apply(value, meta.Timestamp, f.now()) {
		f.news()
	}
}
