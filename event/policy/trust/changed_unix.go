//go:build linux || darwin

package trust

import (
	"io/fs"
	"strconv"
	"syscall"
)

// changed identifies a version of a file even if its size and modification time were restored:
// by the time of its last status change, which nobody can set, and its inode.
func changed(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatInt(changedAt(s), 10) + "\t" + strconv.FormatUint(s.Ino, 10)
}
