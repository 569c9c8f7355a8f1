package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// noFollow has no counterpart here: creating a symbolic link needs rights that users do not
// have.
const noFollow = 0

// OpenDir opens a directory.
func OpenDir(path string) (*os.File, error) { return open(path, os.O_RDONLY, 0) }

func open(path string, flag int, perm fs.FileMode) (*os.File, error) { return openFD(path, flag, perm) }

func openFD(path string, flag int, perm fs.FileMode) (f *os.File, err error) {
	err = Retry(func() error {
		f, err = os.OpenFile(path, flag, perm)
		return err
	})
	return f, err
}

// Retry calls f, and again a few times while another process has the file open without sharing it:
// it is being replaced, or removed.
func Retry(f func() error) error {
	err := f()
	for range 40 {
		if !errors.Is(err, windows.ERROR_SHARING_VIOLATION) && !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			break
		}
		time.Sleep(5 * time.Millisecond)
		err = f()
	}
	return err
}

// VersionOf returns the stamp of the file at path, and whether it exists. Reading what stands
// for the inode would take an open, so it is left out.
func VersionOf(path string) (Version, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return Version{}, false
	}
	return Version{Size: info.Size(), Time: info.ModTime().UnixNano()}, true
}
