package installer

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Inspection says what to inspect and what is expected.
type Inspection struct {
	Targets []Target // settings files of all scopes; for Managed, see ManagedFiles
	Plugins []string // directories of plugins, each with hooks/hooks.json
	Events  []string // what install would register now
	Client  Version  // the installed client
}

// Report is the result of an inspection. It contains facts; doctor interprets them.
type Report struct {
	Files    []File // the settings files asked for, then the plugins; none twice
	Programs []program

	// Missing are the wanted events that nothing registers.
	Missing []string
	// Unknown are registered events that the client does not know: it opens a warning.
	Unknown []string
	// Duplicates are events registered more than once.
	Duplicates []duplicate
	// Disabled is the file whose disableAllHooks is in force, or "".
	Disabled string
	// ManagedOnly is the managed file that blocks all hooks but managed ones, or "".
	ManagedOnly string
}

// Answers reports whether any file has the entries of an install with answers.
func (r Report) Answers() bool {
	return slices.ContainsFunc(r.Files, func(f File) bool { return slices.ContainsFunc(f.Entries, Entry.Answers) })
}

// Installed reports whether any file registers any entry of ours.
func (r Report) Installed() bool {
	return slices.ContainsFunc(r.Files, func(f File) bool { return len(f.Entries) > 0 })
}

// File is one settings or plugin file.
type File struct {
	Scope   Scope    // empty for a plugin
	Plugin  string   // the plugin's directory
	Path    string   // as the client opens it
	Real    string   // links resolved
	Err     error    // it could not be read, or Edit refuses it
	Entries []Entry  // may be non-empty although Edit refuses the file
	Status  *status  // our status line, or nil
	Notes   []string // hooks of other tools that no client can run

	// Recorded: beckon was installed here and not uninstalled. If there are no entries,
	// something else removed them.
	Recorded bool
	// DisableAllHooks is the setting of that name; nil when absent.
	DisableAllHooks *bool
	// AllowManagedHooksOnly counts in managed settings only.
	AllowManagedHooksOnly bool
}

// Entry is one entry of ours.
type Entry struct {
	Event   string
	Program string   // as written, without quoting, with a plugin's placeholder replaced
	Args    []string // further words
	Exec    bool     // exec form

	command string // the handler as the client compares it
}

// Reply reports whether the entry waits for a reply, and folds nothing.
func (e Entry) Reply() bool { return slices.Contains(e.Args, strings.TrimSpace(replySlot)) }

// Answers reports whether the entry is one of an install with answers.
func (e Entry) Answers() bool { return e.Reply() || slices.Contains(e.Args, "--answers") }

// status is a status line of ours.
type status struct {
	Program string
	Wraps   bool // it runs the previous one
}

// program is a file that entries name.
type program struct {
	Path       string
	Absolute   bool // if not, the rest is unknown: the client looks in its PATH
	Exists     bool
	Executable bool
	Version    string // module version that Go recorded in it; empty if unknown
}

// duplicate is an event that several entries register.
type duplicate struct {
	Event string
	Files []string // one for each entry
	// Runs is how often the client starts the hook for one event: equal entries of settings
	// files count once, a plugin's always.
	Runs int
}

// Inspect reads settings and plugins and returns what is registered. A file that cannot be
// read is reported like other facts.
func Inspect(in Inspection) Report {
	var r Report
	for _, t := range in.Targets {
		f := inspectTarget(t)
		// In the home directory the project's file is the user's own.
		if f.Real == "" || !slices.ContainsFunc(r.Files, func(g File) bool { return g.Real == f.Real }) {
			r.Files = append(r.Files, f)
		}
	}
	for _, dir := range in.Plugins {
		r.Files = append(r.Files, readFile(filepath.Join(dir, "hooks", "hooks.json"), dir, false))
	}
	r.compareEvents(in)
	r.findDuplicates()
	r.findSwitches()
	r.findPrograms()
	return r
}

func inspectTarget(t Target) File {
	f := readFile(t.Path, "", lax(t.agent))
	f.Scope = t.Scope
	if f.Real != "" && t.Keep != "" {
		_, f.Recorded = keptFor(t.Keep, f.Real).load()
	}
	return f
}

