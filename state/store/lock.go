package store

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// LockWait is how long a hook waits for a session's lock before it leaves its event in late/, so
// that the agent does not wait for the hook.
const LockWait = time.Second

// noWait is for callers that can try again later.
const noWait = 0

// ErrBusy is returned if the lock was not free in time.
var ErrBusy = errors.New("session is locked by another process")

// lockFile is a lock file: by flock(2), or by LockFileEx on Windows. With gofrs/flock a hook takes
// 6 % longer, and fails where only six or seven descriptors are left.
type lockFile struct{ f *os.File }

func openLockFile(path string) (*lockFile, error) {
	// Opened for writing because NFS turns flock into a write lock of the whole file.
	f, err := open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return &lockFile{f}, nil
}

func (l *lockFile) path() string { return l.f.Name() }

// inPlace reports whether l is still the file at its path.
func (l *lockFile) inPlace() bool {
	held, err := l.f.Stat()
	there, e := os.Stat(l.path())
	return err == nil && e == nil && os.SameFile(held, there)
}

// lock locks k's lock file. The session file itself is never locked: it is replaced by rename,
// so two writers would lock different files.
//
// The lock file may be pruned or deleted. So once it is locked, it must still be the file at
// its path; otherwise another process may hold a new one, and both would fold. Whoever deletes
// it holds the lock and does nothing more under it.
func (st *Store) lock(k Key, wait time.Duration) (*lockFile, error) {
	deadline := time.Now().Add(wait)
	for {
		l, err := st.openLock(st.lockFile(k))
		if err != nil {
			return nil, err
		}
		if err := l.acquire(deadline); err != nil {
			return nil, err
		}
		if l.inPlace() {
			return l, nil
		}
		l.Close()
		if !time.Now().Before(deadline) {
			return nil, ErrBusy
		}
	}
}

// openLock opens the lock file at path. It creates missing directories and sets aside anything
// else at path.
func (st *Store) openLock(path string) (*lockFile, error) {
	l, err := openLockFile(path)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, fs.ErrNotExist):
		err = os.MkdirAll(st.path(locksDir, ""), dirMode)
	case irregular(path):
		err = st.setAside(path)
	}
	if err != nil {
		return nil, err
	}
	return openLockFile(path)
}

// acquire locks l before the deadline, or closes it. Where the file system has no locks, l counts
// as locked: events that come one by one are then still folded.
func (l *lockFile) acquire(deadline time.Time) error {
	ok, err := l.try()
	if unsupported(err) {
		return nil
	}
	if err == nil && !ok {
		return l.await(time.Until(deadline))
	}
	if err != nil {
		l.Close()
	}
	return err
}

// waiting is the set of paths of the locks for which a goroutine of this process waits in the
// system call.
var waiting sync.Map

// await locks l within wait, or closes it. It waits in the lock call itself: for 64 processes
// on one file that took 79 ms in all, and 134 to 142 ms if each tried repeatedly. The timeout
// is for a holder that is stopped.
//
// The call cannot be cancelled, and it occupies a thread. So only one goroutine per lock waits
// in it, and releases the lock if it gets it too late; the others poll. Otherwise a program
// that looks every second at a session whose holder is stopped would collect threads until it
// dies.
func (l *lockFile) await(wait time.Duration) error {
	if wait <= 0 {
		l.Close()
		return ErrBusy
	}
	path := l.path()
	if _, another := waiting.LoadOrStore(path, nil); another {
		return l.poll(wait)
	}
	got, done := make(chan error, 1), make(chan struct{})
	defer close(done)
	go func() { got <- l.block() }()
	select {
	case err := <-got:
		waiting.Delete(path)
		if err != nil {
			l.Close()
		}
		return err
	case <-expire(wait, done):
		go func() {
			<-got
			waiting.Delete(path)
			l.Close()
		}()
		return ErrBusy
	}
}

// poll locks l within wait, or closes it.
func (l *lockFile) poll(wait time.Duration) error {
	const every = 2 * time.Millisecond
	for deadline := time.Now().Add(wait); time.Now().Before(deadline); time.Sleep(every) {
		if ok, err := l.try(); ok || err != nil {
			if err != nil {
				l.Close()
			}
			return err
		}
	}
	l.Close()
	return ErrBusy
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

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
