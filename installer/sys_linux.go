package installer

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two files in one step.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // not on every file system
		return errors.ErrUnsupported
	}
	return err
}
