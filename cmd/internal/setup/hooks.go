package setup

import (
	"cmp"
	"errors"
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

// claudeSteps returns the steps that edit Claude Code's settings, the hooks first.
func (m *machine) claudeSteps() ([]step, error) {
	target, err := Settings(m.App, m.scope)
	if err != nil {
		return nil, err
	}
	file := installer.InspectFile(target)
	installed := len(file.Entries) > 0
	spec := m.spec(file)
	if m.problem != nil && installed {
		spec.Command = file.Entries[0].Program // entries that stay keep theirs
	}
	hooks := m.hookStep("hooks", "follow Claude Code's sessions", target, spec, installed)
	hooks.Then = "sessions that run already load the hooks within seconds"

	statusline := step{Name: "statusline", Title: "name those that need you in Claude Code's status line",
		On: file.Status != "", Needs: "hooks", Want: true,
		Parts: []installer.Part{target.StatusLine(m.hook)}}.outdated()
	answers := step{Name: "answers", Title: "answer what sessions ask from here or a phone",
		On: slices.ContainsFunc(file.Entries, installer.Entry.Answers), Needs: "hooks", Want: true,
		Then: "the dialog in the session stays, and the first answer wins; beckon help answers"}
	answers.Parts = []installer.Part{target.Answers(spec)}
	for _, other := range m.agents() {
		if other.On && other.Agent.Holds() && m.scope == installer.User && m.problem == nil {
			answers.Parts = append(answers.Parts, other.Parts[0].Answers(installer.AgentSpec(other.Agent, m.hook)))
		}
	}
	if err := m.InAgent("choosing answers"); err != nil && !answers.On {
		answers.Absent = err.Error()
	}
	list := []step{hooks, statusline, answers}
	if m.scope != installer.User {
		return list, nil
	}
	list = append(list, m.modStep(spec))
	others, _ := Accounts(m.App)
	for _, t := range others {
		dir := filepath.Dir(t.Path)
		list = append(list, m.hookStep(strings.TrimPrefix(filepath.Base(dir), "."),
			"follow the account of Claude Code in "+term.Tilde(dir, home.Dir(m.Getenv)), t, spec, hooked(t)))
	}
	return list, nil
}

// spec returns what settings of Claude Code have with the hooks, by default with the events of the set
// that the file's were chosen from.
func (m *machine) spec(f installer.File) installer.Spec {
	v, set := m.client.Version, m.events
	if set == "" && slices.ContainsFunc(f.Entries, func(e installer.Entry) bool {
		k, _ := event.Lookup(event.Kind(e.Event))
		return k.Register == event.All
	}) {
		set = installer.AllEvents
	}
	set = cmp.Or(set, installer.CoreEvents)
	return installer.Spec{Command: m.hook, Events: installer.Events(v, set), Client: v, KeepAnswers: true}
}

// Current reports whether the entries in a file are those that setup writes, whichever program they run.
func Current(a *cli.App, c installer.Client, f installer.File) bool {
	m := &machine{App: a, client: c, hook: f.Entries[0].Program}
	change, err := m.own(f.Path).Hooks(m.spec(f)).Plan(true)
	return err == nil && change.Noop()
}

// hookStep returns the step that puts hooks into a file.
func (m *machine) hookStep(name, title string, t installer.Target, spec installer.Spec, on bool) step {
	return step{Name: name, Title: title, On: on, Want: true, Parts: []installer.Part{t.Hooks(spec)}}.outdated()
}

// modStep puts the mod where sessions load it from.
func (m *machine) modStep(spec installer.Spec) step {
	mod := Mod(m.App)
	s := step{Name: "mod", Title: "report Esc, and show others, inside the client", On: mod.Alone(), Needs: "hooks",
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
		mod.Beckon, err = lasting(m.App, m.beckon)
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
	dir := filepath.Join(a.ClaudeDir(), "skills", installer.PluginName)
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return installer.Mod{Dir: dir, Version: cli.Version()}
}

// AgentStep is the step of an agent other than Claude Code.
type AgentStep struct {
	step
	Agent *agents.Agent
}

// Agents returns the steps of the agents other than Claude Code.
func Agents(a *cli.App) []AgentStep {
	m := &machine{App: a}
	m.hook, m.problem = HookProgram(a)
	return m.agents()
}

// agents returns the steps of the agents other than Claude Code. An agent that is not on this machine
// and has no hooks says so.
func (m *machine) agents() (list []AgentStep) {
	dir, err := os.UserHomeDir()
	for _, ag := range registered() {
		t, e := installer.AgentTarget(ag, dir, keepDir(m.App), m.Getenv)
		if err != nil || e != nil {
			continue
		}
		on := hooked(t)
		s := m.hookStep(ag.Name, "follow "+ag.Install.Title+"'s sessions", t, installer.AgentSpec(ag, m.hook), on)
		s.Then = ag.Install.Then
		here := cli.Found(ag.Install.Program) || plainfile.Exists(ag.Dir(dir, m.Getenv))
		if !on && !here && !slices.Contains(m.agentNames, ag.Name) {
			s.Absent = "it is not on this machine; beckon setup --agent " + ag.Name + " follows it all the same"
		}
		list = append(list, AgentStep{s, ag})
	}
	return list
}

// AnyAgent reports whether any agent but Claude Code has the hooks.
func AnyAgent(a *cli.App) bool {
	return slices.ContainsFunc(Agents(a), func(s AgentStep) bool { return s.On })
}

// registered returns the agents other than Claude Code whose hooks beckon registers.
func registered() (all []*agents.Agent) {
	for _, ag := range event.Agents() {
		if ag.Install.File != "" {
			all = append(all, ag)
		}
	}
	return all
}

// AllSettings returns Claude Code's settings files of all scopes that exist here.
func AllSettings(a *cli.App) (list []installer.Target) {
	for _, scope := range []installer.Scope{installer.User, installer.Project, installer.Local} {
		if t, err := Settings(a, scope); err == nil {
			list = append(list, t)
		}
	}
	return list
}

// Settings returns the settings file of a scope; a project's is that of the working directory.
func Settings(a *cli.App, scope installer.Scope) (installer.Target, error) {
	dir, err := os.Getwd()
	config, e := filepath.Abs(a.ClaudeDir())
	return installer.Settings(scope, config, cli.ProjectRoot(dir), keepDir(a)), errors.Join(err, e)
}

// Installed reports whether any of the user's settings or plugins of Claude Code has the hooks; a
// settings file that cannot be read counts as having them.
func Installed(a *cli.App) bool {
	has := func(f installer.File) bool { return len(f.Entries) > 0 || f.Err != nil }
	inFile := func(t installer.Target) bool { return has(installer.InspectFile(t)) }
	if len(installer.Recorded(keepDir(a))) > 0 || slices.ContainsFunc(AllSettings(a), inFile) {
		return true
	}
	plugins := installer.FindClient(a.ClaudeDir()).PluginDirs() // the client takes a while
	return slices.ContainsFunc(plugins, func(dir string) bool { return has(installer.InspectPlugin(dir)) })
}

func hooked(t installer.Target) bool { return len(installer.InspectFile(t).Entries) > 0 }

// Accounts returns the settings files of Claude Code's other accounts on this machine, each with
// a directory of its own that CLAUDE_CONFIG_DIR names: those in ~/.claude-*, and wherever the
// hooks have been. rest are other settings files that have the hooks, as a project's.
func Accounts(a *cli.App) (others []installer.Target, rest []string) {
	paths := installer.Recorded(keepDir(a))
	if home, err := os.UserHomeDir(); err == nil {
		for _, name := range []string{"settings.json", ".claude.json"} {
			list, _ := filepath.Glob(filepath.Join(home, ".claude*", name))
			for _, path := range list {
				paths = append(paths, filepath.Join(filepath.Dir(path), "settings.json"))
			}
		}
	}
	slices.Sort(paths)
	own, _ := Settings(a, installer.User)
	for _, path := range slices.Compact(paths) {
		t := installer.Target{Scope: installer.User, Path: path, Keep: keepDir(a)}
		switch {
		case path == own.Path || samePath(path, own.Path):
		case isAccount(filepath.Dir(path)):
			others = append(others, t)
		case hooked(t):
			rest = append(rest, path)
		}
	}
	return others, rest
}

// isAccount reports whether Claude Code has kept its own state in dir, besides settings.
func isAccount(dir string) bool {
	return slices.ContainsFunc([]string{".claude.json", "projects", "sessions", ".credentials.json"},
		func(name string) bool { return plainfile.Exists(filepath.Join(dir, name)) })
}

func samePath(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
