package store

import (
	"errors"
	"os"
	"time"

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
