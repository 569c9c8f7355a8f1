// Package setup is `beckon setup`: what changes files of the user's, and takes that back.
package setup

import (
	"context"
	"errors"
	"fmt"
	"os/user"
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
	Undo   bool     `user:"undoing the set-up" help:"Undo the named steps, or all."`
	DryRun bool     `help:"Print what would change as a diff, and change nothing."`
	Agent  []string `help:"Only the hooks of these agents: claude-code, codex, opencode, gemini, copilot, qwen, or all." placeholder:"AGENT"`
	Scope  string   `placeholder:"SCOPE" enum:"user,project,local" default:"user" help:"Claude Code's settings file to edit: user, project or local (of the project here)."`

	Events string `hidden:"" enum:",core,all" default:"" help:"Events to register: core (enough to track state) or all (for a policy)."`
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
}

// chosenAgents returns the steps of the agents that --agent names.
func chosenAgents(names []string) (steps []string, err error) {
	known := []string{"all", event.ClaudeCode}
	for _, ag := range registered() {
		known = append(known, ag.Name)
	}
	for _, name := range names {
		ag := event.AgentOf(name)
		switch {
		case name == "all":
			steps = slices.Concat(steps, known[2:], []string{"hooks"})
		case ag != nil && ag.Name == event.ClaudeCode:
			steps = append(steps, "hooks")
		case ag == nil || ag.Install.File == "":
			return nil, cli.Usage("--agent %q: not one of %s", name, strings.Join(known, ", "))
		default:
			steps = append(steps, ag.Name)
		}
	}
	return steps, nil
}

// Run asks which steps to do, and does them.
func (c *Cmd) Run(a *cli.App) error {
	for _, name := range []string{"notify", "answers", "mod"} {
		if slices.Contains(c.Step, name) {
			if err := a.InAgent("choosing notifications, answers and the mod"); err != nil {
				return err
			}
		}
	}
	// Files that root writes into the home of whoever called sudo are root's, and hooks could not write to them.
	if me, err := user.Current(); err == nil && me.Uid == "0" && a.Getenv("SUDO_UID") != "" && me.HomeDir != a.Getenv("HOME") {
		return cli.Hint("run it without sudo", "what is set up in %s would belong to root", a.Getenv("HOME"))
	}
	m := &machine{
		App:    a,
		scope:  installer.Scope(c.Scope),
		client: installer.FindClient(a.ClaudeDir()),
		events: installer.Set(c.Events),
	}
	var err error
	if m.agentNames, err = chosenAgents(c.Agent); err != nil {
		return err
	}
	if m.hook, m.problem = HookProgram(a); m.problem != nil {
		m.hook = home.Beside("beckon-hook")
	}
	m.beckon = filepath.Join(filepath.Dir(m.hook), home.Program("beckon"))
	names := slices.Concat(c.Step, m.agentNames)
	m.named = names
	p, err := m.plan(c.Undo)
	if err != nil {
		return err
	}
	switch {
	case c.Undo && len(names) == 0:
		err = p.Only(nil, p.names())
	case c.Undo:
		err = p.Only(nil, names)
	case len(names) > 0:
		err = p.Only(names, nil)
	case c.DryRun:
	case c.Yes:
		p.Missing(a.Stdout)
	case a.Attended() && a.Screen():
		return m.onScreen(p)
	default:
		err = cli.Hint("beckon setup --yes does what is proposed",
			"to choose the steps, setup needs a terminal that can move its cursor")
	}
	switch {
	case err != nil:
		return cli.Usage("%w", err)
	case c.DryRun:
		return p.Do(a.Stdout, true)
	}
	err = p.Do(a.Stdout, false)
	if own, e := Settings(a, m.scope); e == nil && c.Undo && m.scope == installer.User && !hooked(own) {
		_, rest := Accounts(a)
		for _, path := range rest {
			fmt.Fprintf(m.Stdout, "hooks are left in %s (there: beckon setup --undo --scope project, or local)\n", path)
		}
	}
	return err
}

// onScreen lets the user choose, does it, and asks for a PIN if answers are new: an agent could give
// them without one.
func (m *machine) onScreen(p plan) error {
	had := p.on("answers")
	do, err := chooseOnScreen(context.Background(), p, m.Stdin, m.Stdout, m.Color("auto"))
	if err != nil || !do {
		return err
	}
	err = p.Do(m.Stdout, false)
	if d := request.In(m.Store.Dir); !had && p.on("answers") && !d.HasPIN() && m.InAgent("") == nil {
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

// plan returns all steps with their present state, for a project's settings only those that edit
// them. Undoing them needs no program: it may be gone, or in a place that does not last. Steps of
// agents that are not here are left out unless they are named.
func (m *machine) plan(undo bool) (plan, error) {
	if m.problem != nil && !undo {
		return nil, m.problem
	}
	list, err := m.claudeSteps()
	if err != nil {
		return nil, err
	}
	if m.scope != installer.User {
		return plan(list).propose(), nil
	}
	all := plan{m.pathStep(), list[0]}
	for _, f := range m.agents() {
		if f.Absent == "" || slices.Contains(m.named, f.Name) {
			all = append(all, f.step)
		}
	}
	all = append(all, list[1:]...)
	all = append(all, m.notifyStep(), m.tmuxStep(), m.promptStep(), m.completionStep())
	return append(all, m.ruleSteps()...).propose(), nil
}

// HookProgram returns the program that the entries name: beckon-hook next to this program.
func HookProgram(a *cli.App) (string, error) {
	path := home.Beside("beckon-hook")
	if path == "" {
		return "", errors.New("finding this program: the system does not say where it is")
	}
	return lasting(a, path)
}

// lasting returns a path of the program that stays valid.
func lasting(a *cli.App, path string) (string, error) {
	return installer.StablePath(path, a.Getenv("HOME"))
}

// keepDir returns the directory of old bytes and records of edits, which nothing prunes.
func keepDir(a *cli.App) string { return filepath.Join(a.Store.Dir, "install") }

// own returns a file of the user's at that path, whose old bytes are kept.
func (m *machine) own(path string) installer.Target {
	return installer.Target{Scope: installer.User, Path: path, Keep: keepDir(m.App)}
}
