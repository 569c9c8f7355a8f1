package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup/steps"
	"beckon/event"
	"beckon/event/agents"
	"beckon/installer"
)

// hookFile is a file that can have the hooks.
type hookFile struct {
	name         string // of its step
	title        string // what its step does
	target       installer.Target
	spec         installer.Spec // what it has with the hooks
	agent        *agents.Agent  // whose file it is; nil for Claude Code
	on           bool           // it has the hooks
	note         func() error   // records an edit
	off          func() error   // also done when the hooks go
	absent, then string         // as in steps.Step
}

// operation returns what puts the hooks into the file, or takes them out.
func (f *hookFile) operation(on bool) installer.Op {
	if on {
		return installer.Install(f.spec)
	}
	return installer.Uninstall()
}

// step returns the step of the file.
func (f *hookFile) step() steps.Step {
	return steps.Step{
		Name: f.name, Title: f.title, On: f.on, Old: f.on &&
			differs(f.target, f.operation(true)), Want: true, Absent: f.absent, Then: f.then,
		Diff: func(on bool) (string, error) {
			c, err := installer.Plan(f.target, f.operation(on))
			return c.Diff(), err
		},
		Do: func(on bool) error {
			err := f.apply(f.operation(on))
			if err == nil && !on && f.off != nil {
				err = f.off()
			}
			return err
		},
	}
}

func (f *hookFile) apply(op installer.Op) error {
	_, err := installer.Apply(context.Background(), f.target, op)
	if f.note != nil {
		err = errors.Join(err, f.note())
	}
	return err
}

// differs reports whether an operation would change a file.
func differs(t installer.Target, op installer.Op) bool {
	c, err := installer.Plan(t, op)
	return err == nil && !c.Noop()
}

// keepDir returns the directory of old bytes and records of edits, which nothing prunes.
func keepDir(a *cli.App) string { return filepath.Join(a.Store.Dir, "install") }

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
	if err != nil {
		return installer.Target{}, err
	}
	return SettingsIn(a, scope, dir)
}

// SettingsIn returns the settings file of a scope for a session that works in dir.
func SettingsIn(a *cli.App, scope installer.Scope, dir string) (installer.Target, error) {
	config, err := filepath.Abs(a.ClaudeDir())
	if err != nil {
		return installer.Target{}, err
	}
	return installer.Dirs{Config: config, Project: cli.ProjectRoot(dir), Keep: keepDir(a)}.Target(scope)
}

// specFor returns what the settings have with the hook program for a client.
func specFor(program string, client installer.Client, set installer.Set) installer.Spec {
	return installer.Spec{
		Command: program, Shell: client.Version.NeedsShell(), Events: installer.Events(client.Version, set),
		Client: client.Version, Set: set,
	}
}

// setOf returns the set that the events of a file were chosen from.
func setOf(f installer.File, client installer.Client) installer.Set {
	core := installer.Events(client.Version, installer.CoreEvents)
	all := installer.Events(client.Version, installer.AllEvents)
	for _, e := range f.Entries {
		if slices.Contains(all, e.Event) && !slices.Contains(core, e.Event) {
			return installer.AllEvents
		}
	}
	return installer.CoreEvents
}

func inspect(t installer.Target) installer.Report {
	return installer.Inspect(installer.Inspection{Targets: []installer.Target{t}})
}

// Installed reports whether any of the user's settings or plugins of Claude Code has the hooks; a
// settings file that cannot be read counts as having them.
func Installed(a *cli.App) bool {
	if _, installed := installer.ChosenFor(keepDir(a)); installed {
		return true
	}
	if hooked(installer.Inspection{Targets: AllSettings(a)}) {
		return true
	}
	ctx := context.Background() // the client takes a while to list its plugins
	return hooked(installer.Inspection{Plugins: installer.FindClient(ctx, a.ClaudeDir()).PluginDirs(ctx)})
}

func hooked(in installer.Inspection) bool {
	r := installer.Inspect(in)
	return r.Installed() || slices.ContainsFunc(r.Files, func(f installer.File) bool { return f.Err != nil })
}

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
		case inspect(t).Installed():
			rest = append(rest, path)
		}
	}
	return others, rest
}

