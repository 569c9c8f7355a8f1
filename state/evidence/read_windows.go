package evidence

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// readHead returns the first bytes of a file, at most len(buf).
func readHead(path string, buf []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := io.ReadFull(f, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return buf[:n], err
}

// readNoFollow is readHead: git for Windows writes no symbolic HEAD.
func readNoFollow(path string, buf []byte) ([]byte, error) { return readHead(path, buf) }

// exists reports whether there is something at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// parentIsFile reports whether a path may not have been opened because an
// element of it is a file; Windows says the same when it is not there at all.
func parentIsFile(err error) bool { return errors.Is(err, windows.ERROR_PATH_NOT_FOUND) }

// absent reports whether there is nothing at the path.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func denied(err error) bool { return errors.Is(err, fs.ErrPermission) }
