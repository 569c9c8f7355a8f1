package store

import (
	"cmp"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event/plainfile"
	"beckon/state"
)

// maxFile is the size limit of a session file. A larger file was not written by beckon.
const maxFile = 1 << 20

// errDamaged means a file that is not as it was written: also an empty one, which a crash of the machine
// may leave, one over its limit, and a directory.
var errDamaged = errors.New("file is damaged")

// open opens a file, or with os.O_CREATE creates it.
func open(path string, flags int) (*os.File, error) { return plainfile.Open(path, flags, fileMode) }

// readFile reads a file of at most limit bytes, into buf if it fits.
func readFile(buf []byte, path string, limit int) ([]byte, error) {
	for {
		b, err := plainfile.Head(path, buf)
		switch {
		case err != nil && !irregular(path):
			return nil, err
		case err != nil || len(b) == 0 || len(b) >= limit:
			return nil, damaged(path)
		case len(b) < len(buf):
			return b, nil
		}
		buf = make([]byte, 4*len(buf))
	}
}

func damaged(path string) error { return &fs.PathError{Op: "read", Path: path, Err: errDamaged} }

// write replaces the file name in dir by a new file. Sessions are written under their lock, so their new
// file has their name, and the next writer replaces what a killed one left.
func (st *Store) write(dir, name string, data []byte) error {
	from, to := st.path(tmpDir, name), st.path(dir, name)
	if dir != sessionsDir && dir != archiveDir {
		from = st.path(tmpDir, unique())
	}
	err := st.put(from, func() error { return writeNew(from, data) })
	if err == nil {
		err = st.put(to, func() error {
			return plainfile.Retry(func() error { return replaceFile(from, to) })
		})
	}
	if err != nil {
		_ = os.Remove(from)
	}
	return err
}

// put calls f, which makes a file at path, and again once it has made the directory that f lacked, or has
// moved away what is no file. Another process may remove the directory before f has put the file there; on
// Windows its name is taken until the removal is done.
func (st *Store) put(path string, f func() error) (err error) {
	for range 100 {
		err = f()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			made := plainfile.Retry(func() error { return os.MkdirAll(filepath.Dir(path), dirMode) })
			if made != nil && !errors.Is(made, fs.ErrNotExist) {
				return made
			}
		case err == nil || !irregular(path) || st.setAside(path) != nil:
			return err
		}
	}
	return err
}

// writeNew writes a file that does not exist yet.
func writeNew(path string, data []byte) error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := open(path, flags)
	if err != nil && os.Remove(path) == nil { // a killed writer left it, or it was in the way
		f, err = open(path, flags)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Writable returns why no file can be made in the state directory. It leaves nothing behind.
func (st *Store) Writable() error {
	path, known := st.path(tmpDir, unique()), plainfile.Exists(st.Dir)
	err := st.put(path, func() error { return writeNew(path, nil) })
	if err != nil {
		return &fs.PathError{Op: "writing to the state directory", Path: st.Dir, Err: err}
	}
	_ = os.Remove(path)
	if !known {
		_, _ = os.Remove(st.path(tmpDir, "")), os.Remove(st.Dir) // fails unless they are empty
	}
	return nil
}

func rename(from, to string) error {
	return plainfile.Retry(func() error { return os.Rename(from, to) })
}

// setAside moves a file that is not ours or cannot be read to aside/, and logs that.
func (st *Store) setAside(path string) error {
	name := strconv.FormatInt(time.Now().UnixMicro(), 10) + "-" + unique() + "." + filepath.Base(path)
	to := st.path(asideDir, name)
	err := st.put(to, func() error { return rename(path, to) })
	if err == nil {
		st.Log(errors.New("a file could not be read and was moved: " + to))
	}
	return err
}

// Aside lists the files that could not be read and were moved to aside/, by their paths.
func (st *Store) Aside() ([]string, error) {
	names, err := readNames(st.path(asideDir, ""))
	slices.Sort(names)
	for i, n := range names {
		names[i] = st.path(asideDir, n)
	}
	return names, err
}

// ClearAside removes the files in aside/.
func (st *Store) ClearAside() error { return os.RemoveAll(st.path(asideDir, "")) }

// irregular reports whether there is something at path that is not a regular file.
func irregular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.Mode().IsRegular()
}

// readNames lists a directory, without hidden files, in no particular order. One that does not
// exist has no files.
func readNames(dir string) ([]string, error) {
	f, err := plainfile.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return slices.DeleteFunc(names, func(n string) bool { return n[0] == '.' }), err
}

// unique returns a unique word, which need not be secret.
func unique() string { return strconv.FormatUint(rand.Uint64(), 36) }

// Load returns a live or archived session, with the events that wait for it, unless another process has
// locked it. An unknown session is fs.ErrNotExist.
func (st *Store) Load(k Key) (s state.Session, err error) {
	if plainfile.Exists(st.latePath(k, "")) {
		_ = st.settle(k)
	}
	return s, st.Read(k, &s)
}

// Read is Load into s, of the files alone. A file that is damaged is reported, and set aside.
func (st *Store) Read(k Key, s *state.Session) error {
	_, err := st.read(k, s)
	if errors.Is(err, errDamaged) && st.settle(k) == nil {
		if _, again := st.read(k, s); again == nil {
			err = nil
		}
	}
	s.Late = "" // for writers alone
	return err
}

// readBuffers are for session files: the first touch of a page of new memory costs more than the read.
var readBuffers = sync.Pool{New: func() any { b := make([]byte, 4096); return &b }}

// Problem is a session file that could not be read.
type Problem struct {
	Key Key
	Err error
}

// Live returns every live session, sorted by key, and those that could not be read.
func (st *Store) Live() ([]state.Session, []Problem, error) {
	keys, err := st.List(false)
	if err != nil {
		return nil, nil, err
	}
	sessions, problems := st.readAll(keys)
	return sessions, problems, nil
}

// List lists the live sessions, or with the archive all, sorted, once the events that wait have been applied.
func (st *Store) List(archived bool) ([]Key, error) {
	_ = st.TakeLate()
	keys, err := st.keys(sessionsDir)
	if archived {
		old, e := st.keys(archiveDir)
		keys, err = append(keys, old...), cmp.Or(err, e)
	}
	slices.Sort(keys)
	return slices.Compact(keys), err // a killed resume leaves its old file in the archive
}

// readAll reads sessions, on all processors, and returns those that could not be read, too. A session that has
// just been removed is left out.
func (st *Store) readAll(keys []Key) (all []state.Session, problems []Problem) {
	read, errs := make([]state.Session, len(keys)), make([]error, len(keys))
	Parallel(len(keys), func(i int) { errs[i] = st.Read(keys[i], &read[i]) })
	for i, err := range errs {
		switch {
		case err == nil:
			all = append(all, read[i])
		case !errors.Is(err, fs.ErrNotExist):
			problems = append(problems, Problem{keys[i], err})
		}
	}
	return all, problems
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

// Versions returns the stamps of a session's file and of its status line's report. The file system's clock
// may be coarse: a young stamp may belong to two versions.
func (st *Store) Versions(k Key) (file, meter plainfile.Version) {
	file, _ = plainfile.VersionOf(st.session(k))
	meter, _ = plainfile.VersionOf(st.path(meterDir, string(k)+".json"))
	return file, meter
}

// Parallel calls do for every number below n, on all processors: reading small files is mostly system
// calls, which run in parallel.
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
