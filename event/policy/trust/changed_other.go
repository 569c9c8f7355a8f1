//go:build !linux && !darwin

package trust

import "io/fs"

// changed is for systems that report when a file was last changed.
func changed(fs.FileInfo) string { return "" }
