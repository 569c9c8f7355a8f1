package installer

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// The files of a plugin, and the line by which its hooks name the mod.
const (
	manifestFile = ".claude-plugin/plugin.json"
	hooksFile    = "hooks/hooks.json"
	modFile      = "hooks/register.js"
	modules      = "\n  \"modules\": [\"./register.js\"],"
)

//go:embed mod/register.js.tmpl
var modText string

//go:embed plugin/README.md.tmpl
var readmeText string

// The beginnings of our files, by which they are known.
const (
	modMark     = "// Made by beckon "
	readmeTitle = "# beckon, as a plugin of Claude Code\n"
)

// Plugin says what a plugin of Claude Code must contain: the hooks of Spec. A plugin cannot
// provide a status line.
type Plugin struct {
	Dir     string
	Spec    Spec
	Version string // of this program; left out unless of the form 1.2.3
	Beckon  string // absolute path of beckon, for the mod; empty without a mod
	Force   bool   // replace existing files that are not ours
}

// Edits returns the edits that make the plugin, in the order to do them. hooks/hooks.json is edited
// like settings: other hooks in it stay. Other existing files that this program did not write are
// refused, unless Force is set.
//
// Entries name the program by its own path, not by one below the plugin: the client copies a
// plugin when it installs it, and the copy does not follow an upgrade.
func (p Plugin) Edits() ([]FileEdit, error) {
	p.Spec.plugin = true
	hooks := Install(p.Spec)
	hooks.edit = func(old []byte) ([]byte, []string, error) {
		text, notes, err := Edit(old, p.Spec)
		if err == nil {
			text, err = withModules(text, p.Beckon != "")
		}
		return text, notes, err
	}
	mod := without(begins(modMark))
	if p.Beckon != "" {
		text, err := p.module()
		if err != nil {
			return nil, err
		}
		mod = p.whole(text, begins(modMark))
	}
	return []FileEdit{
		p.file("", manifestFile, p.whole(p.manifest(), named)),
		p.file("", ".claude-plugin/marketplace.json", p.whole(p.marketplace(), named)),
		p.file("", hooksFile, hooks),
		p.file("", modFile, mod),
		p.file("", "README.md", p.whole(p.readme(), begins(readmeTitle))),
	}, nil
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
	p.Spec.plugin = true
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

// whole returns the operation that makes a file that text. It refuses another's file, unless Force
// is set.
func (p Plugin) whole(text []byte, ours func([]byte) bool) Op {
	may := func(old []byte) bool { return p.Force || ours(old) }
	return whole(
		p.Spec.check,
		func([]byte) []byte { return text },
		may,
		"choose another directory, or --force to replace it",
	)
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
	case member(&d.file, "modules") != nil:
		return nil, problemAt(text, d.file.StartOffset, "modules", "names a module already",
			"a plugin has one: choose another directory")
	}
	return slices.Concat(head, []byte(modules), rest), nil
}

const (
	pluginAbout = "Tells which of your coding-agent sessions needs you: runs beckon-hook at every event."
	marketAbout = "The plugin form of beckon, from one directory."
)

// author is who made a plugin or owns a marketplace.
type author struct {
	Name string `json:"name"`
}

func (p Plugin) manifest() []byte {
	version := regexp.MustCompile(`^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$`).FindStringSubmatch(p.Version)
	return pretty(struct {
		Name        string `json:"name"`
		Version     string `json:"version,omitempty"`
		Description string `json:"description"`
		Author      author `json:"author"`
		License     string `json:"license"`
	}{PluginName, strings.Join(version[min(1, len(version)):], ""), pluginAbout, author{PluginName}, "MIT"})
}

func (p Plugin) marketplace() []byte {
	type plugin struct {
		Name        string `json:"name"`
		Source      string `json:"source"`
		Description string `json:"description"`
	}
	return pretty(struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Owner       author   `json:"owner"`
		Plugins     []plugin `json:"plugins"`
	}{PluginName, marketAbout, author{PluginName}, []plugin{{PluginName, "./", pluginAbout}}})
}

func (p Plugin) readme() []byte {
	var b bytes.Buffer
	_ = template.Must(template.New("README.md").Parse(readmeText)).Execute(&b, p) // into memory
	return b.Bytes()
}
