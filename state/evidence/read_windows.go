package evidence

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// exists reports whether there is something at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// parentIsFile reports whether a path may not have been opened because an
// element of it is a file; Windows says the same when it is not there at all.
func parentIsFile(err error) bool { return errors.Is(err, windows.ERROR_PATH_NOT_FOUND) }
