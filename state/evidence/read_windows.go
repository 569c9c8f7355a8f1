package evidence

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// exists reports whether path exists.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// parentIsFile reports whether a path may not have opened because one of its elements is a
// file; Windows gives the same error if it does not exist.
func parentIsFile(err error) bool { return errors.Is(err, windows.ERROR_PATH_NOT_FOUND) }
