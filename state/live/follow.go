package live

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"
)

// Follower keeps a snapshot current. It waits for what the system reports of changed files, and checks
// them all, and processes, at intervals, and what changes with time alone when that is due.
type Follower struct {
	Recheck time.Duration // between checks of processes, and of files whose changes nothing reports: 1 s
	Pause   time.Duration // the least time between updates, for a caller that draws a screen: none

	r        *Reader
	archived bool // the archive, too, and archive nothing
	once     bool // there is no second look, so what it sees is kept in one piece of memory
	seen     []state.Seen

	now      event.Millis
	known    readings
	entries  map[store.Key]*entry
	problems []store.Problem
	thorough time.Time // when everything was last looked at

	wake     chan struct{}
	whole    atomic.Bool // the next look is at everything
	registry atomic.Bool // the next look reads the client's registry
	files    *watcher
	watching atomic.Bool
}

// entry is one session.
type entry struct {
	key     store.Key
	seen    *state.Seen
	file    plainfile.Version // of the session
	meter   *event.Meter
	metered plainfile.Version
	at      event.Millis // when it was seen so
	open    bool         // its files may change at any time
	reading state.Registry

	hookless bool // known only to the client's registry
	several  bool // so known, while another process is known to run the same session
}

// coarse is more than a tick of the file system's clock, within which another version of a file may have
// the same stamp: every recheck reads a younger file again.
const coarse = 3 * time.Second

// Update is what changed since the previous update.
type Update struct {
	Now       event.Millis
	Changed   []state.Seen    // new, or not as before
	Gone      []store.Key     // archived, or removed
	Problems  []store.Problem // all sessions that cannot be read now
	Staged    bool            // the evidence, and so the time, is from a recording
	Rechecked bool            // processes were checked, as they are every Options.Recheck
}

// NewFollower returns a follower of r's sessions, which has seen nothing yet; r must not be used any more.
func NewFollower(r *Reader) *Follower {
	return &Follower{Recheck: time.Second, r: r, entries: map[store.Key]*entry{}, wake: make(chan struct{}, 1)}
}

// Touch schedules a look at what changed, whether or not the system reports it. It is safe for concurrent
// use.
func (f *Follower) Touch() { wake(f.wake) }

// TouchAll schedules a look at everything.
func (f *Follower) TouchAll() {
	f.whole.Store(true)
	wake(f.wake)
}

// Watching reports whether the system reports changes.
func (f *Follower) Watching() bool { return f.watching.Load() }

// Seen returns every session, those without hooks last. Call it only while handling an update.
func (f *Follower) Seen() []state.Seen { return append(f.list(false), f.list(true)...) }

// list returns the sessions with or without hooks, sorted by key.
func (f *Follower) list(hookless bool) []state.Seen {
	var seen []state.Seen
	if !hookless { // nearly all have hooks
		seen = make([]state.Seen, 0, len(f.entries))
	}
	for _, k := range slices.Sorted(maps.Keys(f.entries)) {
		if e := f.entries[k]; e.hookless == hookless {
			seen = append(seen, *e.seen)
		}
	}
	return seen
}

// Look takes the first look, before Run.
func (f *Follower) Look() (Update, error) { return f.update(everything) }

// update takes a look and returns what it found.
func (f *Follower) update(d depth) (Update, error) {
	changed, gone, err := f.look(d)
	u := Update{Now: f.now, Changed: make([]state.Seen, 0, len(changed)), Gone: gone, Problems: f.problems}
	for _, e := range changed {
		u.Changed = append(u.Changed, *e.seen)
	}
	u.Staged, u.Rechecked = f.r.staged != nil, err == nil && d != changes
	return u, err
}

const (
	settle    = 3 * time.Millisecond  // one fold changes several files
	soonest   = 10 * time.Millisecond // between two looks at what changes with time alone
	idleShare = 4                     // a screen takes at most a fifth of the time, however fast things change
)

