// Package jsonc reads single keys of beckon's own configuration, JSON with
// comments and trailing commas, without the libraries that edit it: the hook
// cannot link those.
//
// It guarantees: Standardize accepts exactly what hujson accepts and gives the
// same bytes (a test holds both); a file that is not whole JSON gives an error
// and no value. It does not know the keys: package config is strict about them.
package jsonc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// MaxFile is the largest file that Get reads, in bytes.
const MaxFile = 256 << 10

// Errors of Get. They hold no text of the file.
var (
	ErrSyntax = errors.New("not JSON with comments")
	ErrObject = errors.New("not an object")
	ErrSize   = errors.New("not a file, or too large")
)

// Get returns the values of the top-level keys of the file at path, in the
// order of keys; a key that is not there, and every key of a file that is not
// there or holds nothing but white space, gives a value that does not Exist. Of
// a key that is set twice the first counts. A file that is not there costs one
// system call.
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
	data, err := os.ReadFile(path)
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
	if !Standardize(data) {
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

// Standardize makes b standard JSON in place: comments and trailing commas
// become spaces, so that offsets and line numbers stay. It reports whether b
// was JSON with comments; if not, b holds nothing of use.
func Standardize(b []byte) bool {
	comma := -1       // where a comma is that may turn out to be trailing
	before := byte(0) // the last byte that counts
	for i := 0; i < len(b); {
		switch c := b[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case '/':
			n := comment(b[i:])
			if n == 0 {
				return false
			}
			blank(b[i : i+n])
			i += n
		case '"':
			n := quoted(b[i:])
			if n == 0 {
				return false
			}
			i, comma, before = i+n, -1, c
		default:
			if comma >= 0 && (c == '}' || c == ']') {
				b[comma] = ' '
			}
			comma = -1
			if c == ',' && bytes.IndexByte([]byte("{[,:"), before) < 0 {
				comma = i
			}
			i, before = i+1, c
		}
	}
	return gjson.ValidBytes(b)
}

// comment returns the length of the comment that b starts with, 0 if it starts
// with none. A line comment holds its newline, and no other separator of lines.
func comment(b []byte) (n int) {
	switch {
	case bytes.HasPrefix(b, []byte("//")):
		n = bytes.IndexByte(b, '\n') + 1
		if bytes.Contains(b[:n], []byte("\u2028")) || bytes.Contains(b[:n], []byte("\u2029")) {
			return 0
		}
	case bytes.HasPrefix(b, []byte("/*")):
		end := bytes.Index(b[2:], []byte("*/"))
		if end < 0 {
			return 0
		}
		n = end + 4
	}
	if !utf8.Valid(b[:n]) {
		return 0
	}
	return n
}

func blank(b []byte) {
	for i, c := range b {
		if c != '\t' && c != '\r' && c != '\n' {
			b[i] = ' '
		}
	}
}

// quoted returns the length of the string that b starts with, 0 if it does
// not end.
func quoted(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
