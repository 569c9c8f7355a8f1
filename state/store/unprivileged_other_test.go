//go:build !linux && !windows

package store

// unprivileged runs f. Elsewhere the tests are not run as root.
func unprivileged(f func()) { f() }
