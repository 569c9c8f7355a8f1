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
	"time"

	"beckon/event/plainfile"
	"beckon/state"
	"beckon/state/cache"
)

// Load returns a live or archived session by its key, up to date with its journal. An unknown
// session is fs.ErrNotExist.
//
// Load never waits for a writer. If the file is behind its journal or does not parse, it is
// healed, provided that nobody holds the session and this process may write. Otherwise the
// journal is folded in memory, and so are the spooled events.
func (st *Store) Load(k Key) (s state.Session, err error) {
	return s, st.load(k, st.pending(k), &s)
}

// load is Load with the names of the spooled events given. It loads into s.
func (st *Store) load(k Key, spooled []string, s *state.Session) error {
	err := st.loadFolded(k, s)
	if len(spooled) > 0 {
		*s, err = st.withSpooled(*s, err, spooled)
	}
	return err
}

// loadFolded is load without the spooled events.
func (st *Store) loadFolded(k Key, s *state.Session) error {
	err := st.read(k, s)
	if err == nil && !st.behind(k, s) || errors.Is(err, state.ErrNewerSchema) {
		return err
	}
	if st.heal(k, noWait) == nil {
		return st.read(k, s)
	}
	return st.catchUp(k, s, err)
}

// read reads a session's file from sessions/, or else from archive/.
func (st *Store) read(k Key, s *state.Session) error {
	*s = state.Session{}
	err := readSession(st.session(k), s)
	if errors.Is(err, fs.ErrNotExist) {
		err = readSession(st.archived(k), s)
	}
	if errors.Is(err, fs.ErrNotExist) { // a resume may have moved it back meanwhile
		err = readSession(st.session(k), s)
	}
	return err
}

// readSession reads one session file into s. After an error the contents of s are undefined.
func readSession(path string, s *state.Session) error {
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	data, err := readInto(*buf, path, maxFile)
	if err == nil {
		*buf = data[:cap(data)]
		err = s.DecodeJSON(data) // copies what it keeps
	}
	return err
}

// readBuffers are buffers for session files. A view reads many files, and the first touch of
// each page of new memory costs more than the read.
var readBuffers = sync.Pool{New: func() any { b := make([]byte, 4096); return &b }}

// behind reports whether the session's file differs from the end of its journal: a writer was
// killed before it wrote the file, or is about to write it.
func (st *Store) behind(k Key, s *state.Session) bool {
	journal, ok := plainfile.StampOf(st.journal(k))
	return ok && journal.Size != s.Offset
}

// catchUp folds into s, in memory, the journal lines that it lacks. err is the error of
// reading s; it is returned if the journal does not help.
func (st *Store) catchUp(k Key, s *state.Session, err error) error {
	f, e := open(st.journal(k), os.O_RDONLY)
	if e != nil {
		return err
	}
	defer f.Close()
	size, e := sizeOf(f)
	if e != nil {
		return err
	}
	t, e := replay(*s, f, size)
	if e != nil || t.s.Seq == 0 {
		return err
	}
	*s = t.s
	return nil
}

// Heal brings a session's file up to date with its journal and its spooled events. If there is
// nothing of the session, it returns fs.ErrNotExist.
func (st *Store) Heal(k Key) error { return st.heal(k, LockWait) }

func (st *Store) heal(k Key, wait time.Duration) error {
	if !st.has(k) {
		return fs.ErrNotExist
	}
	h := holder{st: st, key: k}
	if err := h.acquire(wait); err != nil {
		return err
	}
	defer h.release()
	h.drain(nil)
	return h.commit()
}

// has reports whether k has any file. It is asked first so that no lock file is created for a
// session that never existed.
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

// Live returns every live session, sorted by key, and those that could not be read. Archived
// sessions are not read.
func (st *Store) Live() ([]state.Session, []Problem, error) { return all(st.List()) }

func all(l Listing, err error) ([]state.Session, []Problem, error) {
	if err != nil {
		return nil, nil, err
	}
	sessions, problems := ReadAll(l, l.Load)
	return sessions, problems, nil
}

// Listing is a list of sessions that have not been read yet.
type Listing struct {
	st      *Store
	keys    []Key
	waiting spooledNames
	cache   *cache.Cache[Key, state.Session]
}

// List lists the live sessions, sorted by key. Read them with ReadAll.
func (st *Store) List() (l Listing, err error) {
	l.st = st
	if l.keys, l.waiting, err = st.live(); err == nil {
		l.cache = cache.Open[Key, state.Session](st.CacheFile(sessionsDir), st.path(journalDir, ""), len(l.keys))
	}
	return l, err
}

