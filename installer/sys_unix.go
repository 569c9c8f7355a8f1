//go:build unix

package installer

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and group of like. It does nothing when they are the
// same already, since only root may change them.
func keepOwner(f *os.File, like fs.FileInfo) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	is, ok1 := now.Sys().(*syscall.Stat_t)
	want, ok2 := like.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	return cause(f.Chown(int(want.Uid), int(want.Gid)))
}

func rename(from, to string) error { return os.Rename(from, to) }

// syncDir makes a rename in dir outlast a power cut, where that can be done: the rename itself
// has succeeded.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Runnable reports whether info is of a file that may be executed.
func Runnable(_ string, info fs.FileInfo) bool { return info.Mode().Perm()&0o111 != 0 }
