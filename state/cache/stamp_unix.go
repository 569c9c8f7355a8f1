//go:build !windows

package cache

import "golang.org/x/sys/unix"

// StampOf returns the stamp of the file at path, and whether it exists.
func StampOf(path string) (Stamp, bool) {
	var s unix.Stat_t
	if unix.Stat(path, &s) != nil {
		return Stamp{}, false
	}
	return stampOf(&s), true
}

func stampOf(s *unix.Stat_t) Stamp {
	return Stamp{Size: s.Size, Time: s.Mtim.Nano(), Changed: s.Ctim.Nano(), Inode: s.Ino}
}
