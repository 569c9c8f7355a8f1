package live

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"
)

// Options configure a Follower. Zero values are the defaults.
type Options struct {
	Recheck time.Duration        // between checks of processes and files whose changes nothing reports: 1 s
	Poll    func() time.Duration // the least time between looks if the system reports no changes: 500 ms
	Pause   time.Duration        // the least time between updates, for a caller that draws a screen: none
	Blind   bool                 // do not ask the system to report changes
}

// Follower keeps a snapshot current. Where the system reports changed files it waits for that,
// elsewhere it polls. It checks processes, and what changes with time alone, when that is due.
type Follower struct {
	o     Options
	r     *Reader
	index *store.Index

	now      event.Millis
	known    readings
	entries  map[store.Key]*entry
	unhooked map[int]*entry // known only to the client's registry, by pid
	problems []store.Problem

	all       bool      // the current look is at everything, changed or not
	thorough  time.Time // when the last such look was
	changed   map[store.Key]*entry
	gone      map[store.Key]bool
	rechecked bool

	todo     *todo
	dirs     dirs
	watching atomic.Bool
	polling  atomic.Int64  // a time.Duration
	scanned  time.Duration // how long the last poll took
}

// entry is one session.
type entry struct {
	key     store.Key
	seen    state.Seen
	session state.Session // as its file has it, without what evidence adds
	at      event.Millis  // when it was seen so
	open    bool          // its files may change at any time
	reading evidence.Reading
	several bool // see lone
}

// Update is what changed since the previous update.
type Update struct {
	Now       event.Millis
	Changed   []state.Seen    // new, or not as before
	Gone      []store.Key     // archived, or removed
	Problems  []store.Problem // all sessions that cannot be read now
	Staged    bool            // the evidence, and so the time, is from a recording
	Rechecked bool            // processes were checked, as they are every Options.Recheck
}

// NewFollower returns a follower of r's sessions; r must not be used any more. It has seen
// nothing yet.
func NewFollower(r *Reader, o Options) *Follower {
	if o.Recheck <= 0 {
		o.Recheck = time.Second
	}
	if o.Poll == nil {
		o.Poll = func() time.Duration { return 500 * time.Millisecond }
	}
	f := &Follower{o: o, r: r, index: r.st.Index(), entries: map[store.Key]*entry{}, todo: newTodo(),
		changed: map[store.Key]*entry{}, gone: map[store.Key]bool{}}
	f.dirs.want = []string{r.st.SessionsDir(), r.st.Dir}
	if r.registry != "" {
		f.dirs.want = append(f.dirs.want, r.registry)
	}
	return f
}

// Touch schedules a look at a session, whether or not the system reports a change. It is safe
// for concurrent use.
func (f *Follower) Touch(k store.Key) { f.todo.add(func(t *todo) { t.keys[k] = true }) }

// TouchAll schedules a look at everything.
func (f *Follower) TouchAll() { f.todo.add(func(t *todo) { t.all = true }) }

// Watching reports whether the system reports changes. If not, polling is the time between two
// looks.
func (f *Follower) Watching() (watching bool, polling time.Duration) {
	return f.watching.Load(), time.Duration(f.polling.Load())
}

// Seen returns every session, those without hooks last. Call it only while handling an update.
func (f *Follower) Seen() []state.Seen {
	seen := make([]state.Seen, 0, len(f.entries)+len(f.unhooked))
	for _, k := range slices.Sorted(maps.Keys(f.entries)) {
		seen = append(seen, f.entries[k].seen)
	}
	for _, pid := range slices.Sorted(maps.Keys(f.unhooked)) {
		seen = append(seen, f.unhooked[pid].seen)
	}
	return seen
}

// Look looks at everything, and returns what changed. It is for the first look, before Run.
func (f *Follower) Look() (Update, error) {
	err := f.lookAtAll()
	return f.take(), err
}

