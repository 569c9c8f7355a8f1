package installer

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

// PluginName is the name of the plugin, and of the marketplace that its directory
// is at the same time: the client lists it as beckon@beckon.
const PluginName = "beckon"

// ModSince is the first client that runs a plugin's functions.
var ModSince = Version{2, 1, 287}

// RunsMods reports whether the client runs a plugin's functions. An unknown version gets none:
// an older client fails in more ways than an error about the mod.
func (v Version) RunsMods() bool { return v.Compare(ModSince) >= 0 }

// modVersion is what the mod reports when it is loaded. A newer mod has a higher one.
const modVersion = "1"

// The files of a plugin, and the line by which the mod's is named.
const (
	manifestFile = ".claude-plugin/plugin.json"
	hooksFile    = "hooks/hooks.json"
	modFile      = "hooks/register.js"
	modules      = "\n  \"modules\": [\"./register.js\"],"
)

//go:embed mod/register.js.tmpl
var modText string

// plugin is the plugin as a release has it. Its hooks name no program of one machine: a script finds
// the installed one.
//
//go:embed all:plugin
var plugin embed.FS

// modMark is the beginning of the mod, by which it is known.
const modMark = "// Made by beckon "

// Plugin is a plugin of Claude Code in a directory. A plugin cannot provide a status line.
type Plugin struct {
	Dir     string
	Spec    Spec
	Version string // of this program; left out unless of the form 1.2.3
	Beckon  string // absolute path of beckon, for the mod
}

// Edits returns the edits that make p.Dir a marketplace with the plugin, in the order to do them.
// Existing files are refused unless they are of a plugin named beckon.
func (p Plugin) Edits() (edits []FileEdit, err error) {
	old, _ := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(manifestFile))) // a missing file is nobody's
	mine := func([]byte) bool { return named(old) }
	err = fs.WalkDir(plugin, "plugin", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := plugin.ReadFile(path)
		name := strings.TrimPrefix(path, "plugin/")
		if name == manifestFile {
			text = p.manifest()
		}
		edits = append(edits, p.file("", name, p.whole(text, mine)))
		return err
	})
	// An earlier version put the mod here.
	return append(edits, p.file("", modFile, without(begins(modMark)))), err
}

// ModEdits returns the edits that make p.Dir a plugin with nothing but the mod, or take it away. keep
// is where the second finds what was there before the first.
func (p Plugin) ModEdits(keep string, on bool) ([]FileEdit, error) {
	if !on {
		if !p.HasMod() {
			return nil, nil
		}
		return []FileEdit{
			p.file(keep, modFile, without(begins(modMark))),
			p.file(keep, hooksFile, without(isModAlone)),
			p.file(keep, manifestFile, without(named)),
		}, nil
	}
	text, err := p.module()
	return []FileEdit{
		p.file(keep, manifestFile, p.whole(p.manifest(), named)),
		p.file(keep, hooksFile, p.whole(modAlone, isModAlone)),
		p.file(keep, modFile, p.whole(text, begins(modMark))),
	}, err
}

// RemoveEmpty removes the directories of a mod that was taken away, if an earlier version made them,
// which recorded that in a file of its own.
func (p Plugin) RemoveEmpty(keep string) error {
	err := os.Remove(filepath.Join(keep, "mod.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, dir := range []string{"hooks", ".claude-plugin", "."} {
		_ = os.Remove(filepath.Join(p.Dir, dir)) // one with anything else stays
	}
	return err
}

// file returns the edit of the plugin's file of that name.
func (p Plugin) file(keep, name string, op Op) FileEdit {
	t := Target{Scope: User, Path: filepath.Join(p.Dir, filepath.FromSlash(name)), Keep: keep}
	return FileEdit{Target: t, Op: op}
}

// whole returns the operation that makes a file that text. It refuses another's file.
func (p Plugin) whole(text []byte, ours func([]byte) bool) Op {
	check := func() error { return nil }
	return whole(check, func([]byte) []byte { return text }, ours, "choose another directory")
}

func begins(mark string) func([]byte) bool {
	return func(text []byte) bool { return bytes.HasPrefix(text, []byte(mark)) }
}

// named reports whether a manifest belongs to a plugin or marketplace of our name.
func named(old []byte) bool {
	var m struct {
		Name string `json:"name"`
	}
	return json.Unmarshal(old, &m) == nil && m.Name == PluginName
}

// modAlone is the hooks/hooks.json of a plugin with nothing but the mod. An older client
// treats missing "hooks" as an error.
var modAlone = []byte("{" + modules + "\n  \"hooks\": {}\n}\n")

func isModAlone(hooks []byte) bool { return bytes.Equal(hooks, modAlone) }

// IsMod reports whether the plugin in dir has beckon's mod, whatever else it has.
func IsMod(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(modFile)))
	return err == nil && begins(modMark)(data)
}

// HasMod reports whether p.Dir has the mod and nothing else of a plugin's.
func (p Plugin) HasMod() bool {
	hooks, _ := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(hooksFile))) // a missing file is not equal
	return IsMod(p.Dir) && isModAlone(hooks)
}

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
	printed := func(r rune) rune { // others would break a one-line comment
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}
	var b bytes.Buffer
	err := template.Must(template.New(modFile).Parse(modText)).Execute(&b, map[string]string{
		"Version": strings.Map(printed, p.Version), "Mod": quoted(modVersion),
		"Hook": quoted(slashed(p.Spec.Command)), "Beckon": quoted(slashed(p.Beckon)),
	})
	return b.Bytes(), err
}

// manifest returns the plugin's manifest, with the version if the client can compare it.
func (p Plugin) manifest() []byte {
	text, _ := plugin.ReadFile("plugin/" + manifestFile) // it is there
	version := regexp.MustCompile(`^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$`).FindStringSubmatch(p.Version)
	if version == nil {
		return text
	}
	name := []byte(`"name": "beckon",`)
	return bytes.Replace(text, name, []byte(string(name)+"\n  \"version\": \""+version[1]+`",`), 1)
}
