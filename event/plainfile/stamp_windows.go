package plainfile

import "os"

// StampOf returns the stamp of the file at path, and whether it exists. Reading what stands
// for the inode would take an open, so it is left out.
func StampOf(path string) (Stamp, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}, false
	}
	return Stamp{Size: info.Size(), Time: info.ModTime().UnixNano()}, true
}
