//go:build unix

package answer

import (
	"io/fs"
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
	if !ok || int(owner.Uid) != os.Getuid() {
		return false
	}
	others := fs.FileMode(0o022)
	if owner.Gid == owner.Uid { // a group of one's own, to which umask 002 gives its rights
		others = 0o002
	}
	return info.Mode().Perm()&others == 0
}
