package installer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Invariants of this file:
//
//   - A settings file is only ever replaced by rename of a complete, flushed file from
//     the same directory, or removed; it is never written in place. A crash leaves
//     either the old bytes or the new.
//   - What another program wrote until the file is replaced is noticed, where the system can
//     exchange two files (Linux, macOS).
//   - The file that a link points to is replaced, not the link.
//   - Anything that is not a regular file is refused before it is opened: opening a
//     FIFO could block for ever.

// sizeLimit is the maximum size of a settings file, in bytes; real ones have a few kilobytes.
const sizeLimit = 8 << 20

// snapshot is a settings file as it was read.
type snapshot struct {
	file string      // real path, links resolved
	info fs.FileInfo // nil when there is no file
	data []byte      // nil when there is no file
}

// readSettings reads the file that path leads to.
func readSettings(path string) (snapshot, error) {
	file, err := resolve(path)
	if err != nil {
		return snapshot{}, &fileError{"following the link", path, err, ""}
	}
	s := snapshot{file: file}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
	case info.IsDir():
		err = errors.New("is a directory")
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	case info.Size() > sizeLimit:
		err = fmt.Errorf("%d bytes are too many for settings", info.Size())
	default:
		s.info = info
		s.data, err = os.ReadFile(file) // not nil, even when empty
	}
	if err != nil {
		return s, &fileError{"reading", file, err, ""}
	}
	return s, nil
}

// A file that looks half written is accepted as it is after it has stayed the same for
// settleDelay: Claude Code truncates the file, then writes it.
const (
	settleDelay = 50 * time.Millisecond
	settleTries = 20
)

// readSettled is readSettings for a file that another program may be writing: it rereads empty or
// unparsable JSON until it stays the same.
func readSettled(path string) (snapshot, error) {
	s, err := readSettings(path)
	for range settleTries {
		if err != nil || s.data == nil || filepath.Ext(path) != ".json" {
			break
		}
		if _, bad := parseTree(s.data); bad == nil && len(s.data) > 0 {
			break
		}
		time.Sleep(settleDelay)
		before := s
		if s, err = readSettings(path); err == nil && s.same(before) {
			break
		}
	}
	return s, err
}

// same reports whether two readings show the same file.
func (s snapshot) same(other snapshot) bool {
	return s.file == other.file && (s.data == nil) == (other.data == nil) && bytes.Equal(s.data, other.data)
}

// resolve returns the real path of a file that need not exist, nor its directory: the path stays
// the same when they are made.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if dest, err := os.Readlink(path); err == nil { // it leads to a file that is missing
		if !filepath.IsAbs(dest) {
			dest = filepath.Join(filepath.Dir(path), dest)
		}
		return resolve(dest)
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, nil
	}
	dir, err = resolve(dir)
	return filepath.Join(dir, filepath.Base(path)), err
}

// makeDir creates a directory if it is missing, and returns the outermost one made.
func makeDir(dir string, mode fs.FileMode) (made string, err error) {
	for at := dir; !exists(at) && at != filepath.Dir(at); at = filepath.Dir(at) {
		made = at
	}
	if made == "" {
		return "", nil
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return "", &fileError{"making the directory", dir, cause(err), ""}
	}
	return made, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// replace writes data over the file, with its present mode and owner, else with mode. It returns
// errMoved if the file is no longer as it was read, and then leaves it as it is.
func (s snapshot) replace(data []byte, mode fs.FileMode) error {
	dir := filepath.Dir(s.file)
	tmp, err := os.CreateTemp(dir, temporaryFor(s.file))
	if err != nil {
		return &fileError{"writing into", dir, cause(err), "is the directory writable?"}
	}
	defer os.Remove(tmp.Name()) // what is not needed any more, if anything
	if s.info != nil {
		mode = s.info.Mode().Perm()
		if err = keepOwner(tmp, s.info); err != nil {
			err = fmt.Errorf("keeping its owner: %w", err)
		}
	}
	if err == nil {
		_, err = tmp.Write(data)
	}
	if err == nil {
		err = tmp.Chmod(mode) // after the change of owner, which clears bits
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return &fileError{"writing", s.file, cause(err), ""}
	}
	if err := s.swap(tmp.Name()); err != nil {
		return &fileError{"replacing", s.file, cause(err), ""}
	}
	syncDir(dir)
	return nil
}

// swap puts tmp in the place of the file.
func (s snapshot) swap(tmp string) error {
	if s.info == nil {
		err := os.Link(tmp, s.file)
		switch {
		case errors.Is(err, fs.ErrExist):
			return errMoved
		case err != nil: // no links on this file system
			return rename(tmp, s.file)
		}
		return nil
	}
	// Exchanged, not renamed over: whatever another program wrote until this moment, also
	// in place, is then in tmp, where it can be compared.
	err := exchange(tmp, s.file)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return rename(tmp, s.file)
	case errors.Is(err, fs.ErrNotExist):
		return errMoved
	case err != nil:
		return err
	}
	if was, err := os.ReadFile(tmp); err != nil || !bytes.Equal(was, s.data) {
		return errors.Join(errMoved, exchange(tmp, s.file))
	}
	return nil
}

// temporaryFor returns the name pattern of temporary files for file.
func temporaryFor(file string) string { return "." + filepath.Base(file) + ".beckon-*.tmp" }

// leftoverAge is the age at which a temporary file counts as abandoned: writing takes
// milliseconds.
const leftoverAge = time.Minute

// sweep removes temporary files that killed processes left in dir.
func sweep(dir, pattern string) {
	for _, path := range filesLike(dir, pattern) {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > leftoverAge {
			_ = os.Remove(path) // if it stays, it is harmless
		}
	}
}

// filesLike returns the files in dir whose names have the pattern's * in the place of any text.
func filesLike(dir, pattern string) (paths []string) {
	begin, end, _ := strings.Cut(pattern, "*")
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), begin); ok && strings.HasSuffix(rest, end) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// cause strips the path that os adds, since the fileError around it names it.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
