package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"beckon/state"
)

// Finding is a problem that Check found in one session's files.
type Finding struct {
	Key     Key
	Problem string
	Mended  bool
	Newer   bool // written by a newer version, so it is left alone
}

// Check folds every journal again and compares the result, byte for byte, with the session's
// file. With rebuild set, it mends what it finds: it writes what the journal says or, where
// the journal lost lines, appends a snapshot of the file to the journal. Whatever it replaces
// or cuts off is kept in quarantine. A rotated journal is folded from the snapshot at its
// start. progress, if not nil, is called with the number of sessions done and their total.
func (st *Store) Check(rebuild bool, progress func(done, total int64)) ([]Finding, error) {
	keys, err := st.Keys()
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	var out []Finding
	for i, k := range keys {
		progress(int64(i), int64(len(keys)))
		f, err := st.check(k, rebuild)
		if err != nil {
			f = &Finding{Key: k, Problem: err.Error(), Newer: errors.Is(err, state.ErrNewerSchema)}
		}
		if f != nil {
			out = append(out, *f)
		}
	}
	progress(1, 1)
	return out, nil
}

// Keys lists every session that has a file, live or archived, or a journal.
func (st *Store) Keys() ([]Key, error) {
	set := map[Key]bool{}
	var all []Key
	for _, dir := range []string{sessionsDir, archiveDir, journalDir} {
		names, err := readNames(st.path(dir, ""))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, n := range names {
			if k := keyIn(n); !set[k] && (n == string(k)+".json" || n == string(k)+".jsonl") {
				set[k] = true
				all = append(all, k)
			}
		}
	}
	return all, nil
}

// check compares one session with its journal, under the session's lock.
func (st *Store) check(k Key, rebuild bool) (*Finding, error) {
	l, err := st.lock(k, LockWait)
	if err != nil {
		return nil, err
	}
	h := &holder{st: st, key: k, lock: l}
	defer h.release()
	problem, err := h.examine()
	if problem == "" || err != nil {
		return nil, err
	}
	f := &Finding{Key: k, Problem: problem}
	if rebuild {
		if err := h.rebuild(); err != nil {
			return nil, err
		}
		again, err := h.examine()
		f.Mended = again == "" && err == nil
	}
	return f, nil
}

// examine returns the problem with the session's files, or "".
func (h *holder) examine() (problem string, err error) {
	path := h.st.session(h.key)
	if !exists(path) {
		path = h.st.archived(h.key)
	}
	have, err := readFile(path, maxFile)
	missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, errEmpty)
	var s state.Session
	if err == nil {
		s, err = state.DecodeJSON(have)
	}
	switch {
	case missing:
	case err != nil && notOurs(path, err):
		return "the session file does not parse", nil
	case err != nil:
		return "", err
	}
	if irregular(h.st.journal(h.key)) {
		return "the journal is not a file", nil
	}
	if err := h.openJournal(); err != nil {
		return "", err
	}
	defer h.closeJournal()
	var t replayed
	if h.j != nil {
		if t, err = replayAll(h.j); err != nil {
			return "", err
		}
	}
	want := append(state.AppendJSON(nil, &t.s), '\n')
	switch {
	case t.bad > 0:
		return strconv.Itoa(t.bad) + " journal lines do not parse", nil
	case t.end < h.size:
		return "the journal ends in half a line", nil
	case missing && (t.s.Seq == 0 || over(&t.s)):
		return "", nil // pruned; the journal is kept for history
	case missing:
		return "the session file is missing", nil
	case t.s.Seq < s.Seq:
		return "the journal lacks lines that the session file has", nil
	case !bytes.Equal(have, want):
		return "the session file is not what its journal says", nil
	}
	return "", nil
}

// rebuild puts the journal in order and writes the session's file from it. If one of the two
// is newer, that one wins.
func (h *holder) rebuild() error {
	if err := h.read(); err != nil {
		return err
	}
	if err := h.openJournal(); err != nil {
		return err
	}
	if err := h.replayAll(); err != nil {
		return err
	}
	if err := h.dropBad(); err != nil {
		return err
	}
	if err := h.replayAll(); err != nil {
		return err
	}
	h.past = over(&h.s)
	if err := h.commit(); err != nil {
		return err
	}
	now := time.Now()
	_ = os.Chtimes(h.st.journal(h.key), now, now) // views read a session again when its journal changes; there may be none
	return nil
}

// replayAll is catchUp from the start of the journal.
func (h *holder) replayAll() error {
	if h.s.Seq == 0 && h.j == nil {
		return nil
	}
	h.s.Offset = -1
	return h.catchUp()
}

// dropBad removes lines that beckon did not write from the journal. A copy of the whole
// journal is kept in quarantine.
func (h *holder) dropBad() error {
	if h.j == nil {
		return nil
	}
	var good []byte
	var readErr error
	_, bad, err := scan(h.j, 0, func(_ Line, start, end int64) {
		line := make([]byte, end-start)
		if _, err := h.j.ReadAt(line, start); err != nil {
			readErr = err
		}
		good = append(good, line...)
	})
	if err = errors.Join(err, readErr); err != nil || bad == 0 {
		return err
	}
	path := h.st.journal(h.key)
	if err := h.st.setAside(path, func(to string) error { return h.copyFrom(0, to) }); err != nil {
		return err
	}
	h.closeJournal() // Windows cannot replace an open file
	if err := h.st.write(filepath.Base(path), journalDir, filepath.Base(path), good); err != nil {
		return err
	}
	return h.openJournal()
}
