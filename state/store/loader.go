package store

import (
	"errors"
	"io/fs"
	"os"

	"beckon/state"
)

// Loader reads the live sessions again and again, and only those anew whose
// files changed. It is for a program that stays, and not safe for concurrent
// use.
type Loader struct {
	st    *Store
	known map[Key]loaded
}

// loaded is a session as it was read, and its file as it was before.
type loaded struct {
	s    state.Session
	file fs.FileInfo
}

// Loader returns a loader that knows nothing yet.
func (st *Store) Loader() *Loader { return &Loader{st: st, known: map[Key]loaded{}} }

// Live is Store.Live. The sessions share memory with those of earlier calls:
// callers must not change what they hold.
func (l *Loader) Live() ([]state.Session, []Problem, error) {
	keys, waiting, err := l.st.live()
	if err != nil {
		return nil, nil, err
	}
	sessions := make([]state.Session, 0, len(keys))
	var problems []Problem
	now := make(map[Key]loaded, len(keys))
	for _, k := range keys {
		e, err := l.load(k)
		if n := waiting[k]; len(n) > 0 {
			e.s, err = l.st.expect(e.s, err, n)
			e.file = nil // not to be kept
		}
		switch {
		case err == nil:
			sessions, now[k] = append(sessions, e.s), e
		case !errors.Is(err, fs.ErrNotExist): // it may just have been archived
			problems = append(problems, Problem{k, err})
		}
	}
	l.known = now
	return sessions, problems, nil
}

// load returns a session as it is known while its file is the same and its
// journal has grown by nothing. Every fold writes to the journal first, so a
// change that leaves size and time of the file as they were is seen too.
func (l *Loader) load(k Key) (loaded, error) {
	file, err := os.Stat(l.st.session(k))
	if old, ok := l.known[k]; ok && err == nil && same(old.file, file) && !l.st.behind(k, &old.s) {
		return old, nil
	}
	s, err := l.st.load(k)
	return loaded{s, file}, err
}

func same(a, b fs.FileInfo) bool {
	return a != nil && b != nil && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
