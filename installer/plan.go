package installer

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// Op is an operation on one file: Install, Uninstall or Put.
type Op struct {
	plan func(c *Change) error // decides on c.New, and what is recorded

	testOnlyBeforeRename func()
}

// Install returns the operation that makes a settings file hold want's entries.
func Install(want Spec) Op {
	return Op{plan: func(c *Change) error {
		if ownFile(c.Target.agent) {
			return c.planWhole(want)
		}
		return c.planInstall(want)
	}}
}

// Uninstall returns the operation that removes beckon's entries from a settings file.
func Uninstall() Op {
	return Op{plan: func(c *Change) error {
		c.forget = true
		if ownFile(c.Target.agent) {
			return c.planRemoval()
		}
		return c.planUninstall()
	}}
}

// Change is what an operation does, or did, to one settings file.
type Change struct {
	Target Target
	File   string // the real file, links resolved
	Old    []byte // nil: there is no file
	New    []byte // nil: the file is to be removed
	Backup string // install: where the original is kept; uninstall: the copy that New comes from; else empty

	Notes []string // install: what in the hooks is another tool's mistake, and stays

	was    snapshot
	kept   kept
	save   *record // record to write before the settings; nil to leave it
	copy   []byte  // backup to write with it; nil to leave it
	forget bool    // record and backup go in the end
	made   string  // directory that install created
	shared bool    // the file, and a directory made for it, are for others to read
	op     Op
}

// Noop reports whether the file stays as it is.
func (c Change) Noop() bool { return (c.Old == nil) == (c.New == nil) && bytes.Equal(c.Old, c.New) }

// Diff returns the change as a unified diff, or "".
func (c Change) Diff() string { return Diff(c.Old, c.New, c.File) }

// Plan reads a settings file and returns what Apply would do to it. It writes nothing.
func Plan(t Target, op Op) (Change, error) {
	was, err := readSettled(t.Path)
	if err != nil {
		return Change{}, err
	}
	c := Change{Target: t, File: was.file, Old: was.data, was: was, kept: keptFor(t.Keep, was.file), shared: t.Scope == Project, op: op}
	if c.kept.newer() {
		return Change{}, &fileError{"reading the record of an install", c.kept.record, errNewerRecord, "use that version, or update this one"}
	}
	if err := op.plan(&c); err != nil {
		return Change{}, inFile(err, was.file)
	}
	return c, c.checkWritable()
}

func (c *Change) planInstall(want Spec) error {
	var err error
	if c.New, c.Notes, err = Edit(c.Old, want); err != nil {
		return err
	}
	r, known := c.kept.load()
	if c.Noop() {
		if known && (r.Client != want.Client.String() || r.Set != want.Set) {
			r.Client, r.Set = want.Client.String(), want.Set
			c.save = &r
		}
		return nil
	}
	switch {
	case known && r.Wrote == digest(c.Old) && c.Old != nil:
		r.Wrote = digest(c.New) // nobody else wrote in between: the backup stays valid
	case owns(c.Old):
		// Others wrote in between, or the record was lost: the backup, if any, lacks their
		// changes. From now on only our entries may be removed.
		r.Wrote = ""
	default:
		r = record{Created: c.Old == nil, Original: digest(c.Old), Wrote: digest(c.New)}
		c.copy = c.Old
	}
	r.Schema, r.Settings = recordSchema, c.File
	r.Client, r.Set = want.Client.String(), want.Set
	c.save = &r
	if c.copy != nil || r.Original != "" && !r.Created {
		c.Backup = c.kept.backup
	}
	return nil
}

func (c *Change) planUninstall() error {
	if c.Old == nil {
		return nil
	}
	r, known := c.kept.load()
	c.made = r.MadeDir
	if known && r.Created && r.Wrote == digest(c.Old) {
		return nil // New stays nil: the file is removed
	}
	if data, ok := c.kept.original(r, c.Old); ok {
		c.New, c.Backup = data, c.kept.backup
		return nil
	}
	rest, err := remove(c.Old)
	if err == nil && !(known && r.Created && isEmptyObject(rest)) {
		c.New = rest
	}
	return err
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

func isEmptyObject(settings []byte) bool {
	_, text := cutBOM(settings)
	var m map[string]json.RawMessage
	return json.Unmarshal(text, &m) == nil && len(m) == 0
}

// checkWritable refuses a file whose protection a rename would bypass, or that it could not
// replace.
func (c Change) checkWritable() error {
	if c.Noop() {
		return nil
	}
	if c.was.info != nil && c.was.info.Mode().Perm()&0o200 == 0 {
		return &fileError{"editing", c.File, errors.New("is read-only"), c.elsewhere()}
	}
	if c.was.info == nil {
		return c.checkDir()
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
	if c.Target.agent != nil || c.shared {
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
		return &fileError{"following the link", c.Target.Path, errors.New("its directory does not exist"), advice("it points to " + link)}
	}
	if c.Target.Scope == User {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(dir)); err != nil || !info.IsDir() {
		return &fileError{"writing into", filepath.Dir(dir), errors.New("no such directory"), "is it the project's root?"}
	}
	return nil
}
