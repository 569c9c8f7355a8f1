package store

import (
	"os"

	"beckon/event/plainfile"

	"github.com/gofrs/flock"
)

// removesOpen reports whether an open file can be removed. Here not even the process that
// opened it can.
const removesOpen = false

// sharingViolation reports whether err means that another process has the file open without
// sharing it.
func sharingViolation(err error) bool { return plainfile.Unshared(err) }

// lockFile is a lock file, locked by LockFileEx.
type lockFile struct{ l *flock.Flock }

// openLockFile creates the file; the lock opens it again.
func openLockFile(path string) (*lockFile, error) {
	f, err := open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return &lockFile{flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(fileMode))}, nil
}

func (l *lockFile) path() string { return l.l.Path() }

// try locks l without waiting and reports whether it did.
func (l *lockFile) try() (bool, error) { return l.l.TryLock() }

// block locks l and waits as long as necessary.
func (l *lockFile) block() error { return l.l.Lock() }

// inPlace reports whether l is still the file at its path.
func (l *lockFile) inPlace() bool {
	held, err := l.l.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.path())
	return err == nil && os.SameFile(held, there)
}

// Close releases the lock.
func (l *lockFile) Close() { _ = l.l.Close() }
