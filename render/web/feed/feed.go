// Package feed is what clients follow: a row for each live session, of this machine and of
// others, and the events that change it.
package feed

import (
	"cmp"
	"context"
	"crypto/rand"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state"
	"beckon/state/history"
	"beckon/state/live"
	"beckon/state/store"
)

// Options configure a Feed.
type Options struct {
	Store     *store.Store
	Registry  string // the client's registry directory, empty for none
	Meter     *Meter
	Timing    Timing
	Unwatched bool         // the system does not report changes of files, so they are polled
	Log       func(error)  // is called with errors, which contain no payload text
	Queue     render.Queue // the order of rows

	// Seen, unless it is nil, is called with the live sessions, every Timing.Recheck, one call at a
	// time. It must not change its argument.
	Seen func(ctx context.Context, seen []state.Seen, now time.Time)
	// Others, unless it is nil, calls show with the rows of other machines, now and whenever they
	// change, until its context ends.
	Others func(ctx context.Context, show func([]render.Row))
}

// Feed follows the sessions. It holds their rows and the newest events. Clients read the events
// from here at their own pace; none has a queue of its own, so a stalled one costs nothing and
// delays nobody.
type Feed struct {
	*live.Follower // Touch says that this server has changed a session
	o              Options
	again          chan struct{} // this server itself changed requests
	epoch          string        // changes with the process, because another one's numbers mean nothing

	handing, sweeping atomic.Bool  // Options.Seen runs, transcripts are read
	sweptAt, sweeps   atomic.Int64 // when all transcripts were last read (Unix ms), and how often

	// These belong to the follower's goroutine.
	begun       event.Millis // of the first look, 0 during it: what is older was published before
	tail        *store.Tail
	heard       map[store.Key]*heard
	cards       map[store.Key]card
	transcripts *history.Sweeper // of the present sweep

	mu       sync.RWMutex
	n        uint64 // number of the newest event
	ring     [window]message
	rows     map[string]*shown // as they were published, by keyOf
	requests map[string]requestNews
	away     *Away
	at       time.Time     // of the evidence behind rows
	wake     chan struct{} // closed when something was published
	clients  int
}

// New returns a feed that has read nothing yet.
func New(o Options) *Feed {
	f := &Feed{
		o:           o,
		epoch:       rand.Text()[:8],
		rows:        map[string]*shown{},
		requests:    map[string]requestNews{},
		cards:       map[store.Key]card{},
		heard:       map[store.Key]*heard{},
		wake:        make(chan struct{}),
		again:       make(chan struct{}, 1),
		transcripts: history.NewSweeper(o.Store),
	}
	f.Follower = live.NewFollower(live.NewReader(o.Store, o.Registry), live.Options{
		Recheck: o.Timing.Recheck,
		Poll: func() time.Duration {
			if f.Clients() == 0 {
				return max(o.Timing.Poll, pollIdle)
			}
			return o.Timing.Poll
		},
		Blind: o.Unwatched,
	})
	return f
}

// Start reads all sessions and requests, before any request is served. What their history contains
// already is not published.
func (f *Feed) Start() error {
	if err := os.MkdirAll(f.o.Store.SessionsDir(), 0o700); err != nil { // there must be something to watch
		return err
	}
	f.tail = f.o.Store.Tail()
	u, err := f.Look()
	if err != nil {
		return err
	}
	f.take(u)
	f.begun = u.Now
	f.lookAtRequests()
	return nil
}

// Run keeps the feed current until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { f.followRequests(ctx) })
	if f.o.Others != nil {
		work.Go(func() { f.o.Others(ctx, f.others) })
	}
	f.Follower.Run(ctx, func(u live.Update, err error) {
		if err != nil {
			f.o.Log(err)
		}
		f.take(u)
		if u.Rechecked {
			f.sweep(ctx, &work)
			f.hand(ctx, &work, u.Now.Time())
		}
	})
}

// pollIdle is the least time between two looks if nobody listens and the system does not
// report changes.
const pollIdle = 250 * time.Millisecond

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

// The modes of Timing.Hybrid: where events come from.
const (
	ModeHooks   = "hooks_active"
	ModePolling = "polling_fallback"
)

// Hybrid returns how often transcripts are compared with what hooks reported: occasionally
// while hooks arrive, often when they have been silent for longer than t.Silence. last is the
// newest event, zero for none.
func (t Timing) Hybrid(last event.Millis, now time.Time) (mode string, every time.Duration) {
	if last != 0 && now.Sub(last.Time()) <= t.Silence {
		return ModeHooks, t.Hooks
	}
	return ModePolling, t.Silent
}

// Sweeps returns how often the transcripts were read, and when last, zero for never.
func (f *Feed) Sweeps() (runs int64, last event.Millis) {
	return f.sweeps.Load(), event.Millis(f.sweptAt.Load())
}

// spoken is how long after a session's newest event its transcript is read at every look: what
// the agent says before a call is written about when the call's first hook runs, or a moment
// later.
const spoken = 3 * time.Second

// sweep reads all transcripts when that is due, otherwise those of sessions with a recent event,
// in the background. It does not start while another runs.
func (f *Feed) sweep(ctx context.Context, work *sync.WaitGroup) {
	now := time.Now()
	last, _ := f.o.Meter.Newest()
	_, every := f.o.Timing.Hybrid(last, now)
	all := now.Sub(time.UnixMilli(f.sweptAt.Load())) >= every
	var sessions []state.Session
	for _, c := range f.cards {
		if s := &c.seen.Session; all || now.Sub(s.Last.At.Time()) < spoken {
			sessions = append(sessions, *s)
		}
	}
	if len(sessions) == 0 && !all || !f.sweeping.CompareAndSwap(false, true) {
		return
	}
	read := f.transcripts.Some
	if all {
		f.sweptAt.Store(now.UnixMilli())
		f.sweeps.Add(1)
		read = f.transcripts.Sweep
	}
	work.Go(func() {
		defer f.sweeping.Store(false)
		if err := read(ctx, sessions); err != nil {
			f.o.Log(err)
		}
	})
}

// hand passes the live sessions to Options.Seen, in the background.
func (f *Feed) hand(ctx context.Context, work *sync.WaitGroup, now time.Time) {
	if f.o.Seen == nil || !f.handing.CompareAndSwap(false, true) {
		return
	}
	seen := f.Seen()
	work.Go(func() {
		defer f.handing.Store(false)
		f.o.Seen(ctx, seen, now)
	})
}
