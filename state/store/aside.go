package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// setAside moves a file that is not ours or cannot be read to aside/. A hook logs that; a reader
// reports it, once, as the file is then gone.
func (st *Store) setAside(path string) error {
	name := time.Now().UTC().Format("20060102T150405.000000000") + "-" + unique() + "." + filepath.Base(path)
	err := inDir(st.path(asideDir, ""), func() error { return rename(path, st.path(asideDir, name)) })
	if err != nil {
		return err
	}
	st.Log(errors.New("a file could not be read and was moved: " + st.path(asideDir, name)))
	return nil
}

// Aside lists the files that could not be read and were moved to aside/, by their paths.
func (st *Store) Aside() ([]string, error) {
	names, err := readNames(st.path(asideDir, ""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	sortBy(names, func(string) int64 { return 0 })
	for i, n := range names {
		names[i] = st.path(asideDir, n)
	}
	return names, err
}

// ClearAside removes the files in aside/.
func (st *Store) ClearAside() error { return os.RemoveAll(st.path(asideDir, "")) }

// sumStart begins the member with the checksum, the last one of a session file. The number is
// that of the algorithm: a version that has another one does not check.
const sumStart = `,"sum":"1-`

// seal replaces the closing brace of a record by the checksum of all before it.
func seal(b []byte) []byte {
	sum := checksum(b[:len(b)-1])
	b = append(b[:len(b)-1], sumStart...)
	return append(strconv.AppendUint(b, sum, 36), "\"}\n"...)
}

// intact reports whether the record has the checksum that it says, if it says one.
func intact(b []byte) bool {
	text := strings.TrimSuffix(string(b[max(0, len(b)-len(sumStart)-20):]), "\"}\n")
	i := strings.LastIndex(text, sumStart)
	if i < 0 {
		return true
	}
	end := len(b) - len("\"}\n") - len(text) + i
	sum, err := strconv.ParseUint(text[i+len(sumStart):], 36, 64)
	return err == nil && sum == checksum(b[:end])
}

// checksum is FNV-1a: it differs for any two texts that differ in one byte, and needs no table.
func checksum(b []byte) uint64 {
	sum := uint64(14695981039346656037)
	for _, c := range b {
		sum = (sum ^ uint64(c)) * 1099511628211
	}
	return sum
}
