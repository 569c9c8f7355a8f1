//go:build !windows

package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// removesOpen: a file can be removed while it is open.
const removesOpen = true

// sharingViolation reports whether err comes from another process having the
// file open; that happens on Windows alone.
func sharingViolation(error) bool { return false }

// lockFile is a lock file, locked by flock(2). The lock goes with the last
// descriptor, so the kernel drops a killed holder's.
type lockFile struct{ f *os.File }

func openLockFile(path string) (*lockFile, error) {
	// For writing, since NFS makes flock a write lock of the whole file.
	f, err := open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return &lockFile{f}, nil
}

func (l *lockFile) path() string { return l.f.Name() }

// try reports whether it has locked l, without waiting.
func (l *lockFile) try() (bool, error) {
	err := l.flock(syscall.LOCK_EX | syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// block locks l, however long that takes.
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

// Close drops the lock.
func (l *lockFile) Close() { _ = l.f.Close() }
