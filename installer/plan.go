package installer

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// Op is an operation on one file: Install, Uninstall, Put, or a part of a plugin.
type Op struct {
	// edit returns the text with our part as it should be. nil is a missing file, before and after.
	edit func(old []byte) (text []byte, notes []string, err error)
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
		return whole(want.check, want.whole, ours, "move it away")
	}
	edit := func(old []byte) ([]byte, []string, error) { return Edit(old, want) }
	return Op{edit: edit, owns: owns, client: want.Client.String(), set: want.Set}
}

// Uninstall returns the operation that removes beckon's entries from a file, or the whole file if
// it is beckon's own.
func Uninstall() Op {
	return Op{undo: true, owns: owns, edit: func(old []byte) ([]byte, []string, error) {
		if old == nil {
			return nil, nil, nil
		}
		rest, err := remove(old)
		return rest, nil, err
	}}
}

// errForeign is returned for a file of ours by name that somebody else wrote.
var errForeign = errors.New("is there already, and not beckon's")

// whole returns the operation that makes a file what text returns. Its error for a file that is
// not ours has the advice.
func whole(check func() error, text func() []byte, ours func([]byte) bool, foreign advice) Op {
	return Op{owns: ours, edit: func(old []byte) ([]byte, []string, error) {
		if old != nil && !ours(old) {
			return nil, nil, &fileError{Step: "writing", Err: errForeign, advice: foreign}
		}
		if err := check(); err != nil {
			return nil, nil, err
		}
		return text(), nil, nil
	}}
}

// without returns the operation that removes a file if it is ours.
func without(ours func([]byte) bool) Op {
	return Op{owns: ours, edit: func(old []byte) ([]byte, []string, error) {
		if ours(old) {
			return nil, nil, nil
		}
		return old, nil, nil
	}}
}

// Change is what an operation does, or did, to one file.
type Change struct {
	Target Target
	File   string // the real file, links resolved
	Old    []byte // nil: there is no file
	New    []byte // nil: the file is to be removed
	Backup string // where the old bytes are kept; for an undo, where New comes from; else empty

	Notes []string // install: what in the hooks is another tool's mistake, and stays

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
	c := Change{Target: t, File: was.file, Old: was.data, was: was, kept: keptFor(t.Keep, was.file), op: op}
	c.op.shared = op.shared || t.Scope == Project
	if c.kept.newer() {
		return Change{}, &fileError{"reading the record of an install", c.kept.record, errNewerRecord,
			"use that version, or update this one"}
	}
	if c.New, c.Notes, err = op.edit(c.Old); err != nil {
		return Change{}, inFile(err, t.Path, was.file)
	}
	if r, known := c.kept.load(); op.owns(c.New) {
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
	if c.copy != nil || r.Original != "" && !r.Created {
		c.Backup = c.kept.backup
	}
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
		c.New, c.Backup = data, c.kept.backup
	}
}

// owns reports whether settings contain an entry of ours.
func owns(settings []byte) bool {
	_, text := cutBOM(settings)
	d, err := parseTree(text)
	if err != nil {
		return false
	}
	_, status := d.ownStatus()
	return status || len(d.own()) > 0
}

// isNothing reports whether a file is empty, or an empty object.
func isNothing(text []byte) bool {
	_, text = cutBOM(text)
	d, err := parseTree(text)
	if err != nil {
		return isBlank(text)
	}
	list, _ := items(&d.file)
	return len(list) == 0
}

// checkWritable refuses a file whose protection a rename would bypass, or that it could not
// replace.
func (c Change) checkWritable() error {
	switch {
	case c.Noop():
		return nil
	case c.was.info == nil:
		return c.checkDir()
	case c.was.info.Mode().Perm()&0o200 == 0:
		return &fileError{"editing", c.File, errors.New("is read-only"), c.elsewhere()}
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
	plugin := filepath.Join(filepath.Dir(c.Target.Path), "skills", PluginName)
	return advice(is + ", or use the plugin, which needs no settings: " + CommandLine("beckon", "plugin", plugin))
}

// checkDir makes sure that the file's directory exists or may be created: the client's own, or
// .claude in an existing project.
func (c Change) checkDir() error {
	dir := filepath.Dir(c.File)
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return &fileError{"writing into", dir, errors.New("not a directory"), ""}
		}
		return nil
	}
	if link, err := os.Readlink(c.Target.Path); err == nil {
		return &fileError{"following the link", c.Target.Path, errors.New("its directory does not exist"),
			advice("it points to " + link)}
	}
	if c.Target.Scope == User {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(dir)); err != nil || !info.IsDir() {
		return &fileError{"writing into", filepath.Dir(dir), errors.New("no such directory"), "is it the project's root?"}
	}
	return nil
}
