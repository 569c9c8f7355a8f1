package store

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// LockWait is how long a hook waits for a session's lock before it spools its
// event (row B10: the agent never waits for us).
const LockWait = time.Second

// ErrBusy is returned when the lock was not had in time.
var ErrBusy = errors.New("session is locked by another process")

// lock takes the side lock of k. The file that rename replaces is never the
// one that is locked: two writers would lock different files. The lock file
// may be pruned, so after locking it must still be the one at the path;
// otherwise another process may hold the new one.
func (st *Store) lock(k Key, wait time.Duration) (unlock func(), err error) {
	path := st.lockFile(k)
	for deadline := time.Now().Add(wait); ; {
		l, err := st.openLock(path, time.Until(deadline))
		if err != nil {
			return nil, err
		}
		if current(l, path) {
			return func() { _ = l.Close() }, nil // closing drops the lock
		}
		_ = l.Close()
		if time.Now().After(deadline) {
			return nil, ErrBusy
		}
	}
}

func (st *Store) openLock(path string, wait time.Duration) (*flock.Flock, error) {
	l := flock.New(path, flock.SetPermissions(fileMode))
	ok, err := l.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		if err = st.make(); err != nil {
			return nil, err
		}
		ok, err = l.TryLock()
	}
	if err != nil {
		return nil, err
	}
	if ok {
		return l, nil
	}
	return l, blockFor(l, wait)
}

// blockFor waits in flock itself: 64 processes on one file took 79 ms in all,
// against 134 to 142 ms when each tried again. The timer beside it covers a
// holder that is stopped.
func blockFor(l *flock.Flock, wait time.Duration) error {
	got := make(chan error, 1)
	go func() { got <- l.Lock() }()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case err := <-got:
		return err
	case <-timer.C:
		go func() { // a long-lived process must not keep a lock it got too late
			if <-got == nil {
				_ = l.Close()
			}
		}()
		return ErrBusy
	}
}

// current reports whether the locked file is still the one at path.
func current(l *flock.Flock, path string) bool {
	held, err := l.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(held, there)
}
