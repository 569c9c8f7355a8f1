package installer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"beckon/event/plainfile"
)

// sizeLimit is the maximum size of a settings file, in bytes; real ones have a few kilobytes.
const sizeLimit = 8 << 20

// snapshot is a settings file as it was read.
type snapshot struct {
	file string      // real path, links resolved
	info fs.FileInfo // nil when there is no file
	data []byte      // nil when there is no file
}

// readSettings reads the file that path leads to. Anything that is not a regular file is refused before it
// is opened: opening a FIFO could block for ever.
func readSettings(path string) (snapshot, error) {
	file, err := resolve(path)
	if err != nil {
		return snapshot{}, failed("following the link", path, err, "")
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
		return s, failed("reading", file, err, "")
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
func readSettled(path string) (s snapshot, err error) {
	s, err = readSettings(path)
	for range settleTries {
		_, bad := parseTree(s.data)
		if err != nil || s.data == nil || filepath.Ext(path) != ".json" || bad == nil && len(s.data) > 0 {
			break
		}
		time.Sleep(settleDelay)
		before := s
		if s, err = readSettings(path); s.same(before) {
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
	dir := filepath.Dir(path)
	if dest, err := os.Readlink(path); err == nil { // it leads to a file that is missing
		if !filepath.IsAbs(dest) {
			dest = filepath.Join(dir, dest)
		}
		return resolve(dest)
	}
	if dir == path {
		return path, nil
	}
	dir, err = resolve(dir)
	return filepath.Join(dir, filepath.Base(path)), err
}

// makeDir creates a directory if it is missing, and returns the outermost one made.
func makeDir(dir string, mode fs.FileMode) (made string, err error) {
	for at := dir; !plainfile.Exists(at) && at != filepath.Dir(at); at = filepath.Dir(at) {
		made = at
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return "", failed("making the directory", dir, err, "")
	}
	return made, nil
}

// removeDirs removes dir and those above it as long as they are empty, up to made, the outermost one
// that we made.
func removeDirs(dir, made string) {
	for made != "" && (dir == made || within(made, dir)) && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}

// temporaryFor returns the file that is to replace another one, or has been replaced.
func temporaryFor(file string) string {
	return filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".beckon.tmp")
}

// write writes data into the file's temporary, with its present mode and owner, else with mode.
func (s snapshot) write(data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(temporaryFor(s.file), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failed("writing into", filepath.Dir(s.file), err, "is the directory writable?")
	}
	if s.info != nil {
		mode = s.info.Mode().Perm()
		err = keepOwner(f, s.info)
	}
	_, wrong := f.Write(data)
	// The mode follows the change of owner, which clears bits.
	if err = errors.Join(err, wrong, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return failed("writing", s.file, err, "")
	}
	return nil
}

// replace puts data, or nothing if it is nil, in the place of the file, and returns errMoved if the
// file is not as it was read: it is left as it is then. look is called at the last moment.
func (s snapshot) replace(data []byte, mode fs.FileMode, look func() error) error {
	tmp := temporaryFor(s.file)
	_ = os.Remove(tmp) // of a run that was killed
	defer os.Remove(tmp)
	if data != nil {
		if err := s.write(data, mode); err != nil {
			return err
		}
	}
	if err := look(); err != nil {
		return err
	}
	if err := s.swap(tmp, data == nil); err != nil {
		return failed("replacing", s.file, err, "")
	}
	if dir, err := os.Open(filepath.Dir(s.file)); err == nil { // so that it outlasts a power cut, where that can be done
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
}

// swap puts tmp in the place of the file, or the file in the place of tmp.
func (s snapshot) swap(tmp string, remove bool) error {
	// Not renamed over: whatever another program wrote until this moment, also in place, is then
	// in tmp, where it can be compared.
	from, to, move := tmp, s.file, exchange
	switch {
	case s.info == nil:
		move = os.Link
	case remove:
		from, to, move = s.file, tmp, rename
	}
	err := move(from, to)
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return errMoved
	case err != nil && (s.info == nil || errors.Is(err, errors.ErrUnsupported)): // not on this file system
		return rename(tmp, s.file)
	case err != nil || s.info == nil:
		return err
	}
	if was, err := os.ReadFile(tmp); err == nil && bytes.Equal(was, s.data) {
		return nil
	}
	if remove {
		move = os.Link
	}
	if err := move(tmp, s.file); remove && err != nil && !errors.Is(err, fs.ErrExist) { // there is a newer one
		return cmp.Or(rename(tmp, s.file), errMoved)
	}
	return errMoved
}

func rename(from, to string) error {
	return plainfile.Retry(func() error { return os.Rename(from, to) })
}
