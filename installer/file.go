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
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = readable(info)
	}
	if err != nil {
		return s, &fileError{"reading", file, err, ""}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return s, &fileError{"reading", file, err, ""}
	}
	s.info, s.data = info, append([]byte{}, data...) // not nil, even when empty
	return s, nil
}

func readable(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("is a directory")
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	case info.Size() > sizeLimit:
		return fmt.Errorf("%d bytes are too many for settings", info.Size())
	}
	return nil
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
		if err != nil || s.data == nil || filepath.Ext(path) != ".json" || s.parses() {
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

// parses reports whether the file does not look half written.
func (s snapshot) parses() bool {
	_, text := cutBOM(s.data)
	_, err := parseTree(text)
	return err == nil
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

// replace writes data over the file, with its present mode, else with mode. It returns errMoved
// if the file is no longer as it was read, and then leaves it as it is.
func (s snapshot) replace(data []byte, mode fs.FileMode) error {
	if s.info != nil {
		mode = s.info.Mode().Perm()
	}
	return writeFile(s.file, data, mode, s.info, func(tmp string) error {
		if s.info == nil {
			switch err := os.Link(tmp, s.file); {
			case err == nil:
				return os.Remove(tmp)
			case errors.Is(err, fs.ErrExist):
				return errMoved
			}
			return rename(tmp, s.file) // no links on this file system
		}
		// Exchanged, not renamed over: whatever another program wrote until this moment, also
		// in place, is then in tmp, where it can be compared.
		switch err := exchange(tmp, s.file); {
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
		return os.Remove(tmp)
	})
}

// writeFile replaces file with data through a temporary file next to it, which last moves there.
// like provides mode and owner and may be nil.
func writeFile(file string, data []byte, mode fs.FileMode, like fs.FileInfo, last func(tmp string) error) (err error) {
	dir := filepath.Dir(file)
	tmp, err := os.CreateTemp(dir, temporaryFor(file))
	if err != nil {
		return &fileError{"writing into", dir, cause(err), "is the directory writable?"}
	}
	defer func() {
		if err != nil {
			_ = tmp.Close() // a no-op unless filling it failed
			_ = os.Remove(tmp.Name())
		}
	}()
	if err := writeOut(tmp, data, mode, like); err != nil {
		return &fileError{"writing", file, cause(err), ""}
	}
	if err := last(tmp.Name()); err != nil {
		return &fileError{"replacing", file, cause(err), ""}
	}
	syncDir(dir)
	return nil
}

// temporaryFor returns the name pattern of temporary files for file.
func temporaryFor(file string) string { return "." + filepath.Base(file) + ".beckon-*.tmp" }

// leftoverAge is the age at which a temporary file counts as abandoned: writing takes
// milliseconds.
const leftoverAge = time.Minute

// sweep removes temporary files that killed processes left next to file.
func sweep(file string) {
	for _, path := range filesLike(filepath.Dir(file), temporaryFor(file)) {
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

// writeOut writes data to disk and closes f.
func writeOut(f *os.File, data []byte, mode fs.FileMode, like fs.FileInfo) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if like != nil {
		if err := keepOwner(f, like); err != nil {
			return fmt.Errorf("keeping its owner: %w", err)
		}
	}
	if err := f.Chmod(mode); err != nil { // after the change of owner, which clears bits
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
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
