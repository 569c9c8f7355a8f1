package installer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"beckon/event/plainfile"
	"beckon/event/typed"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/lockedfile"
)

// Part is what beckon has in one file: hooks, the status line, a line, words in a list, or the whole file.
type Part struct {
	Target
	// edit returns the text with the part, or without it. nil is a missing file, before and after.
	edit func(old []byte, on bool) (text []byte, err error)
	// owns reports whether a text has anything of ours.
	owns func(text []byte) bool

	testOnlyBeforeRename func()
}

// Hooks returns want's entries in a settings file, or the file of an agent that is beckon's alone.
func (t Target) Hooks(want Spec) Part {
	if ownFile(t.agent) {
		return t.whole(want.whole, ours)
	}
	return Part{Target: t, owns: owns, edit: func(old []byte, on bool) ([]byte, error) {
		if on {
			return Edit(old, want)
		}
		return remove(old)
	}}
}

// Answers returns what answers need beyond want's entries.
func (t Target) Answers(want Spec) Part {
	p := t.Hooks(want)
	p.edit = func(old []byte, on bool) ([]byte, error) {
		want.Answers, want.KeepAnswers = on, false
		return t.Hooks(want).edit(old, true)
	}
	return p
}

// whole returns a file that is what text makes of its old bytes.
func (t Target) whole(text func(old []byte) ([]byte, error), ours func([]byte) bool) Part {
	return Part{Target: t, owns: ours, edit: func(old []byte, on bool) ([]byte, error) {
		switch mine := ours(old); {
		case on && old != nil && !mine:
			return nil, typed.Advise(errors.New("is there already, and not beckon's"), "move it away")
		case on:
			return text(old)
		case mine:
			return nil, nil
		}
		return old, nil
	}}
}

// Change is what adding or removing a part does, or did, to its file.
type Change struct {
	Part
	File string // the real file, links resolved
	Old  []byte // nil: there is no file
	New  []byte // nil: the file is to be removed

	was  snapshot
	kept kept
	save *record // record to write before the file; nil to leave it
	copy []byte  // old bytes to write with it; nil to leave them
	made string  // directory that we made for the file, if what is ours goes
}

// Noop reports whether the file stays as it is.
func (c Change) Noop() bool { return (c.Old == nil) == (c.New == nil) && bytes.Equal(c.Old, c.New) }

// Diff returns the change as a unified diff, or "".
func (c Change) Diff() string {
	from, to := c.File, c.File
	if c.Old == nil {
		from = "/dev/null"
	}
	if c.New == nil {
		to = "/dev/null"
	}
	// The first line is "diff OLD NEW", which no tool needs.
	_, text, _ := bytes.Cut(diff.Diff(from, c.Old, to, c.New), []byte("\n"))
	return string(text)
}

// Plan reads the file and returns what Apply would do to it. It writes nothing.
func (p Part) Plan(on bool) (Change, error) {
	was, err := readSettled(p.Path)
	if err != nil {
		return Change{}, err
	}
	c := Change{Part: p, File: was.file, Old: was.data, was: was, kept: keptFor(p.Keep, was.file)}
	r, known := c.kept.load()
	if r.Schema > recordSchema { // what a newer version stored in it would be lost, and with it the old bytes
		return Change{}, failed("reading the record of an install", c.kept.record,
			errors.New("a newer beckon wrote it"), "use that version, or update this one")
	}
	if c.New, err = p.edit(c.Old, on); err != nil {
		return Change{}, fmt.Errorf("editing %q: %w", p.Path, err)
	}
	if p.owns(c.New) {
		c.remember(r, known)
	} else {
		c.giveBack(r, known)
	}
	return c, c.checkWritable()
}

// remember decides what is recorded of a change after which the file has a part of ours.
func (c *Change) remember(r record, known bool) {
	switch {
	case c.Noop():
		return
	case known && c.Old != nil && r.Wrote == digest(c.Old):
		r.Wrote = digest(c.New) // nobody else wrote in between: the old bytes stay valid
	case c.owns(c.Old):
		r.Wrote = "" // others wrote in between, or the record was lost: the old bytes lack that
	default:
		r = record{Created: c.Old == nil, Original: digest(c.Old), Wrote: digest(c.New)}
		c.copy = c.Old
	}
	r.Schema, r.Settings = recordSchema, c.File
	c.save = &r
}

// giveBack makes a file without a part of ours what it was before the first one, where nobody
// else has edited it since.
func (c *Change) giveBack(r record, known bool) {
	c.made = r.MadeDir
	asWritten := known && r.Wrote == digest(c.Old)
	switch {
	case c.Old == nil:
	case r.Created && (asWritten || isNothing(c.New)):
		c.New = nil
	case asWritten && !r.Created:
		if old, err := os.ReadFile(c.kept.backup); err == nil && digest(old) == r.Original {
			c.New = old
		}
	}
}

