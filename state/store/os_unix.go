//go:build !windows

package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// removesOpen reports whether an open file can be removed.
const removesOpen = true

// sharingViolation reports whether err means that another process has the file open, which
// happens only on Windows.
func sharingViolation(error) bool { return false }

// lockFile is a lock file, locked by flock(2). The kernel releases the lock with the last
// descriptor, so also when the holder is killed.
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

// try locks l without waiting and reports whether it did.
func (l *lockFile) try() (bool, error) {
	err := l.flock(syscall.LOCK_EX | syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// block locks l and waits as long as necessary.
func (l *lockFile) block() error { return l.flock(syscall.LOCK_EX) }

func (l *lockFile) flock(how int) error {
	for {
		err := syscall.Flock(int(l.f.Fd()), how)
		switch err {
		case nil:
			return nil
		case syscall.EINTR:
		default:
			return &fs.PathError{Op: "lock", Path: l.path(), Err: err}
		}
	}
}

// inPlace reports whether l is still the file at its path.
func (l *lockFile) inPlace() bool {
	held, err := l.f.Stat()
	there, e := os.Stat(l.path())
	return err == nil && e == nil && os.SameFile(held, there)
}

// Close releases the lock.
func (l *lockFile) Close() { _ = l.f.Close() }
