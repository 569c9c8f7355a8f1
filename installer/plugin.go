package installer

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"path/filepath"
	"text/template"
)

// PluginName is the name of the plugin, and of the marketplace that its directory
// is at the same time: the client lists it as beckon@beckon.
const PluginName = "beckon"

// Plugin says what a plugin of Claude Code must contain: the hooks of Spec. A plugin cannot
// provide a status line.
type Plugin struct {
	Dir     string
	Spec    Spec
	Version string // of this program; left out unless of the form 1.2.3
	Beckon  string // absolute path of beckon, for the mod; empty without a mod
	Force   bool   // replace existing files that are not ours
}

// Plan returns the changes to the plugin's files, in the order to write them. hooks/hooks.json
// is edited like settings: other hooks in it stay. Other existing files that this program did not
// write are refused, unless Force is set.
//
// Entries name the program by its own path, not by one below the plugin: the client copies a
// plugin when it installs it, and the copy does not follow an upgrade.
func (p Plugin) Plan() ([]Change, error) {
	p.Spec.plugin = true
	hooks := Install(p.Spec)
	hooks.edit = func(old []byte) ([]byte, []string, error) {
		text, notes, err := Edit(old, p.Spec)
		if err == nil {
			text, err = withModules(text, p.Beckon != "")
		}
		return text, notes, err
	}
	mod := part{modFile, without(modOurs)}
	if p.Beckon != "" {
		text, err := p.module()
		if err != nil {
			return nil, err
		}
		mod = p.file(modFile, text, modOurs)
	}
	isReadme := func(old []byte) bool { return bytes.HasPrefix(old, []byte(readmeTitle)) }
	return p.plan("", []part{
		p.file(".claude-plugin/plugin.json", p.manifest(), named),
		p.file(".claude-plugin/marketplace.json", p.marketplace(), named),
		{hooksFile, hooks},
		mod,
		p.file("README.md", p.readme(), isReadme),
	})
}

// part is one file of a plugin.
type part struct {
	name string // below Dir, with slashes
	op   Op
}

// plan returns the changes to the parts. With a keep directory, TakeMod can give back what was
// there before.
func (p Plugin) plan(keep string, parts []part) (files []Change, err error) {
	for _, part := range parts {
		c, err := Plan(Target{Scope: User, Path: filepath.Join(p.Dir, filepath.FromSlash(part.name)), Keep: keep}, part.op)
		if err != nil {
			return nil, err
		}
		files = append(files, c)
	}
	return files, nil
}

// Write writes the files that differ, each as a whole, and creates the directories.
func (p Plugin) Write(files []Change) error {
	for _, f := range files {
		if err := f.commit(); err != nil {
			return err
		}
	}
	return nil
}

// file returns the part with that text. It refuses another's file, unless Force is set.
func (p Plugin) file(name string, text []byte, ours func([]byte) bool) part {
	may := func(old []byte) bool { return p.Force || ours(old) }
	op := whole(p.Spec.check, func() []byte { return text }, may, "choose another directory, or --force to replace it")
	return part{name, op}
}

// named reports whether a manifest belongs to a plugin or marketplace of our name.
func named(old []byte) bool {
	var m struct {
		Name string `json:"name"`
	}
	return json.Unmarshal(old, &m) == nil && m.Name == PluginName
}

const (
	pluginAbout = "Tells which of your coding-agent sessions needs you: runs beckon-hook at every event."
	marketAbout = "The plugin form of beckon, from one directory."
)

var releaseVersion = lazily(`^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$`)

// author is who made a plugin or owns a marketplace.
type author struct {
	Name string `json:"name"`
}

func (p Plugin) manifest() []byte {
	m := struct {
		Name        string `json:"name"`
		Version     string `json:"version,omitempty"`
		Description string `json:"description"`
		Author      author `json:"author"`
		License     string `json:"license"`
	}{PluginName, "", pluginAbout, author{PluginName}, "MIT"}
	if found := releaseVersion().FindStringSubmatch(p.Version); found != nil {
		m.Version = found[1]
	}
	return pretty(m)
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

const readmeTitle = "# beckon, as a plugin of Claude Code\n"

//go:embed plugin/README.md.tmpl
var readmeText string

func (p Plugin) readme() []byte {
	var b bytes.Buffer
	_ = template.Must(template.New("README.md").Parse(readmeText)).Execute(&b, p) // into memory
	return b.Bytes()
}
