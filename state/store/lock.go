package store

import (
	"errors"
	"os"
	"time"
)

// LockWait is how long a hook waits for a session's lock before it leaves its event in late/, so
// that the agent does not wait for the hook.
const LockWait = time.Second

// noWait is for callers that can try again later.
const noWait = 0

// The first and the longest time between two attempts to get a lock: a hook holds one for about
// 0.3 ms. A wait in flock itself cannot be cancelled, and keeps a thread.
const (
	minPause = 200 * time.Microsecond
	maxPause = 4 * time.Millisecond
)

// ErrBusy is returned if the lock was not free in time.
var ErrBusy = errors.New("session is locked by another process")

// lockFile is a locked file: by flock(2), or by LockFileEx on Windows. With gofrs/flock a hook
// takes 6 % longer, and fails where only six or seven descriptors are left.
type lockFile struct{ f *os.File }

// lock locks k's lock file. The session file itself is never locked: it is replaced by rename,
// so two writers would lock different files.
func (st *Store) lock(k Key, wait time.Duration) (*lockFile, error) {
	end := time.Now().Add(wait)
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		l, err := st.tryLock(st.lockFile(k))
		if err != ErrBusy || !time.Now().Before(end) {
			return l, err
		}
		sleep(pause)
	}
}

// tryLock locks the file at path, or returns ErrBusy. Where the file system has no locks, the
// file counts as locked: events that come one by one are then still folded.
//
// The file may be pruned or deleted. So once it is locked, it must still be the one at its path;
// otherwise another process may hold a new one, and both would fold. Whoever deletes it holds
// the lock and does nothing more under it.
func (st *Store) tryLock(path string) (*lockFile, error) {
	l, err := st.openLock(path)
	if err != nil {
		return nil, err
	}
	locked, err := l.try()
	if unsupported(err) || locked && l.inPlace() {
		return l, nil
	}
	l.Close()
	if err == nil {
		err = ErrBusy
	}
	return nil, err
}

// inPlace reports whether l is still the file at its path.
func (l *lockFile) inPlace() bool {
	held, err := l.f.Stat()
	there, e := os.Stat(l.f.Name())
	return err == nil && e == nil && os.SameFile(held, there)
}

// openLock opens the lock file at path. It sets aside anything else at path.
func (st *Store) openLock(path string) (l *lockFile, err error) {
	l = &lockFile{}
	try := func() (err error) {
		// Opened for writing because NFS turns flock into a write lock of the whole file.
		l.f, err = open(path, os.O_RDWR|os.O_CREATE)
		return err
	}
	err = inDir(st.path(locksDir, ""), try)
	if err != nil && irregular(path) && st.setAside(path) == nil {
		err = try()
	}
	return l, err
}

// LockProblem returns the error of locking a file in the state directory, nil if that works. If
// it does not, two hooks of one session at the same moment may lose one event.
func (st *Store) LockProblem() error {
	l, err := st.openLock(st.path(locksDir, "doctor"))
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = l.try()
	return err
}
