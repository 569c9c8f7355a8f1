package cache

import "golang.org/x/sys/unix"

// local reports whether an open file is on a file system that no other machine writes to: what
// is known of files on a shared one may be seconds old.
func local(fd int) bool {
	var s unix.Statfs_t
	return unix.Fstatfs(fd, &s) == nil && s.Flags&unix.MNT_LOCAL != 0
}
