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
	"github.com/rogpeppe/go-internal/diff"
)

// Op is an operation on one file: Install, Uninstall, Put, List, or a part of a plugin.
type Op struct {
	// edit returns the text with our part as it should be. nil is a missing file, before and after.
	edit func(old []byte) (text []byte, err error)
	// owns reports whether a text has a part of ours.
	owns func(text []byte) bool

	client string // recorded, with set
	set    Set
	shared bool // the file, and a directory made for it, are for others to read
	undo   bool // it removes what is ours, whatever the file

	testOnlyBeforeRename func()
}

// Install returns the operation that makes a file hold want's entries.
func Install(want Spec) Op {
	if ownFile(want.agent) {
		return whole(want.whole, ours)
	}
	edit := func(old []byte) ([]byte, error) { return Edit(old, want) }
	return Op{edit: edit, owns: owns, client: want.Client.String(), set: want.Set}
}

// Uninstall returns the operation that removes beckon's entries from a file, or the whole file if
// it is beckon's own.
func Uninstall() Op {
	return Op{undo: true, owns: owns, edit: func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, nil
		}
		return remove(old)
	}}
}

// errForeign is returned for a file of ours by name that somebody else wrote.
var errForeign = errors.New("is there already, and not beckon's")

// whole returns the operation that makes a file what text returns for the old bytes.
func whole(text func(old []byte) ([]byte, error), ours func([]byte) bool) Op {
	return Op{owns: ours, edit: func(old []byte) ([]byte, error) {
		if old != nil && !ours(old) {
			return nil, &fileError{Step: "writing", Err: errForeign, advice: "move it away"}
		}
		return text(old)
	}}
}

// without returns the operation that removes a file if it is ours.
func without(ours func([]byte) bool) Op {
	return Op{owns: ours, edit: func(old []byte) ([]byte, error) {
		if ours(old) {
			return nil, nil
		}
		return old, nil
	}}
}

// FileEdit is an operation on a file; Before, unless it is nil, has been done when a diff is shown.
type FileEdit struct {
	Target
	Op
	Before *Op
}

// Noop reports whether the file is as the edit makes it.
func (f FileEdit) Noop() bool {
	c, err := Plan(f.Target, f.Op)
	return err == nil && c.Noop()
}

// Diff returns what the edit changes, as a unified diff.
func (f FileEdit) Diff() (string, error) {
	if f.Before == nil {
		c, err := Plan(f.Target, f.Op)
		return c.Diff(), err
	}
	c, err := Plan(f.Target, *f.Before)
	if err != nil {
		return "", err
	}
	text, err := f.edit(c.New)
	return Diff(c.New, text, c.File), err
}

// ApplyAll carries out edits of different files, and none if one of them is refused.
func ApplyAll(ctx context.Context, files []FileEdit) error {
	for _, f := range files {
		if _, err := Plan(f.Target, f.Op); err != nil {
			return err
		}
	}
	for _, f := range files {
		if _, err := Apply(ctx, f.Target, f.Op); err != nil {
			return err
		}
	}
	return nil
}

// Diff returns the unified diff from old to new of a file called name, "" if they are equal. A
// nil side is a missing file.
func Diff(old, new []byte, name string) string {
	oldName, newName := name, name
	if old == nil {
		oldName = "/dev/null"
	}
	if new == nil {
		newName = "/dev/null"
	}
	// The first line is "diff OLD NEW", which no tool needs.
	_, text, _ := bytes.Cut(diff.Diff(oldName, old, newName, new), []byte("\n"))
	return string(text)
}

// Change is what an operation does, or did, to one file.
type Change struct {
	Target Target
	File   string // the real file, links resolved
	Old    []byte // nil: there is no file
	New    []byte // nil: the file is to be removed

	was    snapshot
	kept   kept
	save   *record // record to write before the file; nil to leave it
	copy   []byte  // old bytes to write with it; nil to leave them
	forget bool    // record and old bytes go in the end
	made   string  // directory that we made for the file
	op     Op
}

// Noop reports whether the file stays as it is.
func (c Change) Noop() bool { return (c.Old == nil) == (c.New == nil) && bytes.Equal(c.Old, c.New) }

// Diff returns the change as a unified diff, or "".
func (c Change) Diff() string { return Diff(c.Old, c.New, c.File) }

// Plan reads a file and returns what Apply would do to it. It writes nothing.
func Plan(t Target, op Op) (Change, error) {
	was, err := readSettled(t.Path)
	if err != nil {
		return Change{}, err
	}
	if op.undo && ownFile(t.agent) {
		op = without(ours)
	}
	op.shared = op.shared || t.Scope == Project
	c := Change{Target: t, File: was.file, Old: was.data, was: was, kept: keptFor(t.Keep, was.file), op: op}
	r, known := c.kept.load()
	if r.Schema > recordSchema {
		return Change{}, &fileError{"reading the record of an install", c.kept.record, errNewerRecord,
			"use that version, or update this one"}
	}
	if c.New, err = op.edit(c.Old); err != nil {
		return Change{}, inFile(err, t.Path)
	}
	if op.owns(c.New) {
		c.remember(r, known)
	} else {
		c.giveBack(r, known)
	}
	return c, c.checkWritable()
}

