package installer

import (
	"bytes"
	_ "embed"
	"encoding/json"
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

// modFile is the mod below a plugin's directory, modules the line by which hooksFile names it.
const (
	hooksFile = "hooks/hooks.json"
	modFile   = "hooks/register.js"
	modules   = "\n  \"modules\": [\"./register.js\"],"
)

//go:embed mod/register.js.tmpl
var modText string

// modMark begins the mod's file and identifies it as beckon's.
const modMark = "// Made by beckon "

// module returns the mod: one JavaScript file, which names both programs.
func (p Plugin) module() ([]byte, error) {
	if err := p.Spec.check(); err != nil {
		return nil, err
	}
	if !ownProgram(p.Beckon) {
		return nil, &pathError{p.Beckon, "not the program that shows sessions",
			"the program must be called beckon, at an absolute path"}
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
	if member(&d.file, "modules") != nil {
		return nil, problemAt(text, d.file.StartOffset, "modules", "names a module already",
			"a plugin has one: choose another directory")
	}
	return slices.Concat(head, []byte(modules), rest), nil
}

// modAlone is the hooks/hooks.json of a plugin with nothing but the mod. An older client
// treats missing "hooks" as an error.
var modAlone = []byte("{" + modules + "\n  \"hooks\": {}\n}\n")

func modOurs(old []byte) bool { return bytes.HasPrefix(old, []byte(modMark)) }

// IsMod reports whether the plugin in dir has beckon's mod, whatever else it has.
func IsMod(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(modFile)))
	return err == nil && modOurs(data)
}

// HasMod reports whether PutMod has put a mod into p.Dir.
func (p Plugin) HasMod() bool {
	hooks, _ := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(hooksFile))) // a missing file is not equal
	return IsMod(p.Dir) && isModAlone(hooks)
}

func isModAlone(hooks []byte) bool { return bytes.Equal(hooks, modAlone) }

// PlanMod returns the changes that PutMod makes. keep is where TakeMod finds what was there before.
func (p Plugin) PlanMod(keep string) ([]Change, error) {
	p.Spec.plugin = true
	text, err := p.module()
	if err != nil {
		return nil, err
	}
	return p.plan(keep, []part{
		p.file(".claude-plugin/plugin.json", p.manifest(), named),
		p.file(hooksFile, modAlone, isModAlone),
		p.file(modFile, text, modOurs),
	})
}

// PutMod makes p.Dir a plugin with nothing but the mod, and reports whether anything had to be
// written.
func (p Plugin) PutMod(keep string) (changed bool, err error) {
	files, err := p.PlanMod(keep)
	if err != nil || !slices.ContainsFunc(files, func(f Change) bool { return !f.Noop() }) {
		return false, err
	}
	if err := os.MkdirAll(keep, 0o700); err != nil {
		return false, &fileError{"making the directory", keep, cause(err), ""}
	}
	return true, p.Write(files)
}

// TakeMod removes what PutMod put into p.Dir, with the directories that it created if they are
// empty. It reports whether there was a mod.
func (p Plugin) TakeMod(keep string) (was bool, err error) {
	if !p.HasMod() {
		return false, nil
	}
	for _, one := range []part{
		{modFile, without(modOurs)},
		{hooksFile, without(isModAlone)},
		{".claude-plugin/plugin.json", without(named)},
	} {
		files, err := p.plan(keep, []part{one})
		if err == nil {
			err = p.Write(files)
		}
		if err != nil {
			return true, err
		}
	}
	// Earlier versions recorded the directories apart.
	if os.Remove(filepath.Join(keep, "mod.json")) == nil {
		for _, dir := range []string{"hooks", ".claude-plugin", "."} {
			_ = os.Remove(filepath.Join(p.Dir, dir)) // one with anything else stays
		}
	}
	return true, nil
}
