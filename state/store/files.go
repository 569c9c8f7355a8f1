package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// maxFile bounds what is read of one session file; a larger one is not ours.
const maxFile = 1 << 20

// readFile reads a file of at most limit bytes. An empty file counts as
// missing: a crash of the machine may leave one.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, 4096)
	n := 0
	for {
		room := len(buf) - n
		m, err := f.Read(buf[n:])
		n += m
		if err == io.EOF || (err == nil && m < room) { // a short read of a regular file is its end
			break
		}
		if err != nil {
			return nil, err
		}
		if int64(n) > limit {
			return nil, errors.New("file is too large")
		}
		if n == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
	if n == 0 {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return buf[:n], nil
}

// replace writes data to path by way of tmp, which must be on the same file
// system and be no one else's to write (the caller holds a lock): readers see
// the old file or the new one, whole.
func replace(tmp, path string, data []byte) error {
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
	}
	return err
}

// rename retries while another process has the target open without sharing
// (Windows).
func rename(from, to string) error {
	err := os.Rename(from, to)
	for range 20 {
		if err == nil || !sharingViolation(err) {
			break
		}
		time.Sleep(5 * time.Millisecond)
		err = os.Rename(from, to)
	}
	return err
}

// replaceMaking is replace for a directory that may not be there yet.
func replaceMaking(tmp, path, dir string, data []byte) error {
	err := replace(tmp, path, data)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, dirMode); err == nil {
			err = replace(tmp, path, data)
		}
	}
	return err
}
