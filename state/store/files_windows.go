package store

import (
	"errors"

	"golang.org/x/sys/windows"
)

// sharingViolation reports whether err comes from another process having the
// file open without sharing it.
func sharingViolation(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
