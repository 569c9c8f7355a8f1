package home

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"github.com/tailscale/hujson"
	"github.com/tidwall/gjson"

	"beckon/event/plainfile"
)

// MaxFile is the largest file that Values reads, in bytes.
const MaxFile = 256 << 10

// Errors of Values. They contain no text of the file.
var (
	ErrSyntax = errors.New("not JSON with comments")
	ErrObject = errors.New("not an object")
	ErrSize   = errors.New("not a file, or too large")
)

// Values returns the values of top-level keys of beckon's own configuration, JSON with comments
// and trailing commas, in the order of keys, for the hook. For a missing key, and every key of a
// missing or blank file, it returns a value that does not Exist. If a key is set twice the first
// counts. It does not check the keys; package config does. A missing file costs one system call.
func Values(path string, keys ...string) ([]gjson.Result, error) {
	values := make([]gjson.Result, len(keys))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return values, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > MaxFile) {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrSize}
	}
	if err != nil {
		return values, err
	}
	data, err := plainfile.ReadFile(path)
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return values, err
	}
	if data, err = hujson.Standardize(data); err != nil {
		return values, &fs.PathError{Op: "read", Path: path, Err: ErrSyntax}
	}
	object := gjson.ParseBytes(data)
	if !object.IsObject() {
		return values, &fs.PathError{Op: "read", Path: path, Err: ErrObject}
	}
	object.ForEach(func(name, value gjson.Result) bool {
		for i, k := range keys {
			if name.String() == k && !values[i].Exists() {
				values[i] = value
			}
		}
		return true
	})
	return values, nil
}