// Load is Store.Load for session i. It loads into s.
func (l Listing) Load(i int, s *state.Session) error {
	k := l.keys[i]
	if l.cache == nil || len(l.waiting[k]) > 0 {
		return l.st.load(k, l.waiting[k], s)
	}
	journal, ok := l.cache.Get(k, string(k)+".jsonl", s)
	if ok {
		return s.Check()
	}
	err := l.st.load(k, nil, s)
	if err == nil && s.Offset == journal.Size { // the session belongs to this stamp
		l.cache.Put(k, s, journal)
	}
	return err
}

// ReadAll calls read for every session of l, on all processors, and returns the values read
// and the sessions that could not be read. A session that has just been archived is left out.
func ReadAll[T any](l Listing, read func(i int, t *T) error) ([]T, []Problem) {
	all, errs := make([]T, len(l.keys)), make([]error, len(l.keys))
	Parallel(len(all), func(i int) { errs[i] = read(i, &all[i]) })
	l.cache.Close(l.keys)
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
			problems = append(problems, Problem{l.keys[i], err})
		}
	}
	return all[:n], problems
}

// live drains the spool. It lists the live sessions, and the events that could not be drained.
func (st *Store) live() ([]Key, spooledNames, error) {
	_ = st.DrainSpool()
	keys, err := st.liveKeys()
	if err != nil {
		return nil, nil, err
	}
	keys, waiting := st.withWaiting(keys)
	slices.Sort(keys)
	return keys, waiting, nil
}

// withWaiting adds to keys the sessions that have only events in the spool, and returns those
// events.
func (st *Store) withWaiting(keys []Key) ([]Key, spooledNames) {
	waiting := st.waiting()
	for k := range waiting {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys, waiting
}

// liveKeys lists the sessions in the live directory by their file names, and those that have a
// journal but have lost their file. It is an error if the state directory does not exist and
// cannot be created: an empty list would then prove nothing.
func (st *Store) liveKeys() ([]Key, error) {
	keys, err := st.keys(sessionsDir)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		if err := makeable(st.Dir); err != nil {
			return nil, err
		}
	}
	if len(keys) > 0 && !st.lookDue() {
		return keys, nil
	}
	return append(keys, st.fileless(keys)...), nil
}

// makeable returns an error if the state directory does not exist and cannot be created. It
// leaves nothing behind.
func makeable(dir string) error {
	parent := dir
	for !exists(parent) && filepath.Dir(parent) != parent {
		parent = filepath.Dir(parent)
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
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

// lookEvery is how often readers look for journals without a session file. The journal
// directory may hold the files of more than a year.
const lookEvery = 10 * time.Second

// lookDue reports whether lookEvery has passed since any reader looked, and notes that this
// one does.
func (st *Store) lookDue() bool {
	stamp, now := st.path(journalDir, ".looked"), time.Now()
	if info, err := os.Stat(stamp); err == nil && now.Sub(info.ModTime()).Abs() < lookEvery {
		return false
	}
	if os.Chtimes(stamp, now, now) != nil {
		_ = os.WriteFile(stamp, nil, fileMode)
	}
	return true
}

// fileless finds the journals of sessions that have no file, although they are too young to
// have been pruned, and rebuilds the files. It returns the sessions that are live or cannot be
// rebuilt.
func (st *Store) fileless(live []Key) (lost []Key) {
	names, _ := readNames(st.path(journalDir, ""))
	there := make(map[Key]bool, len(live))
	for _, k := range live {
		there[k] = true
	}
	for _, n := range names {
		k := keyIn(n)
		if n != string(k)+".jsonl" || there[k] || st.kept(k) || older(st.path(journalDir, n), time.Now().Add(-keepArchived)) {
			continue
		}
		if st.heal(k, noWait) != nil || exists(st.session(k)) {
			lost = append(lost, k)
		}
	}
	return lost
}

// ListArchived lists the sessions in the archive.
func (st *Store) ListArchived() (Listing, error) {
	keys, err := st.keys(archiveDir)
	// A killed resume leaves its old file here.
	live := func(k Key) bool { return exists(st.session(k)) }
	return Listing{st: st, keys: slices.DeleteFunc(keys, live)}, err
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

// batch is how many files a worker takes at a time. For fewer than two batches, workers would
// cost more than they save.
const batch = 16

// Parallel calls do for every number below n, on all processors, and returns when all calls
// have returned. Reading many small files is mostly system calls, which run in parallel.
func Parallel(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n/batch)
	if workers < 2 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	work := func() {
		for end := 0; end < n; {
			end = int(next.Add(batch))
			for i := end - batch; i < min(end, n); i++ {
				do(i)
			}
		}
	}
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
