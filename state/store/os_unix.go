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

// unsupported reports whether err means that the file system has no locks, as NFS without a lock
// daemon.
func unsupported(err error) bool {
	return errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS)
}

// Close releases the lock. The kernel releases it with the last descriptor, so also when the
// holder is killed.
func (l *lockFile) Close() { _ = l.f.Close() }

// lockEnd is for Windows: here an append is one step.
func lockEnd(*os.File) (unlock func()) { return func() {} }
