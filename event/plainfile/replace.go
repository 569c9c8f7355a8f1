package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the content of path with data, as a whole: a reader sees either the old content
// or the new. It creates the directory if needed. With sync
// the data is on the disk before the old content is replaced, so that a power cut loses
// neither.
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

// Create creates a file with data, as a whole, that only its owner can read, in an existing
// directory. Of several concurrent callers one succeeds; the others get fs.ErrExist.
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
