package store

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/state"
)

// LockWait is how long a hook waits for a session's lock before it leaves its event in late/.
const LockWait = time.Second

// noWait is for callers that can try again later.
const noWait = 0

// The first and the longest time between two attempts to get a lock, which a hook holds for 0.3 ms. A wait
// in flock itself cannot be cancelled, and keeps a thread.
const (
	minPause = 200 * time.Microsecond
	maxPause = 4 * time.Millisecond
)

// ErrBusy is returned if the lock was not free in time.
var ErrBusy = errors.New("session is locked by another process")

// lockFile is a locked file: by flock(2), or by LockFileEx on Windows. With gofrs/flock a hook
// takes 6 % longer, and fails where only six or seven descriptors are left.
type lockFile struct{ f *os.File }

// lock locks the lock file of that name, mostly a session's, whose own file is replaced: two writers would
// lock different files.
func (st *Store) lock(name Key, wait time.Duration) (*lockFile, error) {
	end := time.Now().Add(wait)
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		l, err := st.tryLock(st.lockFile(name))
		switch {
		case l != nil:
			return l, nil
		case err != ErrBusy || !time.Now().Before(end):
			return nil, err
		}
		sleep(pause)
	}
}

// tryLock locks the file at path, or returns ErrBusy. Where the file system has no locks, it returns the file
// and the error, and the file counts as locked: events that come one by one are then still folded.
//
// The file may be pruned or deleted, and another process may hold a new one at its path. Whoever deletes
// it holds the lock and does nothing more under it.
func (st *Store) tryLock(path string) (*lockFile, error) {
	l := &lockFile{}
	err := st.put(path, func() (err error) { // for writing because NFS turns flock into a write lock of the file
		l.f, err = open(path, os.O_RDWR|os.O_CREATE)
		return err
	})
	if err != nil {
		return nil, err
	}
	locked, err := l.try()
	if unsupported(err) {
		return l, err
	}
	if locked {
		held, e := l.f.Stat()
		if there, e2 := os.Stat(path); e == nil && e2 == nil && os.SameFile(held, there) {
			return l, nil
		}
	}
	l.Close()
	return nil, cmp.Or(err, ErrBusy)
}

// LockProblem returns the error of locking a file in the state directory. Without locks, two hooks of one
// session at the same moment may lose one event.
func (st *Store) LockProblem() error {
	l, err := st.tryLock(st.path(locksDir, "doctor"))
	if l != nil {
		l.Close()
	}
	if err == ErrBusy {
		return nil
	}
	return err
}

// An event that could not get in, redacted, is a file late/SESSION/TIME-NUMBER-WORD.json. There is a
// directory only while there are files in it, so a hook needs one failed open to see that nothing waits.
// The session file names the files whose events it contains until they are gone: a kill may leave them.

// postponeFile keeps an event for the next process that locks the session.
func (st *Store) postponeFile(k Key, c state.Change) error {
	c.Seq = 1 // a line without a number does not parse; the real one comes later
	at, now := strconv.FormatInt(int64(c.At), 10), strconv.FormatInt(time.Now().UnixNano(), 10)
	name := at + "-" + now + "-" + unique() + ".json"
	l := newLine("", c)
	return st.write(lateDir+string(os.PathSeparator)+string(k), name, appendLine(nil, &l))
}

// lateNames lists the files that wait for a session, in the order of their events, whose times have the same
// number of digits; nil without a directory.
func (st *Store) lateNames(k Key) []string {
	names, _ := readNames(st.path(lateDir, string(k)))
	slices.Sort(names)
	return names
}

func (st *Store) latePath(k Key, name string) string {
	return st.path(lateDir, string(k)+string(os.PathSeparator)+name)
}

// takeLate applies the events that wait. One that is damaged is set aside.
func (h *locked) takeLate(alive Alive) {
	names, done := h.st.lateNames(h.key), strings.Fields(h.s.Late)
	var taken []string
	for _, n := range names {
		path := h.st.latePath(h.key, n)
		if !slices.Contains(done, n) {
			c, err := h.st.readLate(path)
			if errors.Is(err, errDamaged) {
				_ = h.st.setAside(path)
			}
			if err != nil {
				continue
			}
			u := Update{Change: c, Alive: alive}
			h.place(&u)
			h.apply(&u)
		}
		taken = append(taken, n)
	}
	h.s.Late = strings.Join(taken, " ")
	if names != nil && taken == nil { // a writer that was killed may leave it empty
		_ = os.Remove(h.st.path(lateDir, string(h.key))) // fails unless it is empty
	}
}

// readLate reads an event that waits: errDamaged if it is none.
func (st *Store) readLate(path string) (c state.Change, err error) {
	data, err := readFile(make([]byte, 4096), path, maxLine)
	if err != nil {
		return c, err
	}
	l, ok := parseLine(data)
	switch {
	case !ok:
		err = errDamaged
	case l.Event == nil:
		err = errors.New("an event of a newer version") // which may read it
	}
	return l.Change(), err
}

// TakeLate applies the events that wait, for readers. Those of sessions that another process has
// locked are left to it. The events of an earlier release wait in spool/.
func (st *Store) TakeLate() (err error) {
	old, _ := readNames(st.path("spool", ""))
	for _, n := range old {
		k, name, _ := strings.Cut(n, ".")
		to := st.latePath(Key(k), name)
		_ = st.put(to, func() error { return rename(st.path("spool", n), to) })
	}
	if len(old) > 0 {
		_ = os.Remove(st.path("spool", ""))
	}
	names, _ := readNames(st.path(lateDir, ""))
	for _, n := range names {
		if !isKey(n) || len(st.lateNames(Key(n))) == 0 {
			continue
		}
		if e := st.settle(Key(n)); !errors.Is(e, ErrBusy) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// settle applies the events that wait for a session, unless another process has locked it.
func (st *Store) settle(k Key) error {
	h, err := st.acquire(k, noWait)
	if err != nil {
		return err
	}
	defer h.release()
	h.takeLate(nil)
	return h.commit()
}
