package installer

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// ModSince is the first client that runs a plugin's functions.
var ModSince = Version{2, 1, 287}

// RunsMods reports whether the client runs a plugin's functions. An unknown version gets none:
// an older client fails in more ways than an error about the mod.
func (v Version) RunsMods() bool { return v.Compare(ModSince) >= 0 }

// modVersion is what the mod reports when it is loaded. A newer mod has a higher one.
const modVersion = "1"

// modFile is the mod below a plugin's directory, modules the line by which
// hooks/hooks.json names it.
const (
	modFile = "hooks/register.js"
	modules = "\n  \"modules\": [\"./register.js\"],"
)

//go:embed mod/register.js.tmpl
var modText string

// modMark begins the mod's file and identifies it as beckon's.
const modMark = "// Made by beckon "

// modModule returns the mod: one JavaScript file, which names both programs.
func modModule(p Plugin, _ []byte) ([]byte, error) {
	if err := p.Spec.check(); err != nil {
		return nil, err
	}
	if !ownProgram(p.Beckon) {
		return nil, &pathError{p.Beckon, "not the program that shows sessions", "the program must be called beckon, at an absolute path"}
	}
	quoted := func(s string) string {
		b, _ := json.Marshal(s) // a string always marshals; <, > and & are escaped, which JavaScript accepts
		return string(b)
	}
	var b bytes.Buffer
	err := template.Must(template.New(modFile).Parse(modText)).Execute(&b, map[string]string{
		"Version": strings.Map(printed, p.Version), "Mod": quoted(modVersion),
		"Hook": quoted(slashed(p.Spec.Command)), "Beckon": quoted(slashed(p.Beckon)),
	})
	return b.Bytes(), err
}

// printed replaces characters that would break a one-line comment.
func printed(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}

// withModules adds the mod's line to hooks/hooks.json, or removes it.
func withModules(text []byte, mod bool) ([]byte, error) {
	d, err := parse(text, false)
	if err != nil {
		return nil, err
	}
	head, rest := text[:d.file.StartOffset+1], text[d.file.StartOffset+1:]
	without, ours := bytes.CutPrefix(rest, []byte(modules))
	switch {
	case ours == mod:
		return text, nil
	case ours:
		return slices.Concat(head, without), nil
	}
	if member(d.root, "modules") != nil {
		return nil, problemAt(text, d.file.StartOffset, "modules", "names a module already", "a plugin has one: choose another directory")
	}
	return slices.Concat(head, []byte(modules), rest), nil
}

// modAlone is the hooks/hooks.json of a plugin with nothing but the mod. An older client
// treats missing "hooks" as an error.
var modAlone = []byte("{" + modules + "\n  \"hooks\": {}\n}\n")

// alone are the parts of a plugin with nothing but the mod.
var alone = []pluginPart{
	{".claude-plugin/plugin.json", pluginManifest, named},
	{"hooks/hooks.json", func(Plugin, []byte) ([]byte, error) { return modAlone, nil }, func(old []byte) bool { return bytes.Equal(old, modAlone) }},
	{modFile, modModule, modOurs},
}

func modOurs(old []byte) bool { return bytes.HasPrefix(old, []byte(modMark)) }

// modRecord remembers which directories PutMod created.
type modRecord struct {
	Dir  string   `json:"dir"`
	Made []string `json:"made,omitempty"` // the outermost first
}

func modRecordFile(keep string) string { return filepath.Join(keep, "mod.json") }

// IsMod reports whether the plugin in dir has beckon's mod, whatever else it has.
func IsMod(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(modFile)))
	return err == nil && modOurs(data)
}

// HasMod reports whether PutMod has put a mod into p.Dir.
func (p Plugin) HasMod() bool {
	hooks, _ := os.ReadFile(filepath.Join(p.Dir, "hooks", "hooks.json")) // a missing file is not equal
	return IsMod(p.Dir) && bytes.Equal(hooks, modAlone)
}

// PlanMod returns the changes that PutMod makes.
func (p Plugin) PlanMod() ([]Change, error) {
	p.Spec.plugin = true
	return p.plan(alone)
}

// PutMod makes p.Dir a plugin with nothing but the mod, and reports whether anything had to be
// written. keep is where TakeMod finds what was there before.
func (p Plugin) PutMod(keep string) (changed bool, err error) {
	files, err := p.PlanMod()
	if err != nil {
		return false, err
	}
	made := modRecord{Dir: p.Dir}
	if old, err := readModRecord(keep); err == nil && old.Dir == p.Dir {
		made = old
	}
	for dir := p.Dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made.Made = append([]string{dir}, made.Made...)
	}
	if !slices.ContainsFunc(files, func(f Change) bool { return !f.Noop() }) {
		return false, nil
	}
	if err := errors.Join(os.MkdirAll(keep, 0o700), writeJSON(modRecordFile(keep), made)); err != nil {
		return false, &fileError{"noting what is made for the mod in", keep, cause(err), ""}
	}
	return true, p.Write(files)
}

// TakeMod removes what PutMod put into dir, with the directories that it created if they are
// empty. It reports whether there was a mod.
func (p Plugin) TakeMod(keep string) (was bool, err error) {
	if !p.HasMod() {
		return false, nil
	}
	for i := len(alone) - 1; i >= 0; i-- {
		path := filepath.Join(p.Dir, filepath.FromSlash(alone[i].name))
		if old, err := os.ReadFile(path); err != nil || !alone[i].ours(old) {
			continue // not ours any more
		}
		if err := os.Remove(path); err != nil {
			return true, &fileError{"removing", path, cause(err), ""}
		}
	}
	empty := []string{filepath.Join(p.Dir, "hooks"), filepath.Join(p.Dir, ".claude-plugin")}
	r, _ := readModRecord(keep)
	for i := len(r.Made) - 1; i >= 0 && r.Dir == p.Dir; i-- {
		empty = append(empty, r.Made[i])
	}
	for _, dir := range empty {
		_ = os.Remove(dir) // a directory with anything else stays
	}
	if err := os.Remove(modRecordFile(keep)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, &fileError{"removing", modRecordFile(keep), cause(err), ""}
	}
	return true, nil
}

func readModRecord(keep string) (r modRecord, err error) {
	data, err := os.ReadFile(modRecordFile(keep))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}