func readFile(path, plugin string, lax bool) File {
	f := File{Path: path, Plugin: plugin}
	s, err := readSettled(path)
	f.Real = s.file
	_, text := cutBOM(s.data)
	if err != nil || isBlank(text) {
		f.Err = err
		return f
	}
	f.readSwitches(text)
	d, err := parse(text, lax)
	if err != nil {
		f.Err = inFile(err, path, path)
		return f
	}
	_, f.Notes = d.entries(lax)
	if s, ok := d.ownStatus(); ok {
		wraps := s.wrapped() != nil
		f.Status = &status{s.words[0], wraps}
	}
	for _, e := range d.own() {
		f.Entries = append(f.Entries, e.describe(plugin))
	}
	return f
}

// readSwitches reads what it can, since a file with invalid hooks can still disable all.
func (f *File) readSwitches(text []byte) {
	var top map[string]json.RawMessage
	if json.Unmarshal(text, &top) != nil {
		return
	}
	f.DisableAllHooks = boolean(top["disableAllHooks"])
	only := boolean(top["allowManagedHooksOnly"])
	f.AllowManagedHooksOnly = only != nil && *only
}

// boolean returns the value of a switch, nil for anything but true and false.
func boolean(raw json.RawMessage) *bool {
	var b *bool
	if json.Unmarshal(raw, &b) != nil {
		return nil
	}
	return b
}

func (e hookEntry) describe(plugin string) Entry {
	words := e.words()
	program := words[0]
	if plugin != "" {
		program = strings.ReplaceAll(program, "${CLAUDE_PLUGIN_ROOT}", plugin)
	}
	return Entry{
		Event: e.event, Program: program, Args: words[1:], Exec: e.exec,
		command: e.command + "\x00" + strings.Join(e.args, "\x00"),
	}
}

// compareEvents compares what is registered, anywhere, with what is wanted.
func (r *Report) compareEvents(in Inspection) {
	var have []string
	for _, f := range r.Files {
		for _, e := range f.Entries {
			if !slices.Contains(have, e.Event) {
				have = append(have, e.Event)
			}
		}
	}
	r.Missing = slices.DeleteFunc(slices.Clone(in.Events), func(s string) bool { return slices.Contains(have, s) })
	r.Unknown = UnknownTo(in.Client, have)
}

func (r *Report) findDuplicates() {
	seen := map[string]bool{}
	for _, f := range r.Files {
		for _, e := range f.Entries {
			if e.Reply() {
				continue // runs in addition to the one that folds
			}
			i := slices.IndexFunc(r.Duplicates, func(d duplicate) bool { return d.Event == e.Event })
			if i < 0 {
				i = len(r.Duplicates)
				r.Duplicates = append(r.Duplicates, duplicate{Event: e.Event})
			}
			d := &r.Duplicates[i]
			d.Files = append(d.Files, f.Path)
			key := f.Plugin + "\x00" + e.Event + "\x00" + e.command
			if !seen[key] {
				d.Runs++
			}
			seen[key] = true
		}
	}
	r.Duplicates = slices.DeleteFunc(r.Duplicates, func(d duplicate) bool { return len(d.Files) == 1 })
}

// precedence is the order of the scopes for a setting: the first found wins.
var precedence = []Scope{Managed, Local, Project, User}

func (r *Report) findSwitches() {
	decided := false
	for _, scope := range precedence {
		for _, f := range r.Files {
			if f.Scope != scope {
				continue
			}
			if f.DisableAllHooks != nil && !decided {
				decided = true
				if *f.DisableAllHooks {
					r.Disabled = f.Path
				}
			}
			if scope == Managed && f.AllowManagedHooksOnly && r.ManagedOnly == "" {
				r.ManagedOnly = f.Path
			}
		}
	}
}

func (r *Report) findPrograms() {
	for _, f := range r.Files {
		for _, e := range f.Entries {
			r.addProgram(e.Program)
		}
		if f.Status != nil {
			r.addProgram(f.Status.Program)
		}
	}
}

func (r *Report) addProgram(path string) {
	if !slices.ContainsFunc(r.Programs, func(p program) bool { return p.Path == path }) {
		r.Programs = append(r.Programs, inspectProgram(path))
	}
}

func inspectProgram(path string) program {
	p := program{Path: path, Absolute: filepath.IsAbs(path)}
	if !p.Absolute {
		return p
	}
	info, err := os.Stat(path)
	p.Exists = err == nil
	if err != nil || !info.Mode().IsRegular() {
		return p
	}
	p.Executable = runnable(path, info)
	if build, err := buildinfo.ReadFile(path); err == nil {
		p.Version = build.Main.Version
	}
	return p
}
