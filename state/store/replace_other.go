//go:build !linux

package store

// replaceFile puts the file from in the place of to.
func replaceFile(from, to string) error { return renameFile(from, to) }
