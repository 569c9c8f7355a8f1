//go:build unix

package installer

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of like, which is for root where they are others'. It is done
// to the open file, because its name is in a directory of that other user.
func keepOwner(f *os.File, like fs.FileInfo) error {
	owner := like.Sys().(*syscall.Stat_t)
	return f.Chown(int(owner.Uid), int(owner.Gid))
}
