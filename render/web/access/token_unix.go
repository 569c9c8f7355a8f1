//go:build unix

package access

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether nobody but this user can read or write a file.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
