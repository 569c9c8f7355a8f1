package store

import (
	"errors"
	"io/fs"
	"time"

	"beckon/event"
	"beckon/state"
)

// Index is the live sessions as they were read last, with the size, time and
// inode of each file, so that a further look costs what has changed. It is for a
// program that stays, and not safe for concurrent use.
type Index struct {
	st       *Store
	sessions map[Key]*indexed
	meters   map[Key]*indexedMeter

	sessionsDir, meterDir listing
}

type indexed struct {
	s    state.Session
	file Stamp // as it was before it was read; zero to read it again
}

type indexedMeter struct {
	report *event.Meter
	file   Stamp
}

// listing says whether the names in a directory are to be read again. Files are
// put there by rename alone, which changes the directory's time; now and then it
// is read whatever that says.
type listing struct {
	dir  Stamp // as it was before it was read
	read time.Time
}

const (
	listAgain = 10 * time.Second
	// racy is how young a file's time may be for it not to be trusted: a change
	// in the same tick of the file system's clock would not show.
	racy = 50 * time.Millisecond
)

// Stamp tells a file from what it was before.
type Stamp struct {
	Size, Time int64 // bytes, Unix ns
	Inode      uint64
}

// young reports whether a further change of the file may not show.
func young(s Stamp) bool { return time.Since(time.Unix(0, s.Time)) <= racy }

// due reports whether the directory is to be read, and notes that it is.
func (l *listing) due(path string) bool {
	now := time.Now()
	dir, ok := StampOf(path)
	if ok && l.dir == dir && !young(dir) && now.Sub(l.read).Abs() < listAgain {
		return false
	}
	if l.dir, l.read = dir, now; !ok || young(dir) {
		l.dir = Stamp{}
	}
	return true
}

// Index returns an index that knows nothing yet.
func (st *Store) Index() *Index {
	return &Index{st: st, sessions: map[Key]*indexed{}, meters: map[Key]*indexedMeter{}}
}

// Scan brings the index up to date, and returns the sessions that changed, those
// that are gone, and what could not be read.
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
		x.sessionsDir.dir = Stamp{}
		return nil, nil, nil, err
	}
	there := make(map[Key]bool, len(keys))
	for _, k := range keys {
		there[k] = true
		switch ok, err := x.read(k, waiting[k], listed); {
		case err == nil && ok:
			changed = append(changed, k)
		case err != nil:
			x.sessionsDir.dir = Stamp{}          // look again
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

// known lists the sessions of the index, and those that only wait in the spool.
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

// Refresh reads one session if it changed, and reports whether it did. One that
// is live no more is fs.ErrNotExist.
func (x *Index) Refresh(k Key) (changed bool, err error) {
	waiting := x.st.pending(k)
	if len(waiting) == 0 && !exists(x.st.session(k)) {
		delete(x.sessions, k)
		return false, fs.ErrNotExist
	}
	return x.read(k, waiting, true)
}

// Session returns a session as it was read last.
func (x *Index) Session(k Key) (s state.Session, ok bool) {
	if e := x.sessions[k]; e != nil {
		return e.s, true
	}
	return s, false
}

// read reads k unless its file is the same and its journal has grown by nothing.
// Every fold writes to the journal first, so a change that leaves size and time
// of the file as they were is seen too. Without listed the file itself is known
// to be in its place.
func (x *Index) read(k Key, waiting []string, listed bool) (changed bool, err error) {
	old := x.sessions[k]
	var file Stamp
	if old != nil && !listed {
		file = old.file
	} else {
		file, _ = StampOf(x.st.session(k))
	}
	if old != nil && len(waiting) == 0 && file != (Stamp{}) && file == old.file && !x.st.behind(k, &old.s) {
		return false, nil
	}
	if len(waiting) > 0 {
		file = Stamp{} // not to be kept
	}
	now := &indexed{file: file}
	if err := x.st.load(k, waiting, &now.s); err != nil {
		return false, err
	}
	if old == nil {
		x.meterDir.dir = Stamp{} // its status line may have reported before its first event
	}
	x.sessions[k] = now
	return true, nil
}

// Meters brings what status lines reported up to date, and returns the sessions
// of which it changed.
func (x *Index) Meters() (changed []Key) {
	if !x.meterDir.due(x.st.path(meterDir, "")) {
		return nil
	}
	for k := range x.st.Meters().known {
		old := x.meters[k]
		if x.sessions[k] == nil {
			continue
		}
		file, ok := StampOf(x.st.path(meterDir, string(k)+".json"))
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

// Meter returns what the status line reported last of session k, nil for nothing.
func (x *Index) Meter(k Key) *event.Meter {
	if m := x.meters[k]; m != nil {
		return m.report
	}
	return nil
}
