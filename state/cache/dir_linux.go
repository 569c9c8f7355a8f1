package cache

import "golang.org/x/sys/unix"

// local reports whether an open file is on a file system that no other machine writes to: what
// is known of files on a shared one may be seconds old.
func local(fd int) bool {
	var s unix.Statfs_t
	if unix.Fstatfs(fd, &s) != nil {
		return false
	}
	switch int64(s.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, zfsMagic, bcachefsMagic:
		return true
	}
	return false
}

// File systems whose numbers golang.org/x/sys/unix does not name.
const (
	zfsMagic      = 0x2fc12fc1
	bcachefsMagic = 0xca451a4e
)
