package web

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"

	"github.com/fsnotify/fsnotify"
)

// Timing is how often the server looks for what nothing told it. Zero values
// are the defaults.
type Timing struct {
	Recheck time.Duration // of processes, registry and the live directory: 1 s
	Poll    time.Duration // of session files when changes are not told and a stream is open: 30 ms, see poll
	Hooks   time.Duration // of transcripts, while hooks are active: 60 s
	Silent  time.Duration // of transcripts, when hooks are silent: 2 s
	Silence time.Duration // without an event for so long, hooks are silent: 300 s
	Beat    time.Duration // a comment on an event stream that has nothing to tell: 15 s
}

func (t Timing) orDefault() Timing {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&t.Recheck, time.Second)
	def(&t.Poll, 30*time.Millisecond)
	def(&t.Hooks, 60*time.Second)
	def(&t.Silent, 2*time.Second)
	def(&t.Silence, 300*time.Second)
	def(&t.Beat, 15*time.Second)
	return t
}

// todo is what the board has to look at. Anybody may add to it.
type todo struct {
	mu   sync.Mutex
	keys map[store.Key]bool
	all  bool
	wake chan struct{}
}

func newTodo() *todo { return &todo{keys: map[store.Key]bool{}, wake: make(chan struct{}, 1)} }

func (t *todo) add(f func(*todo)) {
	t.mu.Lock()
	f(t)
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// touch has a session looked at, whether or not a watch tells.
func (t *todo) touch(k store.Key) { t.add(func(t *todo) { t.keys[k] = true }) }

func (t *todo) take() (keys []store.Key, all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k := range t.keys {
		keys = append(keys, k)
	}
	all = t.all
	clear(t.keys)
	t.all = false
	return keys, all
}

// run keeps the board current until ctx ends.
func (b *board) run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	w := b.watch(ctx, &work)
	defer w.close()
	recheck := time.NewTicker(b.o.Timing.Recheck)
	defer recheck.Stop()
	again := time.NewTimer(time.Hour)
	defer again.Stop()
	poll := time.NewTimer(0)
	defer poll.Stop()
	if w.watching() {
		poll.Stop()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.todo.wake:
			b.work()
		case <-poll.C:
			poll.Reset(b.poll())
		case <-again.C:
			b.timely()
		case <-recheck.C:
			b.watched(w.retry(), poll)
			b.full()
			b.sweepIfDue(ctx, &work)
			b.hand(ctx, &work)
		}
		b.publish()
		again.Reset(b.untilNext())
	}
}

// soonest is the least time between two looks at what time alone changes.
const soonest = 10 * time.Millisecond

// untilNext is how long nothing changes by time alone.
func (b *board) untilNext() time.Duration {
	wait := event.Millis(time.Hour.Milliseconds())
	sooner := func(v *state.Seen, at event.Millis) {
		if next := v.Next(at); next != 0 {
			wait = min(wait, next-b.now)
		}
	}
	for _, c := range b.cards {
		sooner(&c.seen, c.at)
	}
	for i := range b.bare {
		sooner(&b.bare[i], b.bareAt)
	}
	return max(soonest, time.Duration(wait)*time.Millisecond)
}

// timely looks again at what time alone may have changed.
func (b *board) timely() {
	b.tick()
	due := func(v *state.Seen, at event.Millis) bool {
		next := v.Next(at)
		return next != 0 && next <= b.now
	}
	for _, c := range b.cards {
		if due(&c.seen, c.at) {
			b.recheckCard(c)
		}
	}
	if slices.ContainsFunc(b.bare, func(v state.Seen) bool { return due(&v, b.bareAt) }) {
		b.recheckBare()
	}
}

// hand gives what is live to whoever wants it, beside the board: what that
// takes holds up no stream.
func (b *board) hand(ctx context.Context, work *sync.WaitGroup) {
	if b.o.Seen == nil || !b.handing.CompareAndSwap(false, true) {
		return
	}
	seen := append(make([]state.Seen, 0, len(b.cards)+len(b.bare)), b.bare...)
	for _, c := range b.cards {
		seen = append(seen, c.seen)
	}
	now := b.at()
	work.Go(func() {
		defer b.handing.Store(false)
		b.o.Seen(ctx, seen, now)
	})
}

