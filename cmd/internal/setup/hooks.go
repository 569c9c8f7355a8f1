package setup

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/agents"
	"beckon/event/home"
	"beckon/event/plainfile"
	"beckon/installer"
	"beckon/render/term"
)

// hookStep returns the step that puts an agent's hooks into a file; nil is Claude Code.
func (m *machine) hookStep(name, title string, t installer.Target, ag *agents.Agent) Step {
	s := Step{Name: name, Title: title, Want: true, Agent: ag, File: installer.InspectFile(t)}
	s.On = len(s.File.Entries) > 0
	program := m.hook
	if m.keep && s.On {
		program = s.File.Entries[0].Program
	}
	if ag != nil {
		s.spec = installer.AgentSpec(ag, program)
	} else {
		events := installer.Events(m.client.Version, m.set(s.File))
		s.spec = installer.Spec{Command: program, Events: events, Client: m.client.Version, KeepAnswers: true}
	}
	s.Parts = []installer.Part{t.Hooks(s.spec)}
	return s.outdated()
}

// set returns which events are registered, by default those that the file's were chosen from.
func (m *machine) set(f installer.File) installer.Set {
	if m.Events == "" && slices.ContainsFunc(f.Entries, func(e installer.Entry) bool {
		k, _ := event.Lookup(event.Kind(e.Event))
		return k.Register == event.All
	}) {
		return installer.AllEvents
	}
	return cmp.Or(m.Events, installer.CoreEvents)
}

// Hooks returns the steps that put hooks into the user's own settings, first those of Claude Code. Entries
// that are there keep their program. rest are other settings files that have the hooks, as a project's.
func Hooks(a *cli.App, c installer.Client) (all []Step, rest []string) {
	m := &machine{App: a, client: c, keep: true}
	others, rest := m.accounts()
	return slices.Concat([]Step{m.hookStep("hooks", "", Settings(a, installer.User), nil)}, others, m.agents()), rest
}

// accounts returns the steps of Claude Code's other accounts on this machine, each with a directory of its
// own that CLAUDE_CONFIG_DIR names: those in ~/.claude-*, and wherever the hooks have been. rest are other
// settings files that have the hooks, as a project's.
func (m *machine) accounts() (others []Step, rest []string) {
	paths, user := installer.Recorded(keepDir(m.App)), home.Dir(m.Getenv)
	for _, name := range []string{"settings.json", ".claude.json"} {
		list, _ := filepath.Glob(filepath.Join(user, ".claude*", name))
		for _, path := range list {
			if user == "" { // not those of the working directory
				break
			}
			paths = append(paths, filepath.Join(filepath.Dir(path), "settings.json"))
		}
	}
	slices.Sort(paths)
	own := installer.InspectFile(Settings(m.App, installer.User))
	for _, path := range slices.Compact(paths) {
		dir := filepath.Dir(path)
		s := m.hookStep(strings.TrimPrefix(filepath.Base(dir), "."),
			"follow the account of Claude Code in "+term.Tilde(dir, user), m.own(path), nil)
		switch {
		case s.File.Real == own.Real:
		case isAccount(dir):
			others = append(others, s)
		case s.On:
			rest = append(rest, path)
		}
	}
	return others, rest
}

// modStep puts the mod where sessions load it from.
func (m *machine) modStep(spec installer.Spec) Step {
	mod := Mod(m.App)
	s := Step{Name: "mod", Title: "report Esc, and show others, inside the client", On: mod.Alone(), Needs: "hooks",
		Then: "sessions that begin from now on load it; beckon help mod"}
	var err error
	switch v := m.client.Version; {
	case !v.Known():
		err = cli.Hint("put claude on your PATH",
			"a mod runs inside Claude Code, and there is no client to ask for its version")
	case !v.RunsMods():
		err = cli.Hint("update Claude Code", "Claude Code %s runs no mods: that begins with %s", v, installer.ModSince)
	default:
		mod.Hook = spec.Command
		mod.Beckon, err = installer.StablePath(m.beckon, m.Getenv("HOME"))
	}
	if absent := cmp.Or(err, m.InAgent("choosing the mod")); absent != nil && !s.On {
		s.Absent = absent.Error()
	}
	s.Parts = mod.Parts(keepDir(m.App))
	if err != nil {
		return s
	}
	return s.outdated()
}

// Mod returns the mod in the directory that setup puts it into.
func Mod(a *cli.App) installer.Mod {
	dir := filepath.Dir(Settings(a, installer.User).Path)
	return installer.Mod{Dir: filepath.Join(dir, "skills", installer.PluginName), Version: cli.Version()}
}

// agents returns the steps of the agents other than Claude Code. An agent that is not on this machine
// and has no hooks says so.
func (m *machine) agents() (list []Step) {
	dir := home.Dir(m.Getenv)
	for _, ag := range registered() {
		t, err := installer.AgentTarget(ag, dir, keepDir(m.App), m.Getenv)
		if dir == "" || err != nil {
			continue
		}
		s := m.hookStep(ag.Name, "follow "+ag.Install.Title+"'s sessions", t, ag)
		s.Then = ag.Install.Then
		here := cli.Found(ag.Install.Program) || plainfile.Exists(ag.Dir(dir, m.Getenv))
		if !s.On && !here && !slices.Contains(m.agentNames, ag.Name) {
			s.Absent = "it is not on this machine; beckon setup --agent " + ag.Name + " follows it all the same"
		}
		list = append(list, s)
	}
	return list
}

// registered returns the agents other than Claude Code whose hooks beckon registers.
func registered() []*agents.Agent {
	return slices.DeleteFunc(slices.Clone(event.Agents()), func(ag *agents.Agent) bool { return ag.Install.File == "" })
}

// Settings returns the settings file of a scope; a project's is that of the working directory.
func Settings(a *cli.App, scope installer.Scope) installer.Target {
	dir, _ := os.Getwd() // without one there is no project
	config, _ := filepath.Abs(a.ClaudeDir())
	return installer.Settings(scope, config, cli.ProjectRoot(dir), keepDir(a))
}

// isAccount reports whether Claude Code has kept its own state in dir, besides settings.
func isAccount(dir string) bool {
	return slices.ContainsFunc([]string{".claude.json", "projects", "sessions", ".credentials.json"},
		func(name string) bool { return plainfile.Exists(filepath.Join(dir, name)) })
}