// isAccount reports whether Claude Code has kept its own state in dir, besides settings.
func isAccount(dir string) bool {
	return slices.ContainsFunc([]string{".claude.json", "projects", "sessions", ".credentials.json"},
		func(name string) bool {
			return exists(filepath.Join(dir, name))
		})
}

func samePath(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// accountFiles returns the files of the other accounts. spec is that of Claude Code's own.
func accountFiles(a *cli.App, spec installer.Spec) (list []hookFile) {
	others, _ := Accounts(a)
	for _, t := range others {
		dir := filepath.Dir(t.Path)
		list = append(list, hookFile{
			name: strings.TrimPrefix(filepath.Base(dir), "."), title: "follow the account of Claude Code in " + shortPath(dir),
			target: t, spec: spec, on: inspect(t).Installed(), note: func() error { return noteChosenFor(a) },
		})
	}
	return list
}

// shortPath returns a path with ~ for the home directory.
func shortPath(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); err == nil && ok {
		return filepath.Join("~", rest)
	}
	return path
}

// Registered returns the agents other than Claude Code whose hooks beckon registers.
func Registered() (all []*agents.Agent) {
	for _, ag := range event.Agents() {
		if ag.Install.File != "" {
			all = append(all, ag)
		}
	}
	return all
}

// AgentTarget returns the file of an agent's hooks.
func AgentTarget(a *cli.App, ag *agents.Agent) (installer.Target, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return installer.Target{}, err
	}
	return installer.AgentTarget(ag, home, keepDir(a), a.Getenv)
}

// There reports whether an agent is on this machine: its program, or its own directory.
func There(a *cli.App, ag *agents.Agent) bool {
	if cli.Found(ag.Install.Program) {
		return true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	dir, err := installer.AgentDir(ag, home, a.Getenv)
	if err != nil {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// AnyAgent reports whether any agent but Claude Code has the hooks.
func AnyAgent(a *cli.App) bool {
	return slices.ContainsFunc(agentFiles(a, "/beckon-hook"), func(f hookFile) bool { return f.on })
}

// agentFiles returns the files of the agents other than Claude Code. An agent that is not on this
// machine and has no hooks says so.
func agentFiles(a *cli.App, program string) (list []hookFile) {
	for _, ag := range Registered() {
		t, err := AgentTarget(a, ag)
		if err != nil {
			continue
		}
		f := hookFile{
			name: ag.Name, title: "follow " + ag.Install.Title + "'s sessions", target: t,
			spec: installer.AgentSpec(ag, program), agent: ag, then: ag.Install.Then,
		}
		f.spec.Answers = installer.AgentHolds(t)
		f.on = len(installer.InspectAgent(t, f.spec).Entries) > 0
		if !f.on && !There(a, ag) {
			f.absent = "it is not on this machine; beckon setup --agent " + ag.Name + " follows it all the same"
		}
		list = append(list, f)
	}
	return list
}

// chosenAgents returns which of Claude Code and the others --agent names.
func chosenAgents(names []string) (list []string, claude bool, err error) {
	known := []string{"all", event.ClaudeCode}
	for _, ag := range Registered() {
		known = append(known, ag.Name)
	}
	for _, name := range names {
		ag := event.AgentOf(name)
		switch {
		case name == "all":
			list, claude = append(list, known[2:]...), true
		case ag != nil && ag.Name == event.ClaudeCode:
			claude = true
		case ag == nil || ag.Install.File == "":
			return nil, false, cli.Usage("--agent %q: not one of %s", name, strings.Join(known, ", "))
		default:
			list = append(list, ag.Name)
		}
	}
	return list, claude, nil
}

// titles names the agents of files.
func titles(files []hookFile) string {
	var names []string
	for _, f := range files {
		names = append(names, f.agent.Install.Title)
	}
	return strings.Join(names, ", ")
}

// edit applies one operation, or prints what it would change.
func edit(a *cli.App, t installer.Target, op installer.Op, dryRun bool) (installer.Change, error) {
	if !dryRun {
		return installer.Apply(context.Background(), t, op)
	}
	change, err := installer.Plan(t, op)
	if err == nil {
		fmt.Fprint(a.Stdout, change.Diff())
	}
	return change, err
}