// Run calls each with every update, and with the error of a look that failed, until ctx ends.
func (f *Follower) Run(ctx context.Context, each func(Update, error)) {
	var work sync.WaitGroup
	defer work.Wait()
	defer f.dirs.close()
	if !f.o.Blind {
		f.listen(ctx, &work)
	}
	recheck := time.NewTicker(f.o.Recheck)
	defer recheck.Stop()
	due := time.NewTimer(time.Hour) // of what changes with time alone, or is held back
	defer due.Stop()
	poll := time.NewTimer(0)
	defer poll.Stop()
	if f.watching.Load() {
		poll.Stop()
	}
	pace := pace{pause: f.o.Pause}
	pacing := false
	for {
		var look func() error
		polled := false
		select {
		case <-ctx.Done():
			return
		case <-f.todo.wake:
			if !f.watching.Load() {
				f.watched(poll) // a directory that was reported may need watching
			}
			if wait := pace.wait(time.Now()); wait > 0 {
				if !pacing {
					pacing = true
					due.Reset(wait)
				}
				continue
			}
		case <-due.C:
			look = f.timely
		case <-poll.C:
			look, polled = f.scan, true
		case <-recheck.C:
			f.watched(poll)
			look = f.recheck
		}
		began := time.Now()
		err := f.work()
		if look != nil {
			err = errors.Join(err, look())
		}
		if polled {
			poll.Reset(f.pollAgain(time.Since(began)))
		}
		pace.did(began)
		pacing = false
		if u := f.take(); err != nil || u.Rechecked || len(u.Changed)+len(u.Gone) > 0 {
			each(u, err)
		}
		due.Reset(f.untilNext())
	}
}

// take returns the current update, and begins the next.
func (f *Follower) take() Update {
	u := Update{Now: f.now, Problems: f.problems, Staged: f.r.staged != nil, Rechecked: f.rechecked}
	for _, e := range f.changed {
		u.Changed = append(u.Changed, e.seen)
	}
	u.Gone = slices.Collect(maps.Keys(f.gone))
	clear(f.changed)
	clear(f.gone)
	f.rechecked = false
	return u
}

func (f *Follower) tick() {
	f.r.staged = readStaged(f.r.st.Dir) // a running replay rewrites it
	f.now = f.r.Now()
}

// work does what is scheduled.
func (f *Follower) work() error {
	f.tick()
	keys, registry, all := f.todo.take()
	if all {
		return f.lookAtAll()
	}
	for _, k := range keys {
		changed, err := f.index.Refresh(k)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			f.forget(k)
		case err != nil:
			f.noteProblem(k, err)
		case changed:
			f.load(k)
		}
	}
	if registry {
		f.readRegistry()
	}
	if len(f.changed)+len(f.gone) > 0 {
		f.account()
	}
	return nil
}

func (f *Follower) noteProblem(k store.Key, err error) {
	is := func(p store.Problem) bool { return p.Key == k }
	f.problems = append(slices.DeleteFunc(slices.Clone(f.problems), is), store.Problem{Key: k, Err: err})
}

// scan finds the files that changed.
func (f *Follower) scan() error {
	changed, gone, problems, err := f.index.Scan()
	if err != nil {
		return err
	}
	f.problems = problems
	for _, k := range gone {
		f.forget(k)
	}
	for _, k := range changed {
		f.load(k)
	}
	f.account()
	return nil
}

// lookAtAll looks at every session, changed or not.
func (f *Follower) lookAtAll() error {
	f.thorough = time.Time{}
	return f.recheck()
}

// thoroughly is how often everything is looked at, whether or not a change was reported.
const thoroughly = 10 * time.Second

// recheck looks at what nothing reports: processes, what changes with time alone, and files
// whose report was missed.
func (f *Follower) recheck() error {
	f.tick()
	if f.all = time.Since(f.thorough).Abs() >= thoroughly; f.all {
		f.thorough = time.Now()
	}
	defer func() { f.all = false }()
	if f.all || !f.dirs.on[f.r.registry] {
		f.readRegistry()
	}
	if err := f.scan(); err != nil {
		return err
	}
	metered := map[store.Key]bool{}
	for _, k := range f.index.Meters() {
		metered[k] = true
	}
	for k, e := range f.entries {
		p := e.session.Origin.Process
		if f.all || e.open || metered[k] || e.due(f.now) || f.r.presence(p, e.session.Activity) != e.seen.Evidence.Process {
			f.see(e)
		}
		if f.r.archive(&e.seen, f.now) {
			f.forget(k)
		}
	}
	f.rechecked = true
	f.account()
	if f.r.staged == nil {
		_ = f.r.st.Prune(f.now.Time())
	}
	return nil
}

// load takes a session from the index.
func (f *Follower) load(k store.Key) {
	s, ok := f.index.Session(k)
	if !ok {
		return
	}
	e := f.entries[k]
	if e == nil {
		e = &entry{key: k}
		f.entries[k] = e
	}
	e.session = s
	f.see(e)
}

// see looks at a session with the evidence at hand.
func (f *Follower) see(e *entry) {
	was, first := e.seen, e.at == 0
	v := state.Seen{Session: e.session}
	open := f.r.see(&v, f.known, f.now)
	if v.Session.Seq > e.session.Seq { // what the evidence showed was folded
		e.session = v.Session
	}
	v.Meter = v.Session.Metered(f.index.Meter(e.key))
	e.reading, _ = f.known.of(v.Session.Origin.Process)
	e.seen, e.open, e.at = v, open, f.now
	if first || differs(&was, &v) {
		f.note(e)
	}
}

