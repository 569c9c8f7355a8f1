package tui

import (
	"context"
	"reflect"
	"sync"
	"time"

	"beckon/render"

	tea "charm.land/bubbletea/v2"
	"github.com/fsnotify/fsnotify"
)

// Times of the follower.
const (
	settle    = 3 * time.Millisecond   // one fold changes several files
	pause     = 20 * time.Millisecond  // between looks, for changes come in bursts
	recheck   = time.Second            // processes and registry, whatever the system tells
	pollEvery = 500 * time.Millisecond // when the system tells nothing
	askEvery  = 5 * time.Second        // other hosts
	// Looks take at most one part of idleShare of the time, however fast things
	// change.
	idleShare = 4
)

// follower looks when something changed, and once a second, and sends what is
// new to the screen.
type follower struct {
	opt  Options
	send func(tea.Msg)
	want chan struct{}
	last Snapshot
	sent bool
	took time.Duration // by a look, on average of late
	done time.Time     // when the last one was over
}

func newFollower(opt Options, send func(tea.Msg)) *follower {
	return &follower{opt: opt, send: send, want: make(chan struct{}, 1)}
}

// poke asks for a look soon; it never blocks.
func (f *follower) poke() {
	select {
	case f.want <- struct{}{}:
	default:
	}
}

// run follows until ctx ends. All goroutines it starts have ended by then.
func (f *follower) run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, s := range f.opt.Sources {
		all.Go(func() { followSource(ctx, s, f.send) })
	}
	w := watchDirs(f.opt)
	defer w.close()
	every := recheck
	if w.w == nil {
		every = pollEvery
	}
	again := time.NewTicker(every)
	defer again.Stop()
	var burst <-chan time.Time // set while a burst settles
	f.look()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.want:
			f.look()
		case <-again.C:
			w.retry()
			f.look()
			burst = nil
		case _, ok := <-w.events():
			if !ok {
				w.lost()
				again.Reset(pollEvery)
			} else if burst == nil {
				burst = time.After(f.soon(time.Now()))
			}
		case <-w.errors():
		case <-burst:
			burst = nil
			f.look()
		}
	}
}

// soon is how long to wait before the look that a change asks for: next to
// nothing after a quiet while.
func (f *follower) soon(now time.Time) time.Duration {
	return max(settle, f.done.Add(max(pause, idleShare*f.took)).Sub(now))
}

// look looks once and tells the screen, if anything is new.
func (f *follower) look() {
	began := time.Now()
	s, err := f.opt.Look()
	f.done = time.Now()
	f.took += (f.done.Sub(began) - f.took) / 4 // one look that was held up must not hold up the next
	if err == nil && f.sent && sameSnapshot(&f.last, &s) {
		return
	}
	if f.sent = err == nil; f.sent {
		f.last = s
	}
	f.send(lookMsg{s, err})
}

// sameSnapshot reports whether b shows what a shows. The time alone, unless it
// stands still, is nothing new.
func sameSnapshot(a, b *Snapshot) bool {
	if len(a.Rows) != len(b.Rows) || a.Problem != b.Problem || a.Still != b.Still || a.Still && !a.Now.Equal(b.Now) {
		return false
	}
	for i := range a.Rows {
		id := a.Rows[i].Record()
		x, y := a.Seen[id], b.Seen[id]
		if x.Session.Seq != y.Session.Seq || x.Session.ID != y.Session.ID || !reflect.DeepEqual(a.Rows[i], b.Rows[i]) {
			return false
		}
	}
	return true
}

// dirs watches directories as far as the system can.
type dirs struct {
	w    *fsnotify.Watcher // nil when there is none
	want []string
	have map[string]bool
}

func watchDirs(opt Options) *dirs {
	d := &dirs{want: opt.Dirs, have: map[string]bool{}}
	if opt.Poll || len(opt.Dirs) == 0 {
		return d
	}
	// No watcher (too many, a file system without) leaves the look every while.
	d.w, _ = fsnotify.NewWatcher()
	d.retry()
	return d
}

// retry adds directories that were not there, or went and came back.
func (d *dirs) retry() {
	if d.w == nil {
		return
	}
	clear(d.have)
	for _, p := range d.w.WatchList() {
		d.have[p] = true
	}
	for _, p := range d.want {
		if p != "" && !d.have[p] {
			_ = d.w.Add(p)
		}
	}
}

// events is a channel that never gives anything when there is no watcher.
func (d *dirs) events() <-chan fsnotify.Event {
	if d.w == nil {
		return nil
	}
	return d.w.Events
}

// errors is the same for errors. What they say (an overflow) is found out by
// the next look; unread they would hold the watcher up.
func (d *dirs) errors() <-chan error {
	if d.w == nil {
		return nil
	}
	return d.w.Errors
}

// lost is called when the watcher ended by itself.
func (d *dirs) lost() { d.close(); d.w = nil }

func (d *dirs) close() {
	if d.w != nil {
		_ = d.w.Close()
	}
}

// followSource asks one host again and again.
func followSource(ctx context.Context, s Source, send func(tea.Msg)) {
	every := s.Every
	if every <= 0 {
		every = askEvery
	}
	for {
		send(askSource(ctx, s))
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

func askSource(ctx context.Context, s Source) sourceMsg {
	rows, err := s.Rows(ctx)
	return sourceMsg{name: s.Name, rows: append([]render.Row(nil), rows...), at: time.Now(), err: err}
}
