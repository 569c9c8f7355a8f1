//go:build !windows

package store

import (
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// file is an open file. It is no os.File: that one is offered to the runtime's
// poller at every open, which a regular file refuses, for five system calls
// and the poller's memory.
type file struct {
	fd   int
	path string
}

// open opens or makes a file. To be written to it must be one itself: through
// a link that somebody put in its place another file would be.
func open(path string, flags int) (*file, error) {
	if flags&(os.O_WRONLY|os.O_RDWR) != 0 {
		flags |= syscall.O_NOFOLLOW
	}
	// Without O_NONBLOCK a FIFO in the way would hold the hook up for ever.
	// Regular files do not know the flag.
	flags |= syscall.O_CLOEXEC | syscall.O_NONBLOCK
	fd, err := again(func() (int, error) { return syscall.Open(path, flags, fileMode) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &file{fd, path}, nil
}

// openDir opens a directory. os.Open would offer it to the poller as well, and
// the runtime ends the process when there is no descriptor left for that.
func openDir(path string) (*os.File, error) {
	fd, err := again(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// again calls f until no signal interrupts it.
func again(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != syscall.EINTR {
			return n, err
		}
	}
}

func (f *file) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.path, Err: err}
}

// Read is io.Reader.
func (f *file) Read(p []byte) (int, error) {
	return f.got(again(func() (int, error) { return syscall.Read(f.fd, p) }))
}

func (f *file) got(n int, err error) (int, error) {
	switch {
	case err != nil:
		return 0, f.fail("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// ReadAt is io.ReaderAt.
func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = f.got(again(func() (int, error) { return syscall.Pread(f.fd, p[n:], off+int64(n)) }))
		n += m
	}
	return n, err
}

// Write is io.Writer.
func (f *file) Write(p []byte) (n int, err error) {
	return f.all(p, func(n int) (int, error) { return syscall.Write(f.fd, p[n:]) })
}

// WriteAt is io.WriterAt.
func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	return f.all(p, func(n int) (int, error) { return syscall.Pwrite(f.fd, p[n:], off+int64(n)) })
}

// all writes p in as many steps as it takes; a full disk makes short ones.
func (f *file) all(p []byte, write func(from int) (int, error)) (n int, err error) {
	for n < len(p) {
		m, err := again(func() (int, error) { return write(n) })
		if err != nil {
			return n, f.fail("write", err)
		}
		n += m
	}
	return n, nil
}

// Truncate cuts the file to size bytes.
func (f *file) Truncate(size int64) error {
	if _, err := again(func() (int, error) { return 0, syscall.Ftruncate(f.fd, size) }); err != nil {
		return f.fail("truncate", err)
	}
	return nil
}

// Size returns the length of the file; regular is false for a directory, a
// FIFO or a device.
func (f *file) Size() (size int64, regular bool, err error) {
	var s syscall.Stat_t
	if err := syscall.Fstat(f.fd, &s); err != nil {
		return 0, false, f.fail("stat", err)
	}
	return s.Size, s.Mode&syscall.S_IFMT == syscall.S_IFREG, nil
}

// Close closes the file.
func (f *file) Close() error { return syscall.Close(f.fd) }

// StampOf returns the stamp of the file at path, and whether there is one.
func StampOf(path string) (Stamp, bool) {
	var s unix.Stat_t
	if _, err := again(func() (int, error) { return 0, unix.Stat(path, &s) }); err != nil {
		return Stamp{}, false
	}
	return Stamp{Size: s.Size, Time: s.Mtim.Nano(), Inode: s.Ino}, true
}

// renameFile is rename(2). os.Rename looks at the target first.
func renameFile(from, to string) error {
	if _, err := again(func() (int, error) { return 0, syscall.Rename(from, to) }); err != nil {
		return &fs.PathError{Op: "rename", Path: from, Err: err}
	}
	return nil
}

// sharingViolation reports whether err comes from another process having the
// file open; that happens on Windows alone.
func sharingViolation(error) bool { return false }

// lockFile is a lock file, locked by flock(2). The lock goes with the last
// descriptor, so the kernel drops a killed holder's.
type lockFile struct{ f *file }

func openLockFile(path string) (*lockFile, error) {
	// For writing, since NFS makes flock a write lock of the whole file.
	f, err := open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return &lockFile{f}, nil
}

func (l *lockFile) path() string { return l.f.path }

// try reports whether it has locked l, without waiting.
func (l *lockFile) try() (bool, error) {
	err := l.flock(syscall.LOCK_EX | syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	if err != nil {
		return false, l.f.fail("lock", err)
	}
	return true, nil
}

// block locks l, however long that takes.
func (l *lockFile) block() error {
	if err := l.flock(syscall.LOCK_EX); err != nil {
		return l.f.fail("lock", err)
	}
	return nil
}

func (l *lockFile) flock(how int) error {
	_, err := again(func() (int, error) { return 0, syscall.Flock(l.f.fd, how) })
	return err
}

// inPlace reports whether l is still the file at its path.
func (l *lockFile) inPlace() bool {
	var held, there syscall.Stat_t
	return syscall.Fstat(l.f.fd, &held) == nil && syscall.Stat(l.f.path, &there) == nil &&
		held.Dev == there.Dev && held.Ino == there.Ino
}

// Close drops the lock.
func (l *lockFile) Close() { _ = l.f.Close() }
