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
