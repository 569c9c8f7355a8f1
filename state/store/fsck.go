package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"beckon/state"
)

// Finding is something that Check found wrong with one session's files.
type Finding struct {
	Key     Key
	Problem string
	Mended  bool
}

// Check folds every journal again and compares the result, byte for byte,
// with the session's file. With rebuild set it writes what the journal says.
// A session whose journal was rotated is folded from the snapshot it starts
// with.
func (st *Store) Check(rebuild bool) ([]Finding, error) {
	keys, err := st.allKeys()
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, k := range keys {
		f, err := st.check(k, rebuild)
		if err != nil {
			f = &Finding{Key: k, Problem: err.Error()}
		}
		if f != nil {
			out = append(out, *f)
		}
	}
	return out, nil
}

// allKeys lists every session that has a file or a journal.
func (st *Store) allKeys() ([]Key, error) {
	set := map[Key]bool{}
	var all []Key
	add := func(keys []Key) {
		for _, k := range keys {
			if !set[k] {
				set[k] = true
				all = append(all, k)
			}
		}
	}
	for _, dir := range []string{sessionsDir, archiveDir} {
		keys, err := st.keys(dir)
		if err != nil {
			return nil, err
		}
		add(keys)
	}
	names, err := readNames(st.path(journalDir, ""))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, n := range names {
		if k := Key(n[:max(0, len(n)-len(".jsonl"))]); n == string(k)+".jsonl" && !bytes.ContainsRune([]byte(k), '.') {
			add([]Key{k})
		}
	}
	return all, nil
}

// check compares one session with its journal, under its lock.
func (st *Store) check(k Key, rebuild bool) (*Finding, error) {
	unlock, err := st.lock(k, LockWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	h := &held{st: st, key: k}
	path := st.session(k)
	have, err := readFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		path = st.archived(k)
		have, err = readFile(path, maxFile)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	missing := err != nil
	if missing {
		path = st.session(k)
	}
	if _, err := state.DecodeJSON(have); errors.Is(err, state.ErrNewerSchema) {
		return nil, err
	}
	s, bad, err := st.refolded(k)
	if err != nil || s.Seq == 0 {
		return nil, err
	}
	if missing && over(&s) {
		return nil, nil // pruned; its journal is kept for history
	}
	want := append(state.AppendJSON(nil, &s), '\n')
	var problem string
	switch {
	case missing:
		problem = "the session file is missing"
	case !bytes.Equal(have, want):
		problem = "the session file is not what its journal says"
	case bad > 0:
		return &Finding{Key: k, Problem: fmt.Sprintf("%d journal lines do not parse", bad)}, nil
	default:
		return nil, nil
	}
	f := &Finding{Key: k, Problem: problem}
	if rebuild {
		f.Mended = replaceMaking(st.path(tmpDir, string(h.key)+".json"), path, st.path(sessionsDir, ""), want) == nil
	}
	return f, nil
}

// refolded folds a session's journal from its start.
func (st *Store) refolded(k Key) (s state.Session, bad int, err error) {
	f, err := os.Open(st.journal(k))
	if errors.Is(err, fs.ErrNotExist) {
		return s, 0, nil
	}
	if err != nil {
		return s, 0, err
	}
	defer f.Close()
	_, bad, err = scan(f, 0, func(l Line, end int64) { s = foldLine(s, l, end) })
	return s, bad, err
}
