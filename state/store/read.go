package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"beckon/event/plainfile"
	"beckon/state"
)

// Load returns a live or archived session by its key, with the events that wait for it. It never
// waits for a writer. An unknown session is fs.ErrNotExist.
func (st *Store) Load(k Key) (s state.Session, err error) {
	return s, st.load(k, exists(st.latePath(k, "")), &s)
}

// readBuffers are buffers for session files. A view reads many files, and the first touch of
// each page of new memory costs more than the read.
var readBuffers = sync.Pool{New: func() any { b := make([]byte, 4096); return &b }}

// Problem is a session file that could not be read.
type Problem struct {
	Key Key
	Err error
}

// Live returns every live session, sorted by key, and those that could not be read. Archived
// sessions are not read.
func (st *Store) Live() ([]state.Session, []Problem, error) {
	l, err := st.List()
	if err != nil {
		return nil, nil, err
	}
	sessions, problems := ReadAll(l, l.Load)
	return sessions, problems, nil
}

// Listing is a list of sessions that have not been read yet.
type Listing struct {
	st   *Store
	Keys []Key // sorted
	late []Key // those with events that wait
}

// List lists the live sessions. Read them with ReadAll. It is an error if the state directory
// does not exist and cannot be created: an empty list would then prove nothing.
func (st *Store) List() (l Listing, err error) {
	_ = st.TakeLate()
	l = st.ListOf(nil)
	if l.Keys, err = st.keys(sessionsDir); err == nil && len(l.Keys) == 0 {
		err = makeable(st.Dir)
	}
	l.Keys = append(l.Keys, l.late...)
	slices.Sort(l.Keys)
	l.Keys = slices.Compact(l.Keys)
	return l, err
}

// ListOf lists some live sessions. Those that are not there are fs.ErrNotExist when they are
// loaded.
func (st *Store) ListOf(keys []Key) Listing { return Listing{st, keys, st.waiting()} }

// ListArchived lists the sessions in the archive.
func (st *Store) ListArchived() (Listing, error) {
	keys, err := st.keys(archiveDir)
	// A killed resume leaves its old file here.
	live := func(k Key) bool { return exists(st.session(k)) }
	return Listing{st: st, Keys: slices.DeleteFunc(keys, live)}, err
}

// Late reports whether events wait for session i.
func (l Listing) Late(i int) bool { return slices.Contains(l.late, l.Keys[i]) }

// Load is Store.Load for session i. It loads into s.
func (l Listing) Load(i int, s *state.Session) error {
	return l.st.load(l.Keys[i], l.Late(i), s)
}

// ReadAll calls read for every session of l, on all processors, and returns the values read
// and the sessions that could not be read. A session that has just been archived is left out.
func ReadAll[T any](l Listing, read func(i int, t *T) error) ([]T, []Problem) {
	all, errs := make([]T, len(l.Keys)), make([]error, len(l.Keys))
	Parallel(len(all), func(i int) { errs[i] = read(i, &all[i]) })
	n := 0
	var problems []Problem
	for i, err := range errs {
		switch {
		case err == nil:
			if n != i {
				all[n] = all[i]
			}
			n++
		case !errors.Is(err, fs.ErrNotExist):
			problems = append(problems, Problem{l.Keys[i], err})
		}
	}
	return all[:n], problems
}

// keys lists the sessions that have a file in dir.
func (st *Store) keys(dir string) ([]Key, error) {
	names, err := readNames(st.path(dir, ""))
	keys := make([]Key, 0, len(names))
	for _, n := range names {
		if k, ok := KeyOfFile(n); ok {
			keys = append(keys, k)
		}
	}
	return keys, err
}

// KeyOfFile returns the key of a file in SessionsDir, and whether name is a session's file.
func KeyOfFile(name string) (Key, bool) {
	k, ok := strings.CutSuffix(name, ".json")
	return Key(k), ok && isKey(k)
}

// makeable returns an error if the state directory does not exist and cannot be created. It
// leaves nothing behind.
func makeable(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := dir
	for !exists(parent) && filepath.Dir(parent) != parent {
		parent = filepath.Dir(parent)
	}
	trial, err := os.MkdirTemp(parent, ".beckon-")
	if err == nil {
		return os.Remove(trial)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	return &fs.PathError{Op: "making the state directory", Path: dir, Err: err}
}

// Version returns the stamp of a session's file, to tell whether it was replaced since. The file
// system's clock may be coarse: a young stamp may belong to two versions.
func (st *Store) Version(k Key) plainfile.Version {
	s, _ := plainfile.VersionOf(st.session(k))
	return s
}

// Parallel calls do for every number below n, on all processors, and returns when all calls
// have returned. Reading many small files is mostly system calls, which run in parallel.
func Parallel(n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			do(int(i))
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n/16) - 1 { // for few, workers cost more than they save
		others.Go(work)
	}
	work()
	others.Wait()
}
