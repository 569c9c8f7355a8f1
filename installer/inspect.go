package installer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"beckon/event/agents"
)

// File is what a settings file, or a plugin's hooks/hooks.json, has of ours.
type File struct {
	Scope    Scope   // empty for a plugin
	Plugin   string  // the plugin's directory
	Path     string  // as the client opens it
	Real     string  // links resolved
	Err      error   // it could not be read, or Edit refuses it
	Entries  []Entry // may be non-empty although Edit refuses the file
	Status   string  // the program of our status line, or empty
	Recorded bool    // beckon was installed here and not uninstalled, even if something removed the entries
}

// Entry is one entry of ours.
type Entry struct {
	Event   string
	Program string   // as written, without quoting, with a plugin's placeholder replaced
	Args    []string // further words
}

// Answers reports whether the entry is one of an install with answers.
func (e Entry) Answers() bool {
	return slices.Contains(e.Args, strings.TrimSpace(replySlot)) || slices.Contains(e.Args, "--answers")
}

// InspectFile reads what one settings file has.
func InspectFile(t Target) File {
	f := readFile(t.Path, "", t.agent)
	f.Scope = t.Scope
	if f.Real != "" && t.Keep != "" {
		_, f.Recorded = keptFor(t.Keep, f.Real).load()
	}
	return f
}

// InspectPlugin reads what the plugin in dir has.
func InspectPlugin(dir string) File {
	return readFile(filepath.Join(dir, "hooks", "hooks.json"), dir, nil)
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
		f.Entries = wholeEntries(s.data)
		return f
	}
	d, err := parse(s.data, lax(of))
	if err != nil {
		f.Err = fmt.Errorf("reading %q: %w", path, err)
		return f
	}
	f.Status = d.status()
	root := strings.NewReplacer("${CLAUDE_PLUGIN_ROOT}", plugin, "$CLAUDE_PLUGIN_ROOT", plugin)
	for _, e := range d.own() {
		words := e.words()
		if plugin != "" {
			words[0] = root.Replace(words[0])
		}
		f.Entries = append(f.Entries, Entry{e.event, words[0], words[1:]})
	}
	return f
}
