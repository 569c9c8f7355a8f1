//go:build !linux && !windows

package store

// unprivileged runs f. On other systems the tests do not run as root.
func unprivileged(f func()) { f() }
