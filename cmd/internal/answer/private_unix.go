//go:build unix

package answer

import (
	"os"
	"path/filepath"
	"syscall"
)

// private reports whether a directory is the user's own and nobody else can
// write to it.
func private(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || !filepath.IsAbs(dir) || !info.IsDir() {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}
