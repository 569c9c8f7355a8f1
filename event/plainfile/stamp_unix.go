//go:build unix

package plainfile

import "golang.org/x/sys/unix"

// VersionOf returns the stamp of the file at path, and whether it exists.
func VersionOf(path string) (Version, bool) { return VersionIn(unix.AT_FDCWD, path) }

// VersionIn is VersionOf for a name in the directory that is open as dir.
func VersionIn(dir int, name string) (Version, bool) {
	var s unix.Stat_t
	if unix.Fstatat(dir, name, &s, 0) != nil {
		return Version{}, false
	}
	return Version{Size: s.Size, Time: s.Mtim.Nano(), Changed: s.Ctim.Nano(), Inode: s.Ino}, true
}
