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
	"beckon/event/plainfile"
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
	o    Options
	r    *Reader
	keep bool // archive nothing
	once bool // there is no second look, which would need the versions of files

	now      event.Millis
	round    int // number of this look
	known    readings
	meters   map[store.Key]bool // the sessions whose status line has reported
	entries  map[store.Key]*entry
	first    []state.Seen   // of the sessions that the first look found
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
	seen    *state.Seen
	seq     int64        // of its file
	updated event.Millis // of its file
	file    stamped      // that file
	meter   *event.Meter
	metered stamped
	at      event.Millis // when it was seen so
	round   int          // of that look
	open    bool         // its files may change at any time
	reading evidence.Reading
	several bool // see lone
}

// stamped is a version of a file. Within a tick of the file system's clock, which may be as
// coarse as two seconds, another version may have the same stamp, so a young file is read again.
type stamped struct {
	stamp plainfile.Stamp
	young bool
}

const coarse = 3 * time.Second

// moved reports whether the file must be read, and assumes that the caller then reads it.
func (v *stamped) moved(stamp plainfile.Stamp) bool {
	if stamp == v.stamp && !v.young {
		return false
	}
	v.stamp, v.young = stamp, stamp.YoungAt(time.Now(), coarse)
	return true
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
	f := &Follower{o: o, r: r, entries: map[store.Key]*entry{}, todo: newTodo(),
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
		seen = append(seen, *f.entries[k].seen)
	}
	for _, pid := range slices.Sorted(maps.Keys(f.unhooked)) {
		seen = append(seen, *f.unhooked[pid].seen)
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
	u := Update{Now: f.now, Changed: make([]state.Seen, 0, len(f.changed)), Problems: f.problems, Staged: f.r.staged != nil, Rechecked: f.rechecked}
	for _, e := range f.changed {
		u.Changed = append(u.Changed, *e.seen)
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
	f.round++
}

// work does what is scheduled.
func (f *Follower) work() error {
	f.tick()
	keys, registry, all := f.todo.take()
	if all {
		return f.lookAtAll()
	}
	if len(keys) > 0 {
		f.read(f.r.st.ListOf(keys))
	}
	if registry {
		f.readRegistry()
	}
	if len(f.changed)+len(f.gone) > 0 {
		f.account()
	}
	return nil
}

// scan finds the files that changed.
func (f *Follower) scan() error {
	l, err := f.r.st.List()
	if err != nil {
		return err
	}
	if !f.r.SkipMeters {
		f.meters = f.r.st.Meters()
	}
	there := make(map[store.Key]bool, len(l.Keys))
	for _, k := range l.Keys {
		there[k] = true
	}
	for k := range f.entries {
		if !there[k] {
			f.forget(k)
		}
	}
	f.problems = slices.DeleteFunc(f.problems, func(p store.Problem) bool { return !there[p.Key] })
	f.read(l)
	f.account()
	return nil
}

// read reads the sessions of l whose files changed, and looks at those that are not as before.
func (f *Follower) read(l store.Listing) {
	entries, was := make([]*entry, len(l.Keys)), make([]*state.Seen, len(l.Keys))
	if len(f.entries) == 0 {
		f.first = make([]state.Seen, len(l.Keys)) // one piece of memory costs fewer page faults
	}
	for i, k := range l.Keys {
		if entries[i] = f.entries[k]; entries[i] != nil {
			continue
		}
		entries[i] = &entry{key: k}
		if len(f.entries) == 0 {
			entries[i].seen = &f.first[i]
		} else {
			entries[i].seen = new(state.Seen)
		}
	}
	errs, changed := make([]error, len(l.Keys)), make([]bool, len(l.Keys))
	store.Parallel(len(l.Keys), func(i int) {
		e := entries[i]
		if e.at != 0 {
			was[i] = e.seen
		}
		if changed[i], errs[i] = f.readOne(e, l, i); changed[i] && errs[i] == nil {
			f.see(e)
		}
	})
	for i, e := range entries {
		is := func(p store.Problem) bool { return p.Key == e.key }
		switch err := errs[i]; {
		case errors.Is(err, fs.ErrNotExist): // it has just been archived
			f.forget(e.key)
		case err != nil:
			f.problems = append(slices.DeleteFunc(slices.Clone(f.problems), is), store.Problem{Key: e.key, Err: err})
			e.file = stamped{}
		case changed[i]:
			f.problems = slices.DeleteFunc(slices.Clone(f.problems), is)
			f.entries[e.key] = e
			f.compare(e, was[i])
		}
	}
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
	for k, e := range f.entries {
		s := &e.seen.Session
		if e.round == f.round {
			// It has just been looked at.
		} else if f.all || e.open || e.due(f.now) || f.r.presence(s.Origin.Process, s.Activity) != e.seen.Evidence.Process {
			f.look(e)
		}
		if !f.keep && f.r.archive(e.seen, f.now) {
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

// readOne reads session i of l, and what its status line reported, if their files changed. It
// reports whether they are not as before.
func (f *Follower) readOne(e *entry, l store.Listing, i int) (changed bool, err error) {
	var stamp plainfile.Stamp
	if !f.once {
		stamp = f.r.st.Stamp(e.key)
		if stamp == (plainfile.Stamp{}) && !l.Late(i) {
			return false, fs.ErrNotExist
		}
	}
	if f.meters[e.key] && e.metered.moved(f.r.st.MeterStamp(e.key)) {
		e.meter = f.r.st.Meter(e.key)
		changed = e.at != 0 && e.seen.Meter != e.seen.Session.Metered(e.meter)
	}
	if !f.once && !e.file.moved(stamp) && !l.Late(i) && !changed {
		return false, nil
	}
	now := e.seen
	if e.at != 0 {
		now = new(state.Seen)
	}
	if err := l.Load(i, &now.Session); err != nil {
		return false, err
	}
	s := &now.Session
	if changed = changed || e.at == 0 || s.Seq != e.seq || s.Updated != e.updated; changed {
		e.seen, e.seq, e.updated = now, s.Seq, s.Updated
	}
	return changed, nil
}

// look looks at a session with the evidence at hand.
func (f *Follower) look(e *entry) {
	now := new(state.Seen) // as its file has it, without what evidence added
	var err error
	if now.Session, err = f.r.st.Load(e.key); err != nil {
		return // the next scan finds that
	}
	was := e.seen
	e.seen = now
	f.see(e)
	f.compare(e, was)
}

// see finds the evidence and the verdict of a session. It may be called for several at once.
func (f *Follower) see(e *entry) {
	v := e.seen
	e.open = f.r.see(v, f.known, f.now)
	v.Meter = v.Session.Metered(e.meter)
	e.reading, _ = f.known.of(v.Session.Origin.Process)
}

// compare notes a session that is not as it was, or that was not there.
func (f *Follower) compare(e *entry, was *state.Seen) {
	if was == nil || differs(was, e.seen) {
		f.note(e)
	}
	e.at, e.round = f.now, f.round
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
		if reading, _ := f.known.of(e.seen.Session.Origin.Process); reading != e.reading {
			f.look(e)
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
	e := &entry{key: k, seen: &v, at: f.now, reading: u.reading, several: u.several}
	if was == nil || was.key != k || differs(was.seen, &v) {
		f.note(e)
	}
	return e
}

func (f *Follower) each(yield func(*state.Seen) bool) {
	for _, e := range f.entries {
		if !yield(e.seen) {
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
			f.look(e)
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
