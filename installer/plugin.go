package installer

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// PluginName is the name of the plugin, and of the marketplace that its directory
// is at the same time: the client lists it as beckon@beckon.
const PluginName = "beckon"

// Plugin is what a plugin of Claude Code shall hold: the hooks of Spec. A plugin cannot be a
// status line.
type Plugin struct {
	Dir     string
	Spec    Spec
	Version string // of this program; what is not of the form 1.2.3 is left out
	Beckon  string // absolute path of beckon, for the mod; empty for a plugin without one
	Force   bool   // files that are there and not ours are replaced
}

// PluginFile is a file of a plugin: its current and its desired content.
type PluginFile struct {
	Name     string // below the plugin's directory, with slashes
	Old, New []byte // Old is nil when the file is missing, New when it is to go

	was snapshot
}

// Noop reports whether the file has its desired content.
func (f PluginFile) Noop() bool {
	return (f.Old == nil) == (f.New == nil) && string(f.Old) == string(f.New)
}

// Plan gives the plugin's files, in the order to write them. hooks/hooks.json is edited
// as settings are: other hooks in it keep their bytes. Other files of the plugin's that
// are there and were not made by this program are refused, unless Force is set.
//
// Entries name the program by its own path, not by one below the plugin: the client
// copies a plugin when it installs it, and the copy does not follow an upgrade.
func (p Plugin) Plan() ([]PluginFile, error) {
	p.Spec.plugin = true
	return p.plan(pluginParts)
}

func (p Plugin) plan(parts []pluginPart) ([]PluginFile, error) {
	var files []PluginFile
	for _, part := range parts {
		f := PluginFile{Name: part.name}
		path := filepath.Join(p.Dir, filepath.FromSlash(part.name))
		var err error
		if f.was, err = readSettings(path); err != nil {
			return nil, err
		}
		f.Old = f.was.data
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

// Write writes the files that differ, each whole, and makes the directories.
func (p Plugin) Write(files []PluginFile) error {
	for _, f := range files {
		if f.Noop() {
			continue
		}
		if f.New == nil {
			if err := os.Remove(f.was.file); err != nil {
				return &fileError{"removing", f.was.file, cause(err), ""}
			}
			continue
		}
		dir := filepath.Dir(f.was.file)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return &fileError{"making the directory", dir, cause(err), ""}
		}
		mode := os.FileMode(0o600)
		if f.was.info != nil {
			mode = f.was.info.Mode().Perm()
		}
		if err := writeFile(f.was.file, f.New, mode, f.was.info, proceed); err != nil {
			return err
		}
	}
	return nil
}

// pluginPart is how one file of a plugin is made and recognized.
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

func pluginManifest(p Plugin, _ []byte) ([]byte, error) {
	o := object{{"name", PluginName}}
	if m := releaseVersion().FindStringSubmatch(p.Version); m != nil {
		o = append(o, member{"version", m[1]})
	}
	o = append(o, member{"description", pluginAbout}, member{"author", object{{"name", PluginName}}}, member{"license", "MIT"})
	return pretty(o), nil
}

func marketplace(Plugin, []byte) ([]byte, error) {
	return pretty(object{
		{"name", PluginName}, {"description", marketAbout}, {"owner", object{{"name", PluginName}}},
		{"plugins", array{object{{"name", PluginName}, {"source", "./"}, {"description", pluginAbout}}}},
	}), nil
}

func pluginHooks(p Plugin, old []byte) ([]byte, error) {
	text, err := Edit(old, p.Spec)
	if err != nil {
		return nil, err
	}
	mark, text := cutBOM(text)
	text, err = withModules(text, p.Beckon != "")
	return append(append([]byte{}, mark...), text...), err
}

// pluginMod is the mod's file, none in a plugin without a mod.
func pluginMod(p Plugin, old []byte) ([]byte, error) {
	if p.Beckon == "" {
		return nil, nil
	}
	return modModule(p, old)
}

// pretty writes a file of ours.
func pretty(o object) []byte {
	return append(layout{newline: "\n", unit: "  ", spaced: true}.lines(o, ""), '\n')
}

const modAbout = `
With it comes a mod, hooks/register.js, which the client runs in its own process: it tells
` + "`beckon-hook`" + ` of turns that end without a hook (Esc, a refusal), shows above the prompt which
other session needs you, and adds the command /beckon. It sends nothing of what is said anywhere.
`

const readmeTitle = "# beckon, as a plugin of Claude Code\n"

func pluginReadme(p Plugin, _ []byte) ([]byte, error) {
	mod := ""
	if p.Beckon != "" {
		mod = modAbout
	}
	return []byte(readmeTitle + `
At every event of a session this plugin runs ` + "`beckon-hook`" + `, which notes what happened in
beckon's state directory and exits. ` + "`beckon list`" + ` then tells which of your sessions needs
you. The plugin holds hooks alone: no commands, no agents, no server, and no status line
(a plugin cannot set one; ` + "`beckon install --statusline`" + ` can). The programs themselves are not
in it: its hooks name the place where beckon was installed when this directory was made.
` + mod + `
For one session:

    claude --plugin-dir THIS-DIRECTORY

For good:

    claude plugin marketplace add THIS-DIRECTORY
    claude plugin install beckon@beckon

To take it away again:

    claude plugin uninstall beckon@beckon
    claude plugin marketplace remove beckon

and delete this directory. In ~/.claude/skills/beckon it is loaded without being installed,
and to delete it is all.

After an upgrade of beckon or of Claude Code make it anew with ` + "`beckon plugin THIS-DIRECTORY`" + `; older
clients go on with their copy until the plugin is uninstalled and installed again. Do not
use it beside ` + "`beckon install`" + `: every event would be noted once, as it should, but paid for
twice. ` + "`beckon doctor`" + ` tells when both are there.
`), nil
}
