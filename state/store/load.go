package store

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"beckon/state"
)

// Load returns a live or archived session by its key, up to date with its
// journal. A session that is not known is fs.ErrNotExist.
func (st *Store) Load(k Key) (state.Session, error) {
	s, err := st.readSession(st.session(k))
	if errors.Is(err, fs.ErrNotExist) {
		s, err = st.readSession(st.archived(k))
	}
	if err == nil && !st.behind(k, &s) {
		return s, nil
	}
	if errors.Is(err, state.ErrNewerSchema) {
		return s, err
	}
	if e := st.Heal(k); e != nil {
		return s, errors.Join(err, e)
	}
	s, err = st.readSession(st.session(k))
	if errors.Is(err, fs.ErrNotExist) {
		return st.readSession(st.archived(k))
	}
	return s, err
}

func (st *Store) readSession(path string) (state.Session, error) {
	data, err := readFile(path, maxFile)
	if err != nil {
		return state.Session{}, err
	}
	return state.DecodeJSON(data)
}

// behind reports whether the journal has lines that the session file lacks: a
// writer was killed between the two.
func (st *Store) behind(k Key, s *state.Session) bool {
	info, err := os.Stat(st.journal(k))
	return err == nil && info.Size() > s.Offset
}

// Heal brings a session's file up to date with its journal and its spooled
// events. A session that a writer holds needs no healing.
func (st *Store) Heal(k Key) error {
	if _, err := os.Stat(st.journal(k)); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(st.path(spoolDir, "")); errors.Is(err, fs.ErrNotExist) {
			return fs.ErrNotExist
		}
	}
	h, err := st.hold(k, LockWait)
	if err != nil {
		return err
	}
	defer h.release()
	h.drain()
	return h.commit()
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
	return st.load(sessionsDir)
}

// Archived returns the sessions in the archive.
func (st *Store) Archived() ([]state.Session, []Problem, error) { return st.load(archiveDir) }

func (st *Store) load(dir string) ([]state.Session, []Problem, error) {
	keys, err := st.keys(dir)
	if err != nil {
		return nil, nil, err
	}
	sessions := make([]state.Session, 0, len(keys))
	var problems []Problem
	for _, k := range keys {
		s, err := st.Load(k)
		switch {
		case err == nil:
			sessions = append(sessions, s)
		case !errors.Is(err, fs.ErrNotExist): // it may just have been archived
			problems = append(problems, Problem{k, err})
		}
	}
	return sessions, problems, nil
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
