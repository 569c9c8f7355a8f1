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
	return f.Chown(int(want.Uid), int(want.Gid))
}
