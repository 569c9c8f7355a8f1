package answer

import (
	"os"
	"path/filepath"
)

// private reports whether a directory is there. Who may write to it is what the
// system's own rules for profiles say.
func private(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && filepath.IsAbs(dir) && info.IsDir()
}

// Shared reports whether somebody else may write to a file, which the file's mode
// does not show here.
func Shared(string) bool { return false }
