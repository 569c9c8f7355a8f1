//go:build unix

package evidence

import (
	"errors"
	"syscall"
)

// exists reports whether path exists.
func exists(path string) bool { return syscall.Access(path, 0) == nil }

// parentIsFile reports whether a path could not be opened because one of its elements is a
// file.
func parentIsFile(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
