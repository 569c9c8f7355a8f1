// Package setup is `beckon setup`, and the older `install`, `uninstall` and `plugin`, which do parts
// of it: what changes files of the user's, and takes that back.
package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/home"
	"beckon/installer"
	"beckon/state/request"
	"beckon/state/request/pin"
)

// Cmd is `beckon setup`.
type Cmd struct {
	Step   []string `arg:"" optional:"" help:"Only these steps, by the names that setup shows: path, hooks, codex, statusline, answers and more."`
	Yes    bool     `help:"Do what is proposed, or the named steps, without asking."`
	Undo   bool     `help:"Undo the named steps, or all."`
	DryRun bool     `help:"Print what would change as a diff, and change nothing."`
	Agent  []string `help:"Only the hooks of these agents: claude-code, codex, opencode, gemini, copilot, qwen, or all." placeholder:"AGENT"`
	Scope  string   `placeholder:"SCOPE" enum:"user,project,local" default:"user" help:"Claude Code's settings file to edit: user, project or local (of the project here)."`
}

// InstallCmd is `beckon install`: the steps of setup that put hooks into files, by flags.
type InstallCmd struct {
	Agent   []string `help:"Which agents: claude-code, codex, opencode, gemini, copilot, qwen, or all (default: claude-code)." placeholder:"NAME"`
	Scope   string   `enum:"user,project,local" default:"user" help:"Which settings file: user, project or local."`
	Events  string   `enum:"core,all" default:"core" help:"Events to register: core (enough to track state) or all."`
	Hook    string   `help:"The beckon-hook program to run (default: the one beside this program)." placeholder:"PATH"`
	Notify  []string `enum:"terminal,desktop,command,sound,title,ntfy" help:"Channels that notify you when a session needs you: terminal, desktop, command, sound, title, ntfy." placeholder:"CHANNEL"`
	Status  bool     `name:"statusline" help:"Also install the status line; an existing one keeps running."`
	Answers *bool    `negatable:"" help:"Answer from elsewhere what sessions ask (beckon help answers); without either form that stays as it is."`
	Mod     *bool    `negatable:"" help:"Install the mod, which runs inside the client (beckon help mod); without either form that stays as it is."`
	DryRun  bool     `help:"Print what would change as a diff, and change nothing."`

	Complete string `hidden:"" placeholder:"VERSION" help:"Only add the events that a client of this version knows to installs that were made for an older one."`
}

// UninstallCmd is `beckon uninstall`: it undoes the steps that put hooks into files.
type UninstallCmd struct {
	Agent  []string `help:"Which agents (default: all)." placeholder:"NAME"`
	Scope  string   `enum:"user,project,local" default:"user" help:"Which settings file: user, project or local."`
	DryRun bool     `help:"Print what would change as a diff, and change nothing."`
}

// machine is what the steps are made for: this machine, and what a command line asks for.
type machine struct {
	*cli.App
	scope   installer.Scope
	client  installer.Client
	hook    string // beckon-hook; with a problem, where it should be
	beckon  string // beckon beside it
	problem error  // why hook cannot be registered

	agentNames []string      // agents that --agent names: they are set up even if they are not here
	named      []string      // the steps of these agents are listed even if they are not here
	events     installer.Set // empty: as they were chosen
	channels   []string      // of notifications; nil: the one that is proposed
	answers    *bool         // for the named agents; nil: as it is
}

// newMachine looks for the programs that are registered; hook may name the first. Its error is about
// the user, or the names of agents.
func newMachine(a *cli.App, scope, hook string, agents []string) (m *machine, claude bool, err error) {
	if err := stepDown(a); err != nil {
		return nil, false, err
	}
	m = &machine{App: a, scope: installer.Scope(scope), client: installer.FindClient(context.Background(), a.ClaudeDir())}
	if m.agentNames, claude, err = chosenAgents(agents); err != nil {
		return nil, false, err
	}
	m.findPrograms(hook)
	return m, claude, nil
}

