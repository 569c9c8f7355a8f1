//go:build unix

package evidence

import (
	"errors"
	"io/fs"
	"syscall"
)

// readHead returns the first bytes of a file, as many as one read puts into
// buf: three system calls, where os.Open would add two for the poller. It does
// not wait for the other end of a pipe, and does not follow a symbolic link in
// the last element when flags hold O_NOFOLLOW.
func readHead(path string, buf []byte) ([]byte, error) { return readFlags(path, buf, 0) }

func readFlags(path string, buf []byte, flags int) ([]byte, error) {
	fd, err := openRetry(path, flags|syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK|syscall.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	for {
		n, err := syscall.Read(fd, buf)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		return buf[:n], nil
	}
}

func openRetry(path string, flags int) (int, error) {
	for {
		fd, err := syscall.Open(path, flags, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

// exists reports whether there is something at path.
func exists(path string) bool { return syscall.Access(path, 0) == nil }

// readNoFollow reads a file that must not be a symbolic link.
func readNoFollow(path string, buf []byte) ([]byte, error) {
	return readFlags(path, buf, syscall.O_NOFOLLOW)
}

// parentIsFile reports whether a path could not be opened because an element
// of it is a file.
func parentIsFile(err error) bool { return err == syscall.ENOTDIR }

// absent reports whether there is nothing at the path.
func absent(err error) bool { return err == syscall.ENOENT || err == syscall.ENOTDIR }

func denied(err error) bool { return errors.Is(err, fs.ErrPermission) }