// checkWritable refuses a file whose protection a rename would bypass, and a link into a directory that
// is not there.
func (c Change) checkWritable() error {
	link, err := os.Readlink(c.Path)
	switch {
	case c.Noop():
	case c.was.info != nil && c.was.info.Mode().Perm()&0o200 == 0:
		return failed("editing", c.File, errors.New("is read-only"), c.elsewhere())
	case err == nil && !plainfile.Exists(filepath.Dir(c.File)):
		return failed("following the link", c.Path, errors.New("its directory does not exist"),
			"it points to "+link)
	}
	return nil
}

// elsewhere is the advice about a file that cannot be changed. One that is generated is often a
// link into a store of packages.
func (c Change) elsewhere() string {
	is := "make it writable"
	if c.File != c.Path {
		is = c.Path + " leads there; add the hooks where that file is made"
	}
	if c.agent == nil && !c.shared {
		is += ", or use the plugin, which needs no settings (beckon help install)"
	}
	return is
}

const (
	applyTries = 8                     // how often another writer may interfere
	applyPause = 30 * time.Millisecond // before the next try, times the tries so far
)

// errMoved says that the file changed between reading and replacing it; errBusy that another program kept
// rewriting it.
var (
	errMoved = errors.New("file changed meanwhile")
	errBusy  = errors.New("settings are busy")
)

// Apply adds or removes the part and returns the change that it made. If another program
// rewrites the file meanwhile, it starts again from the new content, and gives up after some
// tries. On any error the file is unchanged. A Noop change writes nothing into it.
func (p Part) Apply(on bool) (Change, error) {
	unlock, err := lockFor(p.Keep)
	if err != nil {
		return Change{}, err
	}
	defer unlock()
	for try := range applyTries {
		c, err := p.Plan(on)
		if err == nil {
			err = c.commit()
		}
		if !errors.Is(err, errMoved) {
			return c, err
		}
		time.Sleep(time.Duration(try+1) * applyPause)
	}
	return Change{}, failed("editing", p.Path, errBusy,
		"another program keeps rewriting the file; try again when it is done")
}

// lockFor locks a directory of records until unlock is called. Its lock file is never removed: two
// processes could then lock different files of the same name.
func lockFor(keep string) (unlock func(), err error) {
	if err = os.MkdirAll(keep, 0o700); err == nil {
		unlock, err = lockedfile.MutexAt(filepath.Join(keep, "install.lock")).Lock()
	}
	if err != nil {
		return nil, failed("locking", keep, err, "")
	}
	return unlock, nil
}

// commit makes the change. It writes the record first: a crash afterwards leaves a record that
// fits no file, which is harmless; without its record a file could not be restored.
func (c *Change) commit() error {
	var err error
	if !c.Noop() {
		err = c.write()
	}
	if err == nil && !c.owns(c.New) {
		err = c.kept.forget()
	}
	denied := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	if denied && c.File != c.Path {
		err = typed.Advise(err, c.elsewhere())
	}
	return err
}

// write writes the record, then the file, in a directory that it makes, or removes it with the
// directories that we made for it.
func (c *Change) write() error {
	dir := filepath.Dir(c.File)
	fileMode, dirMode := fs.FileMode(0o600), fs.FileMode(0o700)
	switch {
	case c.shared:
		fileMode, dirMode = 0o644, 0o755
	case c.Scope == Local: // the project's other settings will be there too
		dirMode = 0o755
	}
	before, _ := os.ReadFile(c.kept.record) // nil: none, or one that counts as none
	made, err := makeDir(dir, dirMode)
	if err == nil && c.save != nil {
		c.save.MadeDir = cmp.Or(c.save.MadeDir, made)
		err = c.kept.save(*c.save, c.copy)
	}
	if err == nil {
		err = c.was.replace(c.New, fileMode, c.unmoved)
	}
	switch {
	case err == nil && c.New == nil:
		removeDirs(dir, c.made)
	case err != nil:
		removeDirs(dir, made)
		if c.save != nil {
			c.kept.putBack(before)
		}
	}
	return err
}

// unmoved reads the file again and reports errMoved if it is not the one planned for.
func (c *Change) unmoved() error {
	now, err := readSettings(c.Path)
	if err == nil && !now.same(c.was) {
		err = failed("replacing", c.File, errMoved, "try again")
	}
	if err == nil && c.testOnlyBeforeRename != nil {
		c.testOnlyBeforeRename()
	}
	return err
}
