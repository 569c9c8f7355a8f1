package installer

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// PluginName is the name of the plugin, and of the marketplace that its directory is at the same time:
// the client lists it as beckon@beckon.
const PluginName = "beckon"

// ModSince is the first client that runs a plugin's functions.
const ModSince Version = "2.1.287"

// RunsMods reports whether the client runs a plugin's functions. An unknown version gets none:
// an older client fails in more ways than an error about the mod.
func (v Version) RunsMods() bool { return v.Known() && !v.Older(ModSince) }

//go:embed mod/register.js.tmpl
var modText string

//go:embed plugin/.claude-plugin/plugin.json
var manifest []byte

// modAlone is the hooks/hooks.json of a plugin with nothing but the mod. An older client
// treats missing "hooks" as an error.
const modAlone = "{\n  \"modules\": [\"./register.js\"],\n  \"hooks\": {}\n}\n"

// Mod is a plugin of Claude Code that has nothing but the mod, which runs inside the client.
type Mod struct {
	Dir     string // the plugin's directory
	Version string // of this program
	Hook    string // absolute path of beckon-hook
	Beckon  string // absolute path of beckon
}

// A part is a file of the mod's plugin.
type part struct {
	name string
	text func(Mod) []byte
	mark string // the beginning, by which it is known as ours
}

var parts = []part{
	{".claude-plugin/plugin.json", func(Mod) []byte { return manifest }, "{\n  \"name\": \"" + PluginName + "\""},
	{"hooks/hooks.json", func(Mod) []byte { return []byte(modAlone) }, modAlone},
	{"hooks/register.js", Mod.script, "// Made by beckon "},
}

func (p part) ours(text []byte) bool { return bytes.HasPrefix(text, []byte(p.mark)) }

// Parts returns the files that make m.Dir the mod's plugin. keep is where their undoing finds what was
// there before.
func (m Mod) Parts(keep string) (all []Part) {
	for _, p := range parts {
		t := Target{Scope: User, Path: filepath.Join(m.Dir, filepath.FromSlash(p.name)), Keep: keep}
		all = append(all, t.whole(func([]byte) ([]byte, error) { return p.text(m), nil }, p.ours))
	}
	return all
}

// has reports whether the plugin in dir has the file as we write it.
func (p part) has(dir string) bool {
	text, _ := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p.name)))
	return p.ours(text)
}

// IsMod reports whether the plugin in dir has beckon's mod, whatever else it has.
func IsMod(dir string) bool { return parts[2].has(dir) }

// Alone reports whether m.Dir has the mod and nothing else of a plugin's.
func (m Mod) Alone() bool { return IsMod(m.Dir) && parts[1].has(m.Dir) }

// script returns the mod: one JavaScript file, which names both programs.
func (m Mod) script() []byte {
	return []byte(strings.NewReplacer("{{.Version}}", m.Version, "{{.Hook}}", scriptString(slashed(m.Hook)),
		"{{.Beckon}}", scriptString(slashed(m.Beckon))).Replace(modText))
}

// scriptString returns s as JavaScript and JSON have it; <, > and & are escaped.
func scriptString(s string) string {
	b, _ := json.Marshal(s) // a string always marshals
	return string(b)
}
