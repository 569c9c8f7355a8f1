package installer

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/event/agents"
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

	Missing     []string    // wanted events that nothing registers
	Unknown     []string    // registered events that the client does not know: it opens a warning
	Duplicates  []duplicate // events registered more than once
	Disabled    string      // the file whose disableAllHooks is in force, or ""
	ManagedOnly string      // the managed file that blocks all hooks but managed ones, or ""
}

// Answers reports whether any file has the entries of an install with answers.
func (r Report) Answers() bool { return slices.ContainsFunc(r.entries(), Entry.Answers) }

// Installed reports whether any file registers any entry of ours.
func (r Report) Installed() bool { return len(r.entries()) > 0 }

func (r Report) entries() (all []Entry) {
	for _, f := range r.Files {
		all = append(all, f.Entries...)
	}
	return all
}

// File is one settings or plugin file.
type File struct {
	Scope    Scope    // empty for a plugin
	Plugin   string   // the plugin's directory
	Path     string   // as the client opens it
	Real     string   // links resolved
	Err      error    // it could not be read, or Edit refuses it
	Entries  []Entry  // may be non-empty although Edit refuses the file
	Status   *status  // our status line, or nil
	Notes    []string // hooks of other tools that no client can run
	Recorded bool     // beckon was installed here and not uninstalled, even if something removed the entries

	disableAllHooks *bool // nil when absent
	managedOnly     bool  // allowManagedHooksOnly; it counts in managed settings only
}

// Entry is one entry of ours.
type Entry struct {
	Event   string
	Program string   // as written, without quoting, with a plugin's placeholder replaced
	Args    []string // further words
	Exec    bool     // exec form

	key string // the handler as the client compares it: of settings' equal entries it runs one
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
	Runs  int      // how often the client starts the hook for one event
}

// Inspect reads settings and plugins and returns what is registered. A file that cannot be
// read is reported like other facts.
func Inspect(in Inspection) Report {
	var r Report
	for _, t := range in.Targets {
		f := InspectFile(t)
		// In the home directory the project's file is the user's own.
		if f.Real == "" || !slices.ContainsFunc(r.Files, func(g File) bool { return g.Real == f.Real }) {
			r.Files = append(r.Files, f)
		}
	}
	for _, dir := range in.Plugins {
		r.Files = append(r.Files, readFile(filepath.Join(dir, "hooks", "hooks.json"), dir, nil))
	}
	var have, programs []string
	for _, f := range r.Files {
		for _, e := range f.Entries {
			have, programs = append(have, e.Event), append(programs, e.Program)
		}
		if f.Status != nil {
			programs = append(programs, f.Status.Program)
		}
	}
	r.Missing = slices.DeleteFunc(slices.Clone(in.Events), func(s string) bool { return slices.Contains(have, s) })
	r.Unknown = UnknownTo(in.Client, unique(have))
	for _, path := range unique(programs) {
		r.Programs = append(r.Programs, inspectProgram(path))
	}
	r.findDuplicates(unique(have))
	r.findSwitches()
	return r
}

// unique returns the list without repetitions, in its order.
func unique(list []string) (once []string) {
	for _, s := range list {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}

// InspectFile reads what one file registers.
func InspectFile(t Target) File {
	f := readFile(t.Path, "", t.agent)
	f.Scope = t.Scope
	if f.Real != "" && t.Keep != "" {
		_, f.Recorded = keptFor(t.Keep, f.Real).load()
	}
	return f
}

func readFile(path, plugin string, of *agents.Agent) File {
	f := File{Path: path, Plugin: plugin}
	s, err := readSettled(path)
	f.Real = s.file
	if err != nil {
		f.Err = err
		return f
	}
	if ownFile(of) {
		f.Entries = wholeEntries(of, s.data)
		return f
	}
	_, text := cutBOM(s.data)
	var top map[string]any // a file with invalid hooks can still disable all
	if json.Unmarshal(text, &top) == nil {
		if off, ok := top["disableAllHooks"].(bool); ok {
			f.disableAllHooks = &off
		}
		f.managedOnly, _ = top["allowManagedHooksOnly"].(bool)
	}
	d, err := parse(s.data, lax(of))
	if err != nil {
		f.Err = inFile(err, path)
		return f
	}
	_, f.Notes = d.entries(lax(of))
	if s, ok := d.ownStatus(); ok {
		f.Status = &status{s.words[0], s.wrapped() != nil}
	}
	for _, e := range d.own() {
		words := e.words()
		if plugin != "" {
			root := strings.NewReplacer("${CLAUDE_PLUGIN_ROOT}", plugin, "$CLAUDE_PLUGIN_ROOT", plugin)
			words[0] = root.Replace(words[0])
		}
		key := strings.Join(append([]string{plugin, e.command}, e.args...), "\x00")
		f.Entries = append(f.Entries, Entry{e.event, words[0], words[1:], e.exec, key})
	}
	return f
}

// findDuplicates looks for several entries of an event: equal ones of settings files run once, a
// plugin's always. Those that wait for a reply run in addition to the one that counts.
func (r *Report) findDuplicates(events []string) {
	for _, event := range events {
		var files, runs []string
		for _, f := range r.Files {
			for _, e := range f.Entries {
				if e.Event == event && !e.Reply() {
					files, runs = append(files, f.Path), append(runs, e.key)
				}
			}
		}
		if len(files) > 1 {
			r.Duplicates = append(r.Duplicates, duplicate{event, files, len(unique(runs))})
		}
	}
}

// findSwitches finds the file that decides, in the order of the scopes for a setting.
func (r *Report) findSwitches() {
	decided := false
	for _, scope := range []Scope{Managed, Local, Project, User} {
		for _, f := range r.Files {
			if f.Scope != scope {
				continue
			}
			if f.disableAllHooks != nil && !decided {
				decided = true
				if *f.disableAllHooks {
					r.Disabled = f.Path
				}
			}
			if scope == Managed && f.managedOnly && r.ManagedOnly == "" {
				r.ManagedOnly = f.Path
			}
		}
	}
}

func inspectProgram(path string) program {
	p := program{Path: path, Absolute: filepath.IsAbs(path)}
	info, err := os.Stat(path)
	if !p.Absolute || err != nil {
		return p
	}
	p.Exists = true
	if !info.Mode().IsRegular() {
		return p
	}
	p.Executable = runnable(path, info)
	if build, err := buildinfo.ReadFile(path); err == nil {
		p.Version = build.Main.Version
	}
	return p
}
