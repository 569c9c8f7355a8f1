package installer

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
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
// is edited like settings: other hooks in it keep their bytes. Other existing files that this
// program did not write are refused, unless Force is set.
//
// Entries name the program by its own path, not by one below the plugin: the client copies a
// plugin when it installs it, and the copy does not follow an upgrade.
func (p Plugin) Plan() ([]Change, error) {
	p.Spec.plugin = true
	return p.plan(pluginParts)
}

func (p Plugin) plan(parts []pluginPart) ([]Change, error) {
	var files []Change
	for _, part := range parts {
		path := filepath.Join(p.Dir, filepath.FromSlash(part.name))
		was, err := readSettings(path)
		if err != nil {
			return nil, err
		}
		f := Change{Target: Target{Path: path}, File: was.file, Old: was.data, was: was}
		if part.name == modFile && p.Beckon == "" && !modOurs(f.Old) {
			continue // nothing of ours, and nothing to write
		}
		if f.Old != nil && !p.Force && !part.ours(f.Old) {
			return nil, &fileError{"writing", path, errors.New("is there already, and not beckon's"), "choose another directory, or --force to replace it"}
		}
		if f.New, err = part.make(p, f.Old); err != nil {
			return nil, inFile(err, path)
		}
		files = append(files, f)
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

// pluginPart says how one file of a plugin is made and recognized.
type pluginPart struct {
	name string
	make func(p Plugin, old []byte) ([]byte, error)
	ours func(old []byte) bool
}

var pluginParts = []pluginPart{
	{".claude-plugin/plugin.json", pluginManifest, named},
	{".claude-plugin/marketplace.json", marketplace, named},
	{"hooks/hooks.json", pluginHooks, func([]byte) bool { return true }}, // it is edited, not replaced
	{modFile, pluginMod, modOurs},
	{"README.md", pluginReadme, func(old []byte) bool { return strings.HasPrefix(string(old), readmeTitle) }},
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

func pluginManifest(p Plugin, _ []byte) ([]byte, error) {
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
	return pretty(m), nil
}

func marketplace(Plugin, []byte) ([]byte, error) {
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
	}{PluginName, marketAbout, author{PluginName}, []plugin{{PluginName, "./", pluginAbout}}}), nil
}

func pluginHooks(p Plugin, old []byte) ([]byte, error) {
	text, _, err := Edit(old, p.Spec)
	if err != nil {
		return nil, err
	}
	mark, text := cutBOM(text)
	text, err = withModules(text, p.Beckon != "")
	return append(append([]byte{}, mark...), text...), err
}

// pluginMod returns the mod's file, nil in a plugin without a mod.
func pluginMod(p Plugin, old []byte) ([]byte, error) {
	if p.Beckon == "" {
		return nil, nil
	}
	return modModule(p, old)
}

const readmeTitle = "# beckon, as a plugin of Claude Code\n"

//go:embed plugin/README.md.tmpl
var readmeText string

func pluginReadme(p Plugin, _ []byte) ([]byte, error) {
	var b bytes.Buffer
	err := template.Must(template.New("README.md").Parse(readmeText)).Execute(&b, p)
	return b.Bytes(), err
}
