// Package jsonc reads single keys of beckon's own configuration, JSON with comments and
// trailing commas, for the hook. A file that is not complete JSON gives an error and no value.
// It does not check the keys; package config does.
package jsonc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"github.com/tailscale/hujson"
	"github.com/tidwall/gjson"

	"beckon/event/plainfile"
)

// MaxFile is the largest file that Get reads, in bytes.
const MaxFile = 256 << 10

// Errors of Get. They contain no text of the file.
var (
	ErrSyntax = errors.New("not JSON with comments")
	ErrObject = errors.New("not an object")
	ErrSize   = errors.New("not a file, or too large")
)

// Get returns the values of the top-level keys of the file at path, in the order of keys. For
// a missing key, and every key of a missing or blank file, it returns a value that does not
// Exist. If a key is set twice the first counts. A missing file costs one system call.
func Get(path string, keys ...string) ([]gjson.Result, error) {
	values := make([]gjson.Result, len(keys))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return values, nil
	}
	if err != nil {
		return values, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxFile {
		return values, &fs.PathError{Op: "read", Path: path, Err: ErrSize}
	}
	data, err := plainfile.ReadFile(path)
	if err != nil {
		return values, err
	}
	if err := pick(data, keys, values); err != nil {
		return values, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return values, nil
}

func pick(data []byte, keys []string, values []gjson.Result) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	data, err := hujson.Standardize(data)
	if err != nil {
		return ErrSyntax
	}
	object := gjson.ParseBytes(data)
	if !object.IsObject() {
		return ErrObject
	}
	object.ForEach(func(name, value gjson.Result) bool {
		for i, k := range keys {
			if name.String() == k && !values[i].Exists() {
				values[i] = value
			}
		}
		return true
	})
	return nil
}
