package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/windows"
)

// keepOwner does nothing: a new file inherits its directory's access list.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

// A rename over a file that another program has open fails at once; such programs
// (indexers, virus scanners, the client itself) hold it for moments.
const (
	renameTries = 20
	renameDelay = 25 * time.Millisecond
)

func rename(from, to string) error {
	err := os.Rename(from, to)
	for range renameTries {
		if !errors.Is(err, windows.ERROR_SHARING_VIOLATION) && !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			return err
		}
		time.Sleep(renameDelay)
		err = os.Rename(from, to)
	}
	return err
}

// syncDir does nothing: Windows cannot flush a directory.
func syncDir(string) {}

// Runnable reports whether path names a program. The client starts real programs
// only, no scripts.
func Runnable(path string, _ fs.FileInfo) bool {
	return strings.EqualFold(filepath.Ext(path), ".exe")
}
