package installer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockDeadline = 5 * time.Second       // an edit takes milliseconds
	lockPoll     = 20 * time.Millisecond // between two tries for the lock
	applyTries   = 8                     // how often another writer may interfere
	applyPause   = 30 * time.Millisecond // before the next try, times the tries so far
)

// errMoved says that the file changed between reading and replacing it.
var errMoved = errors.New("file changed meanwhile")

// Apply carries out an operation and returns the change that it made. If another program
// rewrites the file meanwhile, it starts again from the new content, and gives up after some
// tries. On any error the file is unchanged. A Noop change writes nothing into it.
func Apply(ctx context.Context, t Target, op Op) (Change, error) {
	file, unlock, err := lockFor(ctx, t.Path, t.Keep)
	if err != nil {
		return Change{}, err
	}
	defer unlock()
	for try := range applyTries {
		c, err := Plan(t, op)
		if err == nil {
			err = c.commit()
		}
		if !errors.Is(err, errMoved) {
			return c, err
		}
		select {
		case <-ctx.Done():
			return Change{}, ctx.Err()
		case <-time.After(time.Duration(try+1) * applyPause):
		}
	}
	return Change{}, &fileError{"editing", file, errBusy,
		"another program keeps rewriting the file; try again when it is done"}
}

// lockFor locks the file that path leads to until unlock is called, and sweeps next to it and
// in keep. The lock is a separate file in keep, since rename replaces the file, and it is never
// removed.
func lockFor(ctx context.Context, path, keep string) (file string, unlock func(), err error) {
	if file, err = resolve(path); err != nil {
		return "", nil, &fileError{"following the link", path, cause(err), ""}
	}
	if err := os.MkdirAll(keep, 0o700); err != nil {
		return "", nil, &fileError{"making the directory", keep, cause(err), ""}
	}
	k := keptFor(keep, file)
	ctx, cancel := context.WithTimeout(ctx, lockDeadline)
	defer cancel()
	l := flock.New(k.lock, flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
		var hint advice
		if errors.Is(err, context.DeadlineExceeded) {
			err, hint = errBusy, "is another beckon setup running?"
		}
		return "", nil, &fileError{"locking", k.lock, cause(err), hint}
	}
	for _, f := range []string{file, k.record, k.backup} {
		sweep(f)
	}
	return file, func() { _ = l.Unlock() }, nil // the lock ends with the process at the latest
}

// commit makes the change. It writes the record first: a crash afterwards leaves a record that
// fits no file, which is harmless; without its record a file could not be restored.
func (c *Change) commit() error {
	var err error
	switch {
	case c.Noop() && c.save != nil:
		err = c.kept.save(*c.save, nil)
	case c.Noop():
	case c.New == nil:
		err = c.delete()
	default:
		err = c.write()
	}
	if err == nil && c.forget {
		err = c.kept.forget()
	}
	denied := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	if e, ok := errors.AsType[*fileError](err); ok && denied && c.File != c.Target.Path {
		e.advice = c.elsewhere()
	}
	return err
}

// write writes the record, then the file, in a directory that it makes.
func (c *Change) write() error {
	fileMode, dirMode := fs.FileMode(0o600), fs.FileMode(0o700)
	switch {
	case c.op.shared:
		fileMode, dirMode = 0o644, 0o755
	case c.Target.Scope == Local: // the project's other settings will be there too
		dirMode = 0o755
	}
	before, _ := os.ReadFile(c.kept.record) // nil: none, or one that counts as none
	made, err := c.makeDir(dirMode)
	if err == nil && c.save != nil {
		c.save.MadeDir = cmp.Or(c.save.MadeDir, made)
		err = c.kept.save(*c.save, c.copy)
	}
	if err == nil {
		err = c.unmoved()
	}
	if err == nil {
		err = c.was.replace(c.New, fileMode)
	}
	if err == nil {
		return nil
	}
	c.removeDirs(made)
	if c.save != nil {
		c.kept.putBack(before)
	}
	return err
}

// delete removes the file, and the directories that we made for it if they are empty.
func (c *Change) delete() error {
	if err := c.unmoved(); err != nil {
		return err
	}
	// Moved away first, so that what another program wrote until this moment can be compared.
	tmp := filepath.Join(filepath.Dir(c.File), strings.Replace(temporaryFor(c.File), "*", "removed", 1))
	err := rename(c.File, tmp)
	if err == nil {
		var was []byte
		if was, err = os.ReadFile(tmp); err == nil && !bytes.Equal(was, c.Old) {
			err = cmp.Or(os.Link(tmp, c.File), errMoved)
		}
		err = errors.Join(err, os.Remove(tmp))
	}
	if err != nil {
		return &fileError{"removing", c.File, cause(err), ""}
	}
	c.removeDirs(c.made)
	return nil
}

// removeDirs removes the file's directory and those above it as long as they are empty, up to
// made, the outermost one that we made.
func (c *Change) removeDirs(made string) {
	for dir := filepath.Dir(c.File); made != "" && (dir == made || within(made, dir)); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			return // it is in use
		}
	}
}

// unmoved reads the file again and reports errMoved if it is not the one planned for.
func (c *Change) unmoved() error {
	now, err := readSettings(c.Target.Path)
	if err != nil {
		return err
	}
	if !now.same(c.was) {
		return &fileError{"replacing", c.File, errMoved, "try again"}
	}
	if c.op.testOnlyBeforeRename != nil {
		c.op.testOnlyBeforeRename()
	}
	return nil
}

// makeDir creates the file's directory if it is missing, and returns the outermost one made.
func (c *Change) makeDir(mode fs.FileMode) (made string, err error) {
	dir := filepath.Dir(c.File)
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
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