// watched notes whether changes are told, and polls when they no longer are.
func (b *board) watched(now bool, poll *time.Timer) {
	if was := b.meter.watching.Swap(now); was == now {
		return
	}
	poll.Stop()
	if !now {
		poll.Reset(0)
	}
}

// Polling takes a share of the time: pollShare times as long as a look took
// passes before the next, so that slow disks and many sessions are looked at
// less often. Of two looks the shorter counts: one that was interrupted says
// nothing of the disk. Where nobody listens there is no haste.
const (
	pollShare = 5
	pollIdle  = 250 * time.Millisecond
)

// poll looks for what changed and returns when to look again.
func (b *board) poll() time.Duration {
	start := time.Now()
	b.scan()
	took := time.Since(start)
	every := max(b.o.Timing.Poll, pollShare*min(took, b.scanned))
	b.scanned = took
	if b.hub.count() == 0 {
		every = max(every, pollIdle)
	}
	b.meter.polled.Store(int64(every))
	return every
}

// work does what is on the list.
func (b *board) work() {
	keys, everything := b.todo.take()
	if everything {
		b.full()
		return
	}
	b.refresh(keys)
}

// full looks at everything.
func (b *board) full() {
	b.look()
	b.scan()
	b.recheck()
	_ = b.o.Store.Prune(b.at())
}

// watcher tells of changed files, where the system does.
type watcher struct {
	w    *fsnotify.Watcher
	dirs []string
	on   map[string]bool
}

// watch starts to follow the directories. Where that is not possible the board
// polls.
func (b *board) watch(ctx context.Context, work *sync.WaitGroup) *watcher {
	w := &watcher{dirs: []string{b.o.Store.SessionsDir(), b.o.Store.Dir}, on: map[string]bool{}}
	if b.o.Registry != "" {
		w.dirs = append(w.dirs, b.o.Registry)
	}
	if b.o.Unwatched {
		return w
	}
	n, err := fsnotify.NewWatcher()
	if err != nil {
		b.o.Log(err)
		return w
	}
	w.w = n
	w.retry()
	b.meter.watching.Store(w.watching())
	work.Go(func() { b.listen(ctx, n) })
	b.todo.add(func(t *todo) { t.all = true }) // what changed before it watched
	return w
}

// watching reports whether changes of session files are told.
func (w *watcher) watching() bool { return w.w != nil && w.on[w.dirs[0]] }

// retry watches the directories that were not there before, or were removed.
func (w *watcher) retry() bool {
	if w.w == nil {
		return false
	}
	clear(w.on)
	for _, d := range w.w.WatchList() {
		w.on[d] = true
	}
	for _, d := range w.dirs {
		if !w.on[d] && w.w.Add(d) == nil {
			w.on[d] = true
		}
	}
	return w.watching()
}

func (w *watcher) close() {
	if w.w != nil {
		_ = w.w.Close()
	}
}

// listen turns what the system tells into work.
func (b *board) listen(ctx context.Context, n *fsnotify.Watcher) {
	sessions := b.o.Store.SessionsDir()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-n.Events:
			if !ok {
				return
			}
			b.changed(sessions, e.Name)
		case _, ok := <-n.Errors: // too many at once: some were not told
			if !ok {
				return
			}
			b.todo.add(func(t *todo) { t.all = true })
		}
	}
}

func (b *board) changed(sessions, path string) {
	dir, name := filepath.Split(path)
	switch filepath.Clean(dir) {
	case sessions:
		if k, ok := store.KeyOfFile(name); ok {
			b.todo.touch(k)
		}
	case filepath.Clean(b.o.Registry):
		b.todo.add(func(t *todo) { t.all = true })
	default: // the state directory itself
		if name == evidence.StagedFile || path == sessions {
			b.todo.add(func(t *todo) { t.all = true })
		}
	}
}
