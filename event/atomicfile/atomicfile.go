// Package atomicfile replaces files as a whole: whoever reads one sees the old
// content or the new.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes data the content of path, in a directory that it makes if there is
// none. With sync it is on the disk before the old content goes, which a power
// cut then cannot lose.
func Write(path string, data []byte, mode fs.FileMode, sync bool) error {
	dir, name := filepath.Dir(path), ".new-*"
	f, err := os.CreateTemp(dir, name) // 0600
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			f, err = os.CreateTemp(dir, name)
		}
	}
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Create makes a file that only its owner can read, with data, as a whole, in a
// directory that is there. Of several that make it one succeeds; for the others the
// error is fs.ErrExist.
func Create(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}
