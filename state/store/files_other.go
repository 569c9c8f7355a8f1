//go:build !windows

package store

// sharingViolation reports whether err comes from another process having the
// file open; that happens on Windows alone.
func sharingViolation(error) bool { return false }