// Run calls each with every update, and with the error of a look that failed, until ctx ends.
func (f *Follower) Run(ctx context.Context, each func(Update, error)) {
	f.files = newWatcher(f.noticed, f.r.st.SessionsDir(), f.r.st.Dir, f.r.registry)
	defer f.files.close()
	f.whole.Store(true)
	next := time.NewTimer(0)
	defer next.Stop()
	var checked, done time.Time
	var took time.Duration // smoothed: one slow update must not delay the next
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		case <-f.wake:
			if f.Pause > 0 {
				select {
				case <-ctx.Done():
				case <-time.After(max(settle, time.Until(done.Add(max(f.Pause, idleShare*took))))):
				}
			}
		}
		began, d := time.Now(), changes
		if began.Sub(checked) >= f.Recheck {
			checked, d = began, recheck
			if f.files.update() {
				f.registry.Store(true) // it may have changed before it was watched
			}
			f.watching.Store(f.files.on(f.r.st.SessionsDir()))
		}
		if f.whole.Swap(false) {
			d = everything
		}
		u, err := f.update(d)
		if err != nil || u.Rechecked || len(u.Changed)+len(u.Gone) > 0 {
			each(u, err)
		}
		done = time.Now()
		took += (done.Sub(began) - took) / 4
		wait := min(f.untilNext(), time.Until(checked.Add(f.Recheck)))
		next.Reset(max(soonest, wait))
	}
}

// noticed schedules a look at what the system reports.
func (f *Follower) noticed(path string) {
	dir, name := filepath.Split(path)
	switch sessions := f.r.st.SessionsDir(); filepath.Clean(dir) {
	case sessions:
		if _, ok := store.KeyOfFile(name); ok {
			f.Touch()
		}
	case filepath.Clean(f.r.registry):
		f.registry.Store(true)
		f.Touch()
	default: // the state directory itself, or a report was missed
		if path == "" || name == StagedFile || path == sessions {
			f.TouchAll()
		}
	}
}

// depth says what a look is at.
type depth int

const (
	changes    depth = iota // files that changed, and what is due by the clock
	recheck                 // also processes, and what nothing reports
	everything              // changed or not
)

// thoroughly is how often everything is looked at, whether or not a change was reported.
const thoroughly = 10 * time.Second

// look looks at the sessions, and returns those that are not as before.
func (f *Follower) look(d depth) (changed []*entry, gone []store.Key, err error) {
	f.r.begin()
	f.now = f.r.Now()
	if d == everything || d == recheck && time.Since(f.thorough).Abs() >= thoroughly {
		d, f.thorough = everything, time.Now()
	}
	if f.registry.Swap(false) || d == everything || d == recheck && !f.files.on(f.r.registry) {
		f.known = f.r.readRegistry()
	}
	keys, err := f.r.st.List(f.archived)
	if err == nil && len(keys) == 0 && d == everything {
		err = f.r.st.Writable()
	}
	if err != nil {
		return nil, nil, err
	}
	if f.once {
		f.seen = make([]state.Seen, len(keys))
	}
	found, errs := make([]*entry, len(keys)), make([]error, len(keys))
	store.Parallel(len(keys), func(i int) { found[i], errs[i] = f.one(keys[i], i, d) })
	was := f.entries
	f.entries, f.problems = make(map[store.Key]*entry, len(found)), nil
	for i, k := range keys {
		e := found[i]
		switch {
		case errors.Is(errs[i], fs.ErrNotExist): // it has just been archived
			continue
		case errs[i] != nil:
			f.problems = append(f.problems, store.Problem{Key: k, Err: errs[i]})
			if e = was[k]; e == nil {
				continue
			}
			e.file = plainfile.Version{}
		}
		if d != changes && !f.archived && f.r.archive(e.seen, f.now) {
			continue
		}
		f.entries[k] = e
	}
	f.account(was, d)
	for k, e := range f.entries {
		if old := was[k]; old == nil || differs(old.seen, e.seen) {
			changed = append(changed, e)
		}
	}
	slices.SortFunc(changed, func(a, b *entry) int { return cmp.Compare(a.key, b.key) })
	for k := range was {
		if f.entries[k] == nil {
			gone = append(gone, k)
		}
	}
	if d != changes && f.r.staged == nil {
		_ = f.r.st.Prune(f.now.Time())
	}
	return changed, gone, nil
}

