package store

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
)

// Index keeps the live sessions and meters as last read, with the size, times and inode of
// each file, so that reading again costs only what has changed. It is for programs that keep
// running, and not safe for concurrent use.
type Index struct {
	st       *Store
	sessions map[Key]*indexed
	meters   map[Key]*indexedMeter
	keys     []Key // the sessions when their directory was last read

	sessionsDir, meterDir listing
}

type indexed struct {
	s       state.Session
	journal plainfile.Stamp // taken before reading; zero if there is none
	again   bool            // read it again: it does not belong to this stamp
}

type indexedMeter struct {
	report *event.Meter
	file   plainfile.Stamp
}

// listing tells whether a directory must be read again. Files get there only by rename, which
// changes the directory's time. The directory is read every listAgain all the same.
type listing struct {
	dir  plainfile.Stamp // taken before reading
	read time.Time
}

const listAgain = 10 * time.Second

// due reports whether the directory must be read, and assumes that the caller then reads it.
func (l *listing) due(path string) bool {
	now := time.Now()
	dir, ok := plainfile.StampOf(path)
	if ok && l.dir == dir && !dir.Young() && now.Sub(l.read).Abs() < listAgain {
		return false
	}
	if l.dir, l.read = dir, now; !ok || dir.Young() {
		l.dir = plainfile.Stamp{}
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
	_ = x.st.DrainSpool()
	if x.sessionsDir.due(x.st.SessionsDir()) {
		if x.keys, err = x.st.liveKeys(); err != nil {
			x.sessionsDir = listing{}
			return nil, nil, nil, err
		}
	}
	keys, waiting := x.st.withWaiting(x.keys)
	there := make(map[Key]bool, len(keys))
	for _, k := range keys {
		there[k] = true
		switch ok, err := x.read(k, waiting[k]); {
		case err == nil && ok:
			changed = append(changed, k)
		case err != nil:
			x.sessionsDir = listing{}
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

// Refresh reads one session again if it changed, and reports whether it did. For a session
// that is no longer live it returns fs.ErrNotExist.
func (x *Index) Refresh(k Key) (changed bool, err error) {
	waiting := x.st.pending(k)
	if len(waiting) == 0 && !exists(x.st.session(k)) {
		delete(x.sessions, k)
		x.keys = slices.DeleteFunc(x.keys, func(other Key) bool { return other == k })
		return false, fs.ErrNotExist
	}
	return x.read(k, waiting)
}

// Session returns a session as last read.
func (x *Index) Session(k Key) (s state.Session, ok bool) {
	if e := x.sessions[k]; e != nil {
		return e.s, true
	}
	return s, false
}

// read reads k unless its journal is the same. Every fold writes to the journal first, so that
// alone tells of a change.
func (x *Index) read(k Key, waiting []string) (changed bool, err error) {
	old := x.sessions[k]
	journal, there := plainfile.StampOf(x.st.journal(k))
	if old != nil && len(waiting) == 0 && !old.again && journal == old.journal {
		return false, nil
	}
	now := &indexed{journal: journal}
	if err := x.st.load(k, waiting, &now.s); err != nil {
		return false, err
	}
	if old == nil {
		x.meterDir = listing{} // the status line may have reported before the first event
	}
	now.again = len(waiting) > 0 || there && now.s.Offset != journal.Size
	x.sessions[k] = now
	return true, nil
}

// Meters updates the reports of the status lines, and returns the sessions whose report
// changed.
func (x *Index) Meters() (changed []Key) {
	if !x.meterDir.due(x.st.path(meterDir, "")) {
		return nil
	}
	for k := range x.sessions {
		file, ok := plainfile.StampOf(x.st.path(meterDir, string(k)+".json"))
		if old := x.meters[k]; !ok || old != nil && old.file == file {
			continue
		}
		x.meters[k] = &indexedMeter{x.st.Meter(k), file}
		changed = append(changed, k)
	}
	maps.DeleteFunc(x.meters, func(k Key, _ *indexedMeter) bool { return x.sessions[k] == nil })
	return changed
}

// Meter returns the last report of session k's status line, nil if there is none.
func (x *Index) Meter(k Key) *event.Meter {
	if m := x.meters[k]; m != nil {
		return m.report
	}
	return nil
}
