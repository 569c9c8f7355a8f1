package answer

import (
	"os"
	"path/filepath"
)

// private reports whether a directory exists. The system's own rules for profiles say who may
// write to it.
func private(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && filepath.IsAbs(dir) && info.IsDir()
}

// Shared reports whether anyone else may write to a file; the file's mode does not show this
// on Windows.
func Shared(string) bool { return false }

// first reads nothing: every call is evaluated.
func first(*os.File) []byte { return nil }