// one returns session k, the ith: the known entry if nothing has changed.
func (f *Follower) one(k store.Key, i int, d depth) (*entry, error) {
	was, e := f.entries[k], &entry{key: k}
	if was != nil {
		*e = *was
		e.hookless, e.several = false, false
	}
	file, metered := e.file, e.metered
	if !f.once { // there is nothing to compare a single look with
		if e.file, e.metered = f.r.st.Versions(k); e.file == (plainfile.Version{}) {
			return nil, fs.ErrNotExist
		}
	}
	changed := file != e.file || d != changes && e.file.Young(coarse)
	if !f.r.SkipMeters && (d == everything || metered != e.metered || d != changes && e.metered.Young(coarse)) {
		e.meter, changed = f.r.st.Meter(k), true
	}
	if was != nil && !changed && !f.outdated(was, d) {
		return was, nil
	}
	if f.once {
		e.seen = &f.seen[i]
	} else {
		e.seen = new(state.Seen)
	}
	if err := f.r.st.Read(k, &e.seen.Session); err != nil {
		return nil, err
	}
	e.open = f.r.see(e.seen, f.known, f.now)
	e.seen.Meter = e.seen.Session.Metered(e.meter)
	e.reading, _ = f.known.of(e.seen.Session.Origin.Process)
	e.at = f.now
	return e, nil
}

// outdated reports whether a session may look different, though its files are the same.
func (f *Follower) outdated(e *entry, d depth) bool {
	s := &e.seen.Session
	if reading, _ := f.known.of(s.Origin.Process); reading != e.reading || e.due(f.now) || d == everything {
		return true
	}
	return d == recheck && (e.open || f.r.presence(s.Origin.Process, s.Activity) != e.seen.Evidence.Process)
}

// differs reports whether two looks at a session may look different.
func differs(a, b *state.Seen) bool {
	return a.Session.Seq != b.Session.Seq || a.Session.Updated != b.Session.Updated || a.Session.Name != b.Session.Name ||
		a.Session.Origin != b.Session.Origin || a.Status != b.Status || a.Evidence != b.Evidence || a.Meter != b.Meter
}

// account adds the sessions that only the client's registry knows.
func (f *Follower) account(was map[store.Key]*entry, d depth) {
	before := map[int]*entry{}
	for _, e := range was {
		if e.hookless {
			before[e.reading.Pid] = e
		}
	}
	for _, e := range unaccounted(f.entries, f.known) {
		old := before[e.reading.Pid]
		if old == nil && d == changes && e.reading.Status == evidence.Starting {
			continue // the next recheck looks at its screen
		}
		if old != nil && old.reading == e.reading && old.several == e.several && d == changes && !old.due(f.now) {
			e = old
		} else if v, ok := f.r.unhooked(e, f.now); ok {
			e.key, e.seen, e.at = store.KeyOf(v.Session.Record()), &v, f.now
		} else {
			continue
		}
		if f.entries[e.key] == nil {
			f.entries[e.key] = e
		}
	}
}

// due reports whether the session's state may have changed with time alone.
func (e *entry) due(now event.Millis) bool {
	next := e.seen.Next(e.at)
	return next != 0 && next <= now
}

// untilNext returns how long nothing changes with time alone. A time that has passed is of a session that
// could not be read again.
func (f *Follower) untilNext() time.Duration {
	wait := event.Millis(time.Hour.Milliseconds())
	for _, e := range f.entries {
		if next := e.seen.Next(e.at); next > f.now {
			wait = min(wait, next-f.now)
		}
	}
	return time.Duration(wait) * time.Millisecond
}
