package store

import (
	"golang.org/x/sys/unix"
)

// replaceFile puts the file from in the place of to. The two change places, and
// the old one is removed: ext4 takes a rename onto a file for a writer that
// forgot to sync, and writes the new one out there and then, which is most of
// what a hook's files cost (85 us against 6). A kill between the two leaves the
// old file at from.
func replaceFile(from, to string) error {
	if unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE) != nil {
		return renameFile(from, to) // there is no old one, or the file system cannot
	}
	_ = unix.Unlink(from)
	return nil
}
