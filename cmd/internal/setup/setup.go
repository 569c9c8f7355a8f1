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
	Step   []string        `arg:"" optional:"" help:"Only these steps, by the names that setup shows: path, hooks, codex, statusline, answers and more."`
	Yes    bool            `help:"Do what is proposed, or the named steps, without asking."`
	Undo   bool            `user:"undoing the set-up" help:"Undo the named steps, or all."`
	DryRun bool            `help:"Print what would change as a diff, and change nothing."`
	Agent  []string        `help:"Only the hooks of these agents: claude-code, codex, opencode, gemini, copilot, qwen, or all." placeholder:"AGENT"`
	Scope  installer.Scope `placeholder:"SCOPE" enum:"user,project,local" default:"user" help:"Claude Code's settings file to edit: user, project or local (of the project here)."`

	Events installer.Set `hidden:"" enum:",core,all" default:"" help:"Events to register: core (enough to track state) or all (for a policy)."`
}

// machine is what the steps are made for: this machine, and what a command line asks for.
type machine struct {
	*cli.App
	Cmd
	client  installer.Client
	hook    string // beckon-hook; with a problem, where it should be
	beckon  string // beckon beside it
	problem error  // why hook cannot be registered
	keep    bool   // entries that are there keep their program

	agentNames []string // agents that --agent names: they are set up even if they are not here
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
	sudo := a.Getenv("SUDO_UID") != ""
	if me, err := user.Current(); err == nil && me.Uid == "0" && sudo && me.HomeDir != a.Getenv("HOME") {
		return cli.Hint("run it without sudo", "what is set up in %s would belong to root", a.Getenv("HOME"))
	}
	m := &machine{App: a, Cmd: *c, client: installer.FindClient(a.ClaudeDir())}
	var err error
	if m.agentNames, err = chosenAgents(c.Agent); err != nil {
		return err
	}
	m.hook = home.Beside("beckon-hook")
	if path, err := installer.StablePath(m.hook, a.Getenv("HOME")); err != nil {
		m.problem, m.keep = err, true
	} else {
		m.hook = path
	}
	m.beckon = filepath.Join(filepath.Dir(m.hook), home.Program("beckon"))
	names := slices.Concat(c.Step, m.agentNames)
	if m.problem != nil && !c.Undo {
		return m.problem
	}
	p := m.plan()
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
	if c.Undo && m.Scope == installer.User && !p.on("hooks") {
		_, rest := m.accounts()
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
func (m *machine) plan() plan {
	target := Settings(m.App, m.Scope)
	hooks := m.hookStep("hooks", "follow Claude Code's sessions", target, nil)
	hooks.Then = "sessions that run already load the hooks within seconds"
	statusline := Step{Name: "statusline", Title: "name those that need you in Claude Code's status line",
		On: hooks.File.Status != "", Needs: "hooks", Want: true,
		Parts: []installer.Part{target.StatusLine(m.hook)}}.outdated()
	answers := Step{Name: "answers", Title: "answer what sessions ask from here or a phone",
		On: slices.ContainsFunc(hooks.File.Entries, installer.Entry.Answers), Needs: "hooks", Want: true,
		Then:  "the dialog in the session stays, and the first answer wins; beckon help answers",
		Parts: []installer.Part{target.Answers(hooks.spec)}}
	if err := m.InAgent("choosing answers"); err != nil && !answers.On {
		answers.Absent = err.Error()
	}
	if m.Scope != installer.User {
		return plan{hooks, statusline, answers}.propose()
	}
	all := plan{m.pathStep(), hooks}
	for _, s := range m.agents() {
		if s.Absent == "" || slices.Contains(m.Step, s.Name) {
			all = append(all, s)
		}
		if s.On && s.Agent.Holds() {
			answers.Parts = append(answers.Parts, s.Parts[0].Answers(s.spec))
		}
	}
	all = append(all, statusline, answers, m.modStep(hooks.spec))
	others, _ := m.accounts()
	all = append(append(all, others...), m.notifyStep(), m.tmuxStep(), m.promptStep(), m.completionStep())
	return append(all, m.ruleSteps()...).propose()
}

// keepDir returns the directory of old bytes and records of edits, which nothing prunes.
func keepDir(a *cli.App) string { return filepath.Join(a.Store.Dir, "install") }

// own returns a file of the user's at that path, whose old bytes are kept.
func (m *machine) own(path string) installer.Target {
	return installer.Target{Scope: installer.User, Path: path, Keep: keepDir(m.App)}
}