func (f *Follower) note(e *entry) {
	f.changed[e.key] = e
	delete(f.gone, e.key)
}

func (f *Follower) noteGone(k store.Key) {
	f.gone[k] = true
	delete(f.changed, k)
}

// differs reports whether two looks at a session may look different.
func differs(a, b *state.Seen) bool {
	return a.Session.Seq != b.Session.Seq || a.Session.Updated != b.Session.Updated || a.Session.Name != b.Session.Name ||
		a.Session.Origin != b.Session.Origin || a.Status != b.Status || a.Evidence != b.Evidence || a.Meter != b.Meter
}

func (f *Follower) forget(k store.Key) {
	if f.entries[k] != nil {
		delete(f.entries, k)
		f.noteGone(k)
	}
}

// readRegistry reads the client's registry, and looks at the sessions whose records have
// changed.
func (f *Follower) readRegistry() {
	f.known = f.r.readRegistry()
	for _, e := range f.entries {
		if reading, _ := f.known.of(e.session.Origin.Process); reading != e.reading {
			f.see(e)
		}
	}
}

// account finds the sessions that only the client's registry knows.
func (f *Follower) account() {
	before := f.unhooked
	f.unhooked = map[int]*entry{}
	still := map[store.Key]bool{}
	for _, u := range unaccounted(f.each, f.known) {
		if e := f.without(u, before[u.reading.Pid]); e != nil {
			f.unhooked[u.reading.Pid] = e
			still[e.key] = true
		}
	}
	for _, e := range before {
		if !still[e.key] && f.entries[e.key] == nil {
			f.noteGone(e.key)
		}
	}
}

// without returns the entry of a session without hooks, nil if there is none. was is the
// previous one.
func (f *Follower) without(u lone, was *entry) *entry {
	if was != nil && u == (lone{was.reading, was.several}) && !f.all && !f.rechecked && !was.due(f.now) {
		return was
	}
	v, ok := f.r.unhooked(u, f.now)
	k := store.KeyOf(v.Session.Record())
	if !ok || f.entries[k] != nil {
		return nil
	}
	e := &entry{key: k, seen: v, at: f.now, reading: u.reading, several: u.several}
	if was == nil || was.key != k || differs(&was.seen, &v) {
		f.note(e)
	}
	return e
}

func (f *Follower) each(yield func(*state.Seen) bool) {
	for _, e := range f.entries {
		if !yield(&e.seen) {
			return
		}
	}
}

// due reports whether the session's state may have changed with time alone.
func (e *entry) due(now event.Millis) bool {
	next := e.seen.Next(e.at)
	return next != 0 && next <= now
}

// timely looks at what may have changed with time alone.
func (f *Follower) timely() error {
	for _, e := range f.entries {
		if e.due(f.now) {
			f.see(e)
		}
	}
	for _, e := range f.unhooked {
		if e.due(f.now) {
			f.account()
			break
		}
	}
	return nil
}

// soonest is the least time between two looks at what changes with time alone.
const soonest = 10 * time.Millisecond

// untilNext returns how long nothing changes with time alone.
func (f *Follower) untilNext() time.Duration {
	wait := event.Millis(time.Hour.Milliseconds())
	sooner := func(e *entry) {
		if next := e.seen.Next(e.at); next != 0 {
			wait = min(wait, next-f.now)
		}
	}
	for _, e := range f.entries {
		sooner(e)
	}
	for _, e := range f.unhooked {
		sooner(e)
	}
	return max(soonest, time.Duration(wait)*time.Millisecond)
}

// pollShare is how many times as long as a look took passes before the next, so that slow
// disks and many sessions are looked at less often. The shorter of two looks counts: one that
// was interrupted says nothing about the disk.
const pollShare = 5

func (f *Follower) pollAgain(took time.Duration) time.Duration {
	every := max(f.o.Poll(), pollShare*min(took, f.scanned))
	f.scanned = took
	f.polling.Store(int64(every))
	return every
}

// watched watches what exists by now, and polls once changes are no longer reported.
func (f *Follower) watched(poll *time.Timer) {
	now, added := f.dirs.retry()
	if added {
		f.TouchAll() // what changed before it watched
	}
	if was := f.watching.Swap(now); was == now {
		return
	}
	poll.Stop()
	if !now {
		poll.Reset(0)
	}
}
