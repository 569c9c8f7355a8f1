//go:build !windows

package store

import (
	"os"
	"syscall"
)

// lockFile is a lock file, locked by flock(2). The lock goes with the last
// descriptor, so the kernel drops a killed holder's.
type lockFile struct{ f *file }

func openLockFile(path string) (*lockFile, error) {
	// For writing, since NFS makes flock a write lock of the whole file.
	f, err := open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return &lockFile{f}, nil
}

func (l *lockFile) path() string { return l.f.path }

// try reports whether it has locked l, without waiting.
func (l *lockFile) try() (bool, error) {
	err := l.flock(syscall.LOCK_EX | syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	if err != nil {
		return false, l.f.fail("lock", err)
	}
	return true, nil
}

// block locks l, however long that takes.
func (l *lockFile) block() error {
	if err := l.flock(syscall.LOCK_EX); err != nil {
		return l.f.fail("lock", err)
	}
	return nil
}

func (l *lockFile) flock(how int) error {
	_, err := again(func() (int, error) { return 0, syscall.Flock(l.f.fd, how) })
	return err
}

// inPlace reports whether l is still the file at its path.
func (l *lockFile) inPlace() bool {
	var held, there syscall.Stat_t
	return syscall.Fstat(l.f.fd, &held) == nil && syscall.Stat(l.f.path, &there) == nil &&
		held.Dev == there.Dev && held.Ino == there.Ino
}

// Close drops the lock.
func (l *lockFile) Close() { _ = l.f.Close() }
