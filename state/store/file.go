package store

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event/plainfile"
)

// maxFile is the size limit of a session file. A larger file was not written by beckon.
const maxFile = 1 << 20

// errTooLarge is returned for a file over its limit.
var errTooLarge = errors.New("file is too large")

// errEmpty is returned for an empty file, which a crash of the machine may leave.
var errEmpty = errors.New("file is empty")

// open opens a file, or with os.O_CREATE creates it.
func open(path string, flags int) (*os.File, error) { return plainfile.Open(path, flags, fileMode) }

// readFile reads a file, which may have at most limit bytes.
func readFile(path string, limit int) ([]byte, error) {
	return readInto(make([]byte, 4096), path, limit)
}

// readInto is readFile with a buffer to read into. It allocates a larger one if the file does
// not fit.
func readInto(buf []byte, path string, limit int) ([]byte, error) {
	f, err := plainfile.OpenReader(path, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n := 0
	for {
		if n == len(buf) {
			if n >= limit {
				return nil, &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
			}
			buf = append(buf, make([]byte, len(buf))...)
		}
		m, err := f.Read(buf[n:])
		n += m
		// Our files end in a newline: one that does, and leaves room in buf, has been read.
		if err == io.EOF || (err == nil && n < len(buf) && m > 0 && buf[n-1] == '\n') {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if n == 0 {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errEmpty}
	}
	return buf[:n], nil
}

// write replaces the file name in dir, by way of a new file, so that readers see the old or the
// new one as a whole. Sessions are written under their lock, so their new file has their name,
// and the next writer replaces what a killed one left.
func (st *Store) write(dir, name string, data []byte) error {
	from, to := st.path(tmpDir, name), st.path(dir, name)
	if dir != sessionsDir && dir != archiveDir {
		from = st.path(tmpDir, unique())
	}
	err := inDir(st.path(tmpDir, ""), func() error { return st.writeNew(from, data) })
	if err != nil {
		return err
	}
	err = inDir(st.path(dir, ""), func() error {
		return unshared(func() error { return replaceFile(from, to) })
	})
	if err != nil {
		_ = os.Remove(from)
	}
	return err
}

// inDir calls f, and again after it has made the directory that f lacked. Another process may
// remove the directory, while it is empty, before f has put a file there; on Windows its name is
// taken until the removal is done.
func inDir(dir string, f func() error) error {
	const tries = 100
	for range tries {
		if err := f(); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		err := unshared(func() error { return os.MkdirAll(dir, dirMode) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return f()
}

// writeNew writes a file that does not exist yet.
func (st *Store) writeNew(path string, data []byte) error {
	f, err := open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) { // a killed writer left it, or something is in the way
		if os.Remove(path) != nil {
			_ = st.setAside(path)
		}
		f, err = open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

func rename(from, to string) error {
	return unshared(func() error { return os.Rename(from, to) })
}

// unshared calls f, and again a few times while another process has the file open without
// sharing it (Windows).
func unshared(f func() error) error {
	err := f()
	for range 20 {
		if err == nil || !sharingViolation(err) {
			break
		}
		time.Sleep(5 * time.Millisecond)
		err = f()
	}
	return err
}

// setAside moves a file that is not ours or cannot be read to aside/, and logs that.
func (st *Store) setAside(path string) error {
	name := strconv.FormatInt(time.Now().UnixMicro(), 10) + "-" + unique() + "." + filepath.Base(path)
	err := inDir(st.path(asideDir, ""), func() error { return rename(path, st.path(asideDir, name)) })
	if err == nil {
		st.Log(errors.New("a file could not be read and was moved: " + st.path(asideDir, name)))
	}
	return err
}

// Aside lists the files that could not be read and were moved to aside/, by their paths.
func (st *Store) Aside() ([]string, error) {
	names, err := readNames(st.path(asideDir, ""))
	slices.Sort(names)
	for i, n := range names {
		names[i] = st.path(asideDir, n)
	}
	return names, err
}

// ClearAside removes the files in aside/.
func (st *Store) ClearAside() error { return os.RemoveAll(st.path(asideDir, "")) }

// irregular reports whether there is something at path that is not a regular file: a directory,
// a FIFO, a device, a link.
func irregular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.Mode().IsRegular()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readNames lists a directory, without hidden files, in no particular order. One that does not
// exist has no files.
func readNames(dir string) ([]string, error) {
	f, err := plainfile.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return slices.DeleteFunc(names, func(n string) bool { return n[0] == '.' }), err
}

// keyIn returns the key at the beginning of a file name: all before the first dot, as no key
// has one.
func keyIn(name string) Key {
	k, _, _ := strings.Cut(name, ".")
	return Key(k)
}

// numberIn returns the number at the beginning of a file name.
func numberIn(name string) int64 {
	digits, _, _ := strings.Cut(name, "-")
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

// unique returns a unique word. It need not be secret: math/rand is seeded by the system and
// saves the hook from linking crypto/rand.
func unique() string { return strconv.FormatUint(rand.Uint64(), 36) }
