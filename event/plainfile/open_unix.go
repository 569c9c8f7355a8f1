//go:build unix

package plainfile

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// noFollow is a flag that opens no symbolic link.
const noFollow = syscall.O_NOFOLLOW

// OpenDir opens a directory for reading its entries.
func OpenDir(path string) (*os.File, error) { return open(path, os.O_RDONLY|syscall.O_DIRECTORY, 0) }

func open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := openFD(path, flag, perm)
	if err != nil {
		return nil, err
	}
	// With O_NONBLOCK os.NewFile would set up the poller.
	if err := syscall.SetNonblock(f.fd, false); err != nil {
		_ = f.Close()
		return nil, f.fail("open", err)
	}
	return os.NewFile(uintptr(f.fd), path), nil
}

// reader is a file descriptor.
type reader struct {
	fd   int
	path string
}

func openFD(path string, flag int, perm fs.FileMode) (f reader, err error) {
	f.path = path
	for {
		// Without O_NONBLOCK a FIFO in its place would block the hook for ever. Regular files
		// ignore the flag.
		f.fd, err = syscall.Open(path, flag|syscall.O_CLOEXEC|syscall.O_NONBLOCK|syscall.O_NOCTTY, uint32(perm))
		if err == nil {
			return f, nil
		}
		if err != syscall.EINTR {
			return f, f.fail("open", err)
		}
	}
}

// Read returns no error at the end of the file.
func (f reader) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(f.fd, p)
		if err == nil {
			return n, nil
		}
		if err != syscall.EINTR {
			return 0, f.fail("read", err)
		}
	}
}

func (f reader) Close() error { return syscall.Close(f.fd) }

func (f reader) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.path, Err: err}
}

// Retry calls f. On Windows it calls it again while another process has the file open.
func Retry(f func() error) error { return f() }

// VersionOf returns the stamp of the file at path, and whether it exists.
func VersionOf(path string) (Version, bool) {
	var s unix.Stat_t
	if unix.Stat(path, &s) != nil {
		return Version{}, false
	}
	return Version{Size: s.Size, Time: s.Mtim.Nano(), Changed: s.Ctim.Nano(), Inode: s.Ino}, true
}
