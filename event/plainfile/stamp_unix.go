//go:build unix

package plainfile

import "golang.org/x/sys/unix"

// StampOf returns the stamp of the file at path, and whether it exists.
func StampOf(path string) (Stamp, bool) { return StampIn(unix.AT_FDCWD, path) }

// StampIn is StampOf for a name in the directory that is open as dir.
func StampIn(dir int, name string) (Stamp, bool) {
	var s unix.Stat_t
	if unix.Fstatat(dir, name, &s, 0) != nil {
		return Stamp{}, false
	}
	return Stamp{Size: s.Size, Time: s.Mtim.Nano(), Changed: s.Ctim.Nano(), Inode: s.Ino}, true
}
