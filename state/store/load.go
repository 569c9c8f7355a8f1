package store

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/state"
)

// Load returns a live or archived session by its key, up to date with its
// journal. A session that is not known is fs.ErrNotExist.
//
// It never waits for a writer. When the file is behind its journal, or does
// not parse, it is healed if nobody holds it and this process may write;
// otherwise the journal is folded in memory.
func (st *Store) Load(k Key) (state.Session, error) {
	s, err := st.read(k)
	if err == nil && !st.behind(k, &s) || errors.Is(err, state.ErrNewerSchema) {
		return s, err
	}
	if st.heal(k, noWait) == nil {
		return st.read(k)
	}
	return st.tell(k, s, err)
}

// read reads a session's file from sessions/, else from archive/.
func (st *Store) read(k Key) (s state.Session, err error) {
	live := st.session(k)
	for _, path := range [...]string{live, st.archived(k), live} { // a resume may bring it back between the two
		if err = readSession(path, &s); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return s, err
}

// readSession reads one session file into s.
func readSession(path string, s *state.Session) error {
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	data, err := readInto(*buf, path, maxFile)
	if err == nil {
		*buf = data[:cap(data)]
		*s, err = state.DecodeJSON(data) // copies what it keeps
	}
	return err
}

// readBuffers hold what is read of session files: a view reads many, and every
// page of memory that it touches for the first time costs more than the read.
var readBuffers = sync.Pool{New: func() any { b := make([]byte, 4096); return &b }}

// behind reports whether the journal is not what the session's file has
// folded: a writer was killed between the two, or is about to write the file.
func (st *Store) behind(k Key, s *state.Session) bool {
	info, err := os.Stat(st.journal(k))
	return err == nil && info.Size() != s.Offset
}

// tell brings s, which was read with err, to the end of its journal, in
// memory.
func (st *Store) tell(k Key, s state.Session, err error) (state.Session, error) {
	f, e := open(st.journal(k), os.O_RDONLY)
	if e != nil {
		return s, err
	}
	defer f.Close()
	size, _, e := f.Size()
	if e != nil {
		return s, err
	}
	t, e := bring(s, f, size)
	if e != nil || t.s.Seq == 0 {
		return s, err
	}
	return t.s, nil
}

// Heal brings a session's file up to date with its journal and its spooled
// events. A session of which there is nothing is fs.ErrNotExist.
func (st *Store) Heal(k Key) error { return st.heal(k, LockWait) }

func (st *Store) heal(k Key, wait time.Duration) error {
	if !st.has(k) {
		return fs.ErrNotExist
	}
	h := held{st: st, key: k}
	if err := h.take(wait); err != nil {
		return err
	}
	defer h.release()
	h.drain(nil)
	return h.commit()
}

// has reports whether there is anything of k to heal. Asking for a session
// that was never there leaves no lock file behind.
func (st *Store) has(k Key) bool {
	if exists(st.journal(k)) || exists(st.session(k)) || exists(st.archived(k)) {
		return true
	}
	names, _ := readNames(st.path(spoolDir, ""))
	return slices.ContainsFunc(names, func(n string) bool { return spoolKey(n) == k })
}

// Problem is a session file that could not be read.
type Problem struct {
	Key Key
	Err error
}

// Live returns every live session, in no particular order, and what could not
// be read. No archived session is looked at.
func (st *Store) Live() ([]state.Session, []Problem, error) {
	_ = st.DrainSpool()
	keys, err := st.keys(sessionsDir)
	if err != nil {
		return nil, nil, err
	}
	return st.load(keys)
}

// Archived returns the sessions in the archive.
func (st *Store) Archived() ([]state.Session, []Problem, error) {
	keys, err := st.keys(archiveDir)
	if err != nil {
		return nil, nil, err
	}
	// A resume that was killed leaves its old file here.
	live := func(k Key) bool { return exists(st.session(k)) }
	return st.load(slices.DeleteFunc(keys, live))
}

func (st *Store) load(keys []Key) ([]state.Session, []Problem, error) {
	sessions, errs := make([]state.Session, len(keys)), make([]error, len(keys))
	Parallel(len(keys), func(i int) { sessions[i], errs[i] = st.Load(keys[i]) })
	n := 0
	var problems []Problem
	for i, err := range errs {
		switch {
		case err == nil:
			sessions[n] = sessions[i]
			n++
		case !errors.Is(err, fs.ErrNotExist): // it may just have been archived
			problems = append(problems, Problem{keys[i], err})
		}
	}
	return sessions[:n], problems, nil
}

// keys lists the sessions that have a file in dir.
func (st *Store) keys(dir string) ([]Key, error) {
	names, err := readNames(st.path(dir, ""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	keys := make([]Key, 0, len(names))
	for _, n := range names {
		if k, ok := strings.CutSuffix(n, ".json"); ok {
			keys = append(keys, Key(k))
		}
	}
	return keys, err
}