func (m *machine) findPrograms(hook string) {
	if m.hook, m.problem = HookProgram(m.App, hook); m.problem != nil {
		m.hook = home.Beside("beckon-hook")
	}
	m.beckon = filepath.Join(filepath.Dir(m.hook), home.Program("beckon"))
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

// Run asks which steps to do, and does them.
func (c *Cmd) Run(a *cli.App) error {
	m, claude, err := newMachine(a, c.Scope, "", c.Agent)
	if err != nil {
		return err
	}
	names := slices.Concat(c.Step, m.agentNames)
	if claude {
		names = append(names, "hooks")
	}
	m.named = names
	p, err := m.plan(c.Undo)
	if err != nil {
		return err
	}
	switch {
	case c.Undo:
		if len(names) == 0 {
			names = p.names()
		}
		if err := m.run(p, nil, names, c.DryRun); err != nil || c.DryRun {
			return err
		}
		return m.nameLeft()
	case len(names) > 0:
		return m.run(p, names, nil, c.DryRun)
	case c.DryRun:
		return p.Diff(a.Stdout)
	case c.Yes:
		p.Missing(a.Stdout)
	case a.Attended() && a.Screen():
		return m.onScreen(p)
	default:
		if err := p.Ask(a.Stdin, a.Stdout); err != nil {
			return cli.Hint("beckon setup --yes does what is proposed", "%w", err)
		}
	}
	return p.Do(a.Stdout)
}

// run does and undoes the named steps, or shows what that would change.
func (m *machine) run(p *plan, do, undo []string, dry bool) error {
	if err := p.Only(do, undo); err != nil {
		return cli.Usage("%w", err)
	}
	if dry {
		return p.Diff(m.Stdout)
	}
	return p.Do(m.Stdout)
}

// onScreen lets the user choose, does it, and asks for a PIN if answers are new: an agent could give
// them without one.
func (m *machine) onScreen(p *plan) error {
	before := p.those(func(s step) bool { return s.On })
	do, err := chooseOnScreen(context.Background(), p, m.Stdin, m.Stdout, m.Color("auto"))
	if err != nil || !do {
		return err
	}
	err = p.Do(m.Stdout)
	isNew := func(s step) bool { return s.Name == "answers" && s.On && !slices.Contains(before, s.Name) }
	if d := request.In(m.Store.Dir); len(p.those(isNew)) > 0 && !d.HasPIN() && m.InAgent("") == nil {
		set, e := pin.New(d)
		if e != nil {
			return errors.Join(err, cli.Hint("beckon config pin sets one", "%w", e))
		}
		if set {
			fmt.Fprintln(m.Stdout, "answers take your PIN; beckon config pin changes it")
		}
	}
	return err
}

// Run puts the hooks into the files.
func (c *InstallCmd) Run(a *cli.App) error {
	if c.Complete != "" {
		return completeInstall(a, c.Complete)
	}
	m, claude, err := newMachine(a, c.Scope, c.Hook, c.Agent)
	if err != nil {
		return err
	}
	m.events, m.channels, m.answers = installer.Set(c.Events), c.Notify, c.Answers
	p, err := m.plan(false)
	if err != nil {
		return err
	}
	do, undo := m.agentNames, []string(nil)
	choose := func(name string, on *bool) {
		switch {
		case on == nil:
		case *on:
			do = append(do, name)
		default:
			undo = append(undo, name)
		}
	}
	if claude || len(c.Agent) == 0 {
		do = append(do, "hooks")
		do = append(do, p.those(func(s step) bool { return s.Name == "mod" && s.Old && c.Mod == nil })...)
		if c.Status {
			do = append(do, "statusline")
		}
		choose("answers", c.Answers)
		choose("mod", c.Mod)
	} else if c.Status || c.Mod != nil {
		return cli.Usage("%w", cli.Hint("add --agent claude-code", "--statusline and --mod are for Claude Code"))
	}
	if len(c.Notify) > 0 {
		do = append(do, "notify")
	}
	if err := m.run(p, do, undo, c.DryRun); err != nil || c.DryRun {
		return err
	}
	missing := p.those(func(s step) bool { return s.Want && !s.On && s.Absent == "" })
	if len(missing) > 0 && len(c.Agent) == 0 {
		fmt.Fprintf(a.Stdout, "not set up yet: %s (beckon setup)\n", strings.Join(missing, ", "))
	}
	return nil
}

// Run takes the hooks out of the files.
func (c *UninstallCmd) Run(a *cli.App) error {
	m, claude, err := newMachine(a, c.Scope, "", c.Agent)
	if err != nil {
		return err
	}
	p, err := m.plan(true)
	if err != nil {
		return err
	}
	names := m.agentNames
	if len(c.Agent) == 0 || claude {
		names = append(names, p.those(func(s step) bool { return s.Hooks && event.AgentOf(s.Name) == nil })...)
	}
	if len(c.Agent) == 0 {
		names = append(names, p.those(func(s step) bool { return s.Hooks })...)
	}
	if err := m.run(p, nil, names, c.DryRun); err != nil || c.DryRun {
		return err
	}
	if left := p.those(func(s step) bool { return s.On && !s.Fixed }); len(left) > 0 {
		fmt.Fprintf(a.Stdout, "still set up: %s (beckon setup --undo)\n", strings.Join(left, ", "))
	}
	return m.nameLeft()
}

// nameLeft names the settings of projects that still have hooks once the user's have none.
func (m *machine) nameLeft() error {
	own, err := Settings(m.App, m.scope)
	if err != nil || m.scope != installer.User || hooked(own) {
		return err
	}
	_, rest := Accounts(m.App)
	for _, path := range rest {
		fmt.Fprintf(m.Stdout, "hooks are left in %s (there: beckon setup --undo --scope project, or local)\n", path)
	}
	return nil
}

// plan returns all steps with their present state, for a project's settings only those that edit
// them. Undoing them needs no program: it may be gone, or in a place that does not last. Steps of
// agents that are not here are left out unless they are named.
func (m *machine) plan(undo bool) (*plan, error) {
	if m.problem != nil && !undo {
		return nil, m.problem
	}
	list, err := m.claudeSteps()
	if err != nil {
		return nil, err
	}
	if m.scope != installer.User {
		return newPlan(list), nil
	}
	all := []step{m.pathStep(), list[0]}
	for _, f := range m.agents() {
		if f.Absent == "" || slices.Contains(m.named, f.Name) {
			all = append(all, f.step)
		}
	}
	all = append(all, list[1:]...)
	all = append(all, m.notifyStep(), m.tmuxStep(), m.promptStep(), m.completionStep())
	return newPlan(append(all, m.ruleSteps()...)), nil
}

// HookProgram returns the program that the entries name: the given one, else beckon-hook next
// to this program.
func HookProgram(a *cli.App, asked string) (string, error) {
	path := cmp.Or(asked, home.Beside("beckon-hook"))
	if path == "" {
		return "", errors.New("finding this program: the system does not say where it is")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return lasting(a, path)
}

// lasting returns a path of the program that stays valid.
func lasting(a *cli.App, path string) (string, error) {
	goCache := a.Getenv("GOCACHE") // of `go run`
	if dir, err := os.UserCacheDir(); err == nil && goCache == "" {
		goCache = filepath.Join(dir, "go-build")
	}
	return installer.StablePath(path, installer.Places{Home: a.Getenv("HOME"), Temp: os.TempDir(), GoCache: goCache})
}

// keepDir returns the directory of old bytes and records of edits, which nothing prunes.
func keepDir(a *cli.App) string { return filepath.Join(a.Store.Dir, "install") }

// own returns a file of the user's at that path, whose old bytes are kept.
func (m *machine) own(path string) installer.Target {
	return installer.Target{Scope: installer.User, Path: path, Keep: keepDir(m.App)}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
