//go:build linux || darwin

package cache

import (
	"beckon/event/plainfile"

	"golang.org/x/sys/unix"
)

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

func (d dir) stamp(name string) (plainfile.Stamp, bool) { return plainfile.StampIn(int(d), name) }

func (d dir) close() { _ = unix.Close(int(d)) }
