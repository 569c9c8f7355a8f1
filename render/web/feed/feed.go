// Package feed is what clients follow: a row for each live session, of this machine and of
// others, and the events that change it.
//
// Evidence becomes rows in the board, which belongs to the follower's goroutine. The hub holds
// the rows and the newest events, and streams read from it at their own pace.
package feed

import (
	"context"
	"sync"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/web/meter"
	"beckon/state"
	"beckon/state/live"
	"beckon/state/store"
)

// Options configure a Feed.
type Options struct {
	Store    *store.Store
	Registry string // the client's registry directory, empty for none
	Meter    *meter.Meter
	Wakes    *live.Wakes
	Timing   Timing
	// Unwatched is set if the system does not report changes of files.
	Unwatched bool
	Log       func(error)

	// Seen and Others may be nil; web.Options describes them.
	Seen   func(ctx context.Context, seen []state.Seen, now time.Time)
	Others func(ctx context.Context, show func([]render.Row))
}

// Feed follows the sessions, and serves what it found to any number of clients.
type Feed struct {
	o     Options
	hub   *hub
	board *board
	open  *openOffers
}

// New returns a feed that has read nothing yet.
func New(o Options) *Feed {
	f := &Feed{o: o, hub: newHub(o.Meter)}
	f.board = newBoard(&f.o, f.hub)
	f.open = &openOffers{o: &f.o, hub: f.hub, again: make(chan struct{}, 1)}
	return f
}

// Start reads all sessions and offers, before any request is served.
func (f *Feed) Start() error {
	if err := f.board.start(); err != nil {
		return err
	}
	f.open.look()
	return nil
}

// Run keeps the feed current until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { f.board.run(ctx) })
	work.Go(func() { f.open.run(ctx) })
	if f.o.Others != nil {
		work.Go(func() { f.o.Others(ctx, f.hub.others) })
	}
}

// List returns the rows that wants accepts, in the format of `list --json`.
func (f *Feed) List(wants Filter) render.List { return f.hub.list(wants) }

// Find returns this machine's row of a record, a session or a seat.
func (f *Feed) Find(id string) (render.Row, bool) { return f.hub.find(id) }

// Elsewhere returns the row of another machine's session, by its seat or, without one, its
// record.
func (f *Feed) Elsewhere(host, id string) (render.Row, bool) { return f.hub.elsewhere(host, id) }

// Clients returns how many streams are open.
func (f *Feed) Clients() int { return f.hub.count() }

// Touch says that this server has changed a session.
func (f *Feed) Touch(k store.Key) { f.board.follow.Touch(k) }

// LookAtOffers says that this server has changed what the open offers are shown with.
func (f *Feed) LookAtOffers() { f.open.poke() }

// Watching reports whether the system reports changes of files. If not, polling is the time
// between two looks.
func (f *Feed) Watching() (watching bool, polling time.Duration) { return f.board.follow.Watching() }

// Sweeps returns how often the transcripts were read, and when last, zero for never.
func (f *Feed) Sweeps() (runs int64, last event.Millis) {
	return f.board.sweep.runs.Load(), event.Millis(f.board.sweep.last.Load())
}
