// Package feed is what clients follow: a row for each live session, of this machine and of
// others, and the events that change it.
//
// Evidence becomes rows in the board, which belongs to the follower's goroutine, and the board
// publishes what changed.
package feed

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state"
	"beckon/state/store"
)

// Options configure a Feed.
type Options struct {
	Store    *store.Store
	Registry string // the client's registry directory, empty for none
	Meter    Meter
	Timing   Timing
	// Unwatched is set if the system does not report changes of files.
	Unwatched bool
	Log       func(error)
	Queue     render.Queue // the order of rows

	// Seen and Others may be nil; web.Options describes them.
	Seen   func(ctx context.Context, seen []state.Seen, now time.Time)
	Others func(ctx context.Context, show func([]render.Row))
}

// Meter counts what a feed sees and sends.
type Meter interface {
	Line(*store.Line)                       // of history
	Heard(at event.Millis, name string)     // a session's newest event
	Newest() (at event.Millis, name string) // of any session
	Sent(name string)                       // an event of the streams
	Gap()                                   // a stream that got a snapshot instead of events
	Refused(reason string)                  // a stream
}

// Feed follows the sessions. It holds their rows and the newest events. Clients read the events
// from here at their own pace; none has a queue of its own, so a stalled one costs nothing and
// delays nobody.
type Feed struct {
	o     Options
	board *board
	again chan struct{} // this server itself changed offers
	epoch string        // changes with the process, because another one's numbers mean nothing

	mu      sync.RWMutex
	n       uint64 // number of the newest event
	ring    [window]message
	rows    map[string]*shown // by seat, else by session
	offers  map[string]offerNews
	away    *Away
	at      time.Time     // of the evidence behind rows
	wake    chan struct{} // closed when something was published
	clients int
}

// New returns a feed that has read nothing yet.
func New(o Options) *Feed {
	f := &Feed{
		o:      o,
		epoch:  rand.Text()[:8],
		rows:   map[string]*shown{},
		offers: map[string]offerNews{},
		wake:   make(chan struct{}),
		again:  make(chan struct{}, 1),
	}
	f.board = newBoard(f)
	return f
}

// Start reads all sessions and offers, before any request is served.
func (f *Feed) Start() error {
	if err := f.board.start(); err != nil {
		return err
	}
	f.lookAtOffers()
	return nil
}

// Run keeps the feed current until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { f.board.run(ctx) })
	work.Go(func() { f.followOffers(ctx) })
	if f.o.Others != nil {
		work.Go(func() { f.o.Others(ctx, f.others) })
	}
}

// Touch says that this server has changed a session.
func (f *Feed) Touch() { f.board.follow.Touch() }

// Watching reports whether the system reports changes of files. If not, polling is the time
// between two looks.
func (f *Feed) Watching() (watching bool, polling time.Duration) { return f.board.follow.Watching() }

// Sweeps returns how often the transcripts were read, and when last, zero for never.
func (f *Feed) Sweeps() (runs int64, last event.Millis) {
	return f.board.sweep.runs.Load(), event.Millis(f.board.sweep.last.Load())
}

// Timing is how often the server checks what nothing reports. Zero values are the defaults.
type Timing struct {
	Recheck time.Duration // of processes, registry and the live directory: 1 s
	Poll    time.Duration // of session files when the system reports no changes and a stream is open: 30 ms
	Hooks   time.Duration // of transcripts, while hooks are active: 60 s
	Silent  time.Duration // of transcripts, when hooks are silent: 2 s
	Silence time.Duration // without an event for this long, hooks count as silent: 300 s
	Beat    time.Duration // a comment on an event stream without events: 15 s
}

// OrDefault returns t with the defaults for what is zero.
func (t Timing) OrDefault() Timing {
	return Timing{
		Recheck: cmp.Or(t.Recheck, time.Second),
		Poll:    cmp.Or(t.Poll, 30*time.Millisecond),
		Hooks:   cmp.Or(t.Hooks, 60*time.Second),
		Silent:  cmp.Or(t.Silent, 2*time.Second),
		Silence: cmp.Or(t.Silence, 300*time.Second),
		Beat:    cmp.Or(t.Beat, 15*time.Second),
	}
}
