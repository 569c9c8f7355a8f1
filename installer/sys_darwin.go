package installer

import "golang.org/x/sys/unix"

// exchange swaps two files in one step; ENOTSUP, of some file systems, is ErrUnsupported.
func exchange(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }
