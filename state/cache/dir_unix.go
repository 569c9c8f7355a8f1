//go:build linux || darwin

package cache

import "golang.org/x/sys/unix"

// dir is an open directory.
type dir int

func openDir(path string) (dir, bool) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	if !local(fd) {
		_ = unix.Close(fd)
		return 0, false
	}
	return dir(fd), true
}

func (d dir) stamp(name string) (Stamp, bool) {
	var s unix.Stat_t
	if unix.Fstatat(int(d), name, &s, 0) != nil {
		return Stamp{}, false
	}
	return stampOf(&s), true
}

func (d dir) close() { _ = unix.Close(int(d)) }