// remember decides what is recorded of a change after which the file has a part of ours.
func (c *Change) remember(r record, known bool) {
	client, set := r.Client, r.Set
	if c.op.client != "" {
		client, set = c.op.client, c.op.set
	}
	switch {
	case c.Noop():
		if !known || r.Client == client && r.Set == set {
			return
		}
	case known && c.Old != nil && r.Wrote == digest(c.Old):
		r.Wrote = digest(c.New) // nobody else wrote in between: the old bytes stay valid
	case c.op.owns(c.Old):
		r.Wrote = "" // others wrote in between, or the record was lost: the old bytes lack that
	default:
		r = record{Created: c.Old == nil, Original: digest(c.Old), Wrote: digest(c.New)}
		c.copy = c.Old
	}
	r.Schema, r.Settings, r.Client, r.Set = recordSchema, c.File, client, set
	c.save = &r
}

// giveBack makes a file without a part of ours what it was before the first one, where nobody
// else has edited it since.
func (c *Change) giveBack(r record, known bool) {
	c.forget, c.made = true, r.MadeDir
	data, same := c.kept.original(r, c.Old)
	switch {
	case c.Old == nil:
	case known && r.Created && (r.Wrote == digest(c.Old) || isNothing(c.New)):
		c.New = nil
	case same:
		c.New = data
	}
}

// checkWritable refuses a file whose protection a rename would bypass, or whose directory neither
// exists nor may be made: that is the client's own, or .claude in an existing project.
func (c Change) checkWritable() error {
	dir := filepath.Dir(c.File)
	info, err := os.Stat(dir)
	switch {
	case c.Noop():
	case c.was.info != nil:
		if c.was.info.Mode().Perm()&0o200 == 0 {
			return &fileError{"editing", c.File, errors.New("is read-only"), c.elsewhere()}
		}
	case err == nil && !info.IsDir():
		return &fileError{"writing into", dir, errors.New("not a directory"), ""}
	case err == nil:
	default:
		if link, err := os.Readlink(c.Target.Path); err == nil {
			return &fileError{"following the link", c.Target.Path, errors.New("its directory does not exist"),
				advice("it points to " + link)}
		}
		above := filepath.Dir(dir)
		if info, err := os.Stat(above); c.Target.Scope != User && (err != nil || !info.IsDir()) {
			return &fileError{"writing into", above, errors.New("no such directory"), "is it the project's root?"}
		}
	}
	return nil
}

// elsewhere is the advice about a file that cannot be changed. One that is generated is often a
// link into a store of packages.
func (c Change) elsewhere() advice {
	is := "make it writable"
	if c.File != c.Target.Path {
		is = c.Target.Path + " leads there; add the hooks where that file is made"
	}
	if c.Target.agent != nil || c.op.shared {
		return advice(is)
	}
	return advice(is + ", or use the plugin, which needs no settings (beckon help install)")
}

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
	file, err := resolve(t.Path)
	if err != nil {
		return Change{}, &fileError{"following the link", t.Path, cause(err), ""}
	}
	if t.Keep != "" {
		unlock, err := lockFor(ctx, t.Keep, file)
		if err != nil {
			return Change{}, err
		}
		defer unlock()
	}
	sweep(filepath.Dir(file), temporaryFor(file))
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

// lockFor locks a file until unlock is called. The lock is a separate file in keep, since rename
// replaces the file, and it is never removed.
func lockFor(ctx context.Context, keep, file string) (unlock func(), err error) {
	if err := os.MkdirAll(keep, 0o700); err != nil {
		return nil, &fileError{"making the directory", keep, cause(err), ""}
	}
	sweep(keep, ".new-*")
	path := keptFor(keep, file).lock
	ctx, cancel := context.WithTimeout(ctx, lockDeadline)
	defer cancel()
	l := flock.New(path, flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, lockPoll); errors.Is(err, context.DeadlineExceeded) {
		return nil, &fileError{"locking", path, errBusy, "is another beckon setup running?"}
	} else if err != nil {
		return nil, &fileError{"locking", path, cause(err), ""}
	}
	return func() { _ = l.Unlock() }, nil // the lock ends with the process at the latest
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
	made, err := makeDir(filepath.Dir(c.File), dirMode)
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
		if was, unread := os.ReadFile(tmp); unread == nil && bytes.Equal(was, c.Old) {
			err = os.Remove(tmp)
		} else {
			err = cmp.Or(snapshot{file: c.File}.swap(tmp), errMoved)
			if errors.Is(err, errMoved) { // it is back, or there is a newer one
				_ = os.Remove(tmp)
			}
		}
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
