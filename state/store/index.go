package store

import (
	"errors"
	"io/fs"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/cache"
)

// Index keeps the live sessions as last read, with the size, time and inode of each file, so
// that reading again costs only what has changed. It is for programs that keep running, and
// not safe for concurrent use.
type Index struct {
	st       *Store
	sessions map[Key]*indexed
	meters   map[Key]*indexedMeter

	sessionsDir, meterDir listing
}

type indexed struct {
	s    state.Session
	file cache.Stamp // taken before reading; zero to read it again
}

type indexedMeter struct {
	report *event.Meter
	file   cache.Stamp
}

// listing tells whether a directory must be read again. Files get there only by rename, which
// changes the directory's time. The directory is read every listAgain all the same.
type listing struct {
	dir  cache.Stamp // taken before reading
	read time.Time
}

const listAgain = 10 * time.Second

// due reports whether the directory must be read, and assumes that the caller then reads it.
func (l *listing) due(path string) bool {
	now := time.Now()
	dir, ok := cache.StampOf(path)
	if ok && l.dir == dir && !dir.Young() && now.Sub(l.read).Abs() < listAgain {
		return false
	}
	if l.dir, l.read = dir, now; !ok || dir.Young() {
		l.dir = cache.Stamp{}
	}
	return true
}

// Index returns an empty index.
func (st *Store) Index() *Index {
	return &Index{st: st, sessions: map[Key]*indexed{}, meters: map[Key]*indexedMeter{}}
}

// Scan updates the index. It returns the sessions that changed, those that are gone, and those
// that could not be read.
func (x *Index) Scan() (changed, gone []Key, problems []Problem, err error) {
	listed := x.sessionsDir.due(x.st.SessionsDir())
	var keys []Key
	var waiting spooledNames
	if listed {
		keys, waiting, err = x.st.live()
	} else {
		_ = x.st.DrainSpool()
		waiting = x.st.waiting()
		keys = x.known(waiting)
	}
	if err != nil {
		x.sessionsDir.dir = cache.Stamp{}
		return nil, nil, nil, err
	}
	there := make(map[Key]bool, len(keys))
	for _, k := range keys {
		there[k] = true
		switch ok, err := x.read(k, waiting[k], listed); {
		case err == nil && ok:
			changed = append(changed, k)
		case err != nil:
			x.sessionsDir.dir = cache.Stamp{}    // read the directory again
			if !errors.Is(err, fs.ErrNotExist) { // it may just have been archived
				problems = append(problems, Problem{k, err})
			}
		}
	}
	for k := range x.sessions {
		if !there[k] {
			gone = append(gone, k)
			delete(x.sessions, k)
		}
	}
	return changed, gone, problems, nil
}

// known returns the sessions of the index and those that have only spooled events.
func (x *Index) known(waiting spooledNames) []Key {
	keys := make([]Key, 0, len(x.sessions))
	for k := range x.sessions {
		keys = append(keys, k)
	}
	for k := range waiting {
		if x.sessions[k] == nil {
			keys = append(keys, k)
		}
	}
	return keys
}

// Refresh reads one session again if it changed, and reports whether it did. For a session
// that is no longer live it returns fs.ErrNotExist.
func (x *Index) Refresh(k Key) (changed bool, err error) {
	waiting := x.st.pending(k)
	if len(waiting) == 0 && !exists(x.st.session(k)) {
		delete(x.sessions, k)
		return false, fs.ErrNotExist
	}
	return x.read(k, waiting, true)
}

// Session returns a session as last read.
func (x *Index) Session(k Key) (s state.Session, ok bool) {
	if e := x.sessions[k]; e != nil {
		return e.s, true
	}
	return s, false
}

// read reads k unless its file is the same and its journal has not grown. Every fold writes to
// the journal first, so a change is noticed even if it leaves the size and time of the file as
// they were. If listed is false, the file is known to be in its place and unchanged.
func (x *Index) read(k Key, waiting []string, listed bool) (changed bool, err error) {
	old := x.sessions[k]
	var file cache.Stamp
	if old != nil && !listed {
		file = old.file
	} else {
		file, _ = cache.StampOf(x.st.session(k))
	}
	if old != nil && len(waiting) == 0 && file != (cache.Stamp{}) && file == old.file && !x.st.behind(k, &old.s) {
		return false, nil
	}
	if len(waiting) > 0 {
		file = cache.Stamp{} // not to be reused: the spool will be drained
	}
	now := &indexed{file: file}
	if err := x.st.load(k, waiting, &now.s); err != nil {
		return false, err
	}
	if old == nil {
		x.meterDir.dir = cache.Stamp{} // the status line may have reported before the first event
	}
	x.sessions[k] = now
	return true, nil
}

// Meters updates the reports of the status lines, and returns the sessions whose report
// changed.
func (x *Index) Meters() (changed []Key) {
	if !x.meterDir.due(x.st.path(meterDir, "")) {
		return nil
	}
	names, _ := x.st.keys(meterDir)
	for _, k := range names {
		old := x.meters[k]
		if x.sessions[k] == nil {
			continue
		}
		file, ok := cache.StampOf(x.st.path(meterDir, string(k)+".json"))
		if !ok || old != nil && old.file == file {
			continue
		}
		x.meters[k] = &indexedMeter{x.st.Meter(k), file}
		changed = append(changed, k)
	}
	for k := range x.meters {
		if x.sessions[k] == nil {
			delete(x.meters, k)
		}
	}
	return changed
}

// Meter returns the last report of session k's status line, nil if there is none.
func (x *Index) Meter(k Key) *event.Meter {
	if m := x.meters[k]; m != nil {
		return m.report
	}
	return nil
}
