package cache

import "os"

// StampOf returns the stamp of the file at path, and whether there is one. What
// stands for the inode would take an open, and is left out.
func StampOf(path string) (Stamp, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}, false
	}
	return Stamp{Size: info.Size(), Time: info.ModTime().UnixNano()}, true
}
