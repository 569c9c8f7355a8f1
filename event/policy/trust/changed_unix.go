//go:build linux || darwin

package trust

import (
	"io/fs"
	"strconv"
	"syscall"
)

// changed tells a file from what it was before, where its size and its time of
// modification were put back: by the time of its last change, which nobody can
// set, and its inode.
func changed(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatInt(changedAt(s), 10) + "\t" + strconv.FormatUint(s.Ino, 10)
}
