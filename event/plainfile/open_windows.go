package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// NoFollow has no counterpart here: creating a symbolic link needs rights that users do not
// have.
const NoFollow = 0

// OpenDir opens a directory.
func OpenDir(path string) (*os.File, error) { return open(path, os.O_RDONLY, 0) }

func open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag, perm)
	for range 5 {
		if err == nil || !Unshared(err) {
			break
		}
		time.Sleep(5 * time.Millisecond) // it is being replaced, or removed
		f, err = os.OpenFile(path, flag, perm)
	}
	return f, err
}

func openReader(path string, flag int) (*os.File, error) { return open(path, os.O_RDONLY|flag, 0) }

// Unshared reports whether err means that another process has the file open without sharing
// it.
func Unshared(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
