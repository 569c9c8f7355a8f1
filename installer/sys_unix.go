//go:build unix

package installer

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of like, which is for root where they are others'.
func keepOwner(path string, like fs.FileInfo) error {
	owner := like.Sys().(*syscall.Stat_t)
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
