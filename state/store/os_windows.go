package store

import (
	"errors"
	"os"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/windows"
)

// file is an open file.
type file struct{ *os.File }

// open opens or makes a file.
func open(path string, flags int) (*file, error) {
	f, err := os.OpenFile(path, flags, fileMode)
	for range 5 {
		if err == nil || !sharingViolation(err) {
			break
		}
		time.Sleep(5 * time.Millisecond) // it is being replaced
		f, err = os.OpenFile(path, flags, fileMode)
	}
	if err != nil {
		return nil, err
	}
	return &file{f}, nil
}

func openDir(path string) (*os.File, error) { return os.Open(path) }

// Size returns the length of the file; regular is false for a directory.
func (f *file) Size() (size int64, regular bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), info.Mode().IsRegular(), nil
}

func renameFile(from, to string) error { return os.Rename(from, to) }

// sharingViolation reports whether err comes from another process having the
// file open without sharing it.
func sharingViolation(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}

// lockFile is a lock file, locked by LockFileEx.
type lockFile struct{ l *flock.Flock }

// openLockFile makes the file; the lock opens it anew.
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

// try reports whether it has locked l, without waiting.
func (l *lockFile) try() (bool, error) { return l.l.TryLock() }

// block locks l, however long that takes.
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

// Close drops the lock.
func (l *lockFile) Close() { _ = l.l.Close() }

// StampOf returns the stamp of the file at path, and whether there is one. What
// stands for the inode would take an open, and is left out.
func StampOf(path string) (Stamp, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}, false
	}
	return Stamp{Size: info.Size(), Time: info.ModTime().UnixNano()}, true
}
