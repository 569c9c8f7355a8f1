//go:build !windows

package store

import (
	"errors"
	"os"
	"syscall"
)

// try locks l if nobody else holds it, and reports whether it did.
func (l *lockFile) try() (bool, error) {
	for {
		err := syscall.Flock(int(l.f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch err {
		case nil:
			return true, nil
		case syscall.EWOULDBLOCK:
			return false, nil
		case syscall.EINTR:
		default:
			return false, &os.PathError{Op: "lock", Path: l.f.Name(), Err: err}
		}
	}
}

// unsupported reports whether err means that the file system has no locks, as NFS without a lock daemon.
func unsupported(err error) bool {
	return errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS)
}

// Close releases the lock. The kernel releases it with the last descriptor, so also when the
// holder is killed.
func (l *lockFile) Close() { _ = l.f.Close() }
