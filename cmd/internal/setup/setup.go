// Package setup is `beckon setup`, and `install`, `uninstall` and `plugin`, which do parts of it:
// what changes files of the user's, and takes that back.
package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup/steps"
	"beckon/event"
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
	Agent  []string `help:"Only the hooks of these agents: claude-code, codex, opencode, gemini, copilot, qwen, or all." placeholder:"NAME"`
	Scope  string   `enum:"user,project,local" default:"user" help:"Claude Code's settings file to edit: user, project or local (of the project here)."`
}

// Run asks which steps to do, and does them.
func (c *Cmd) Run(a *cli.App) error {
	if err := stepDown(a); err != nil {
		return err
	}
	names := slices.Clone(c.Step)
	agents, claude, err := chosenAgents(c.Agent)
	if err != nil {
		return err
	}
	if names = append(names, agents...); claude {
		names = append(names, "hooks")
	}
	list, err := allSteps(a, installer.Scope(c.Scope), c.Undo, names...)
	if err != nil {
		return err
	}
	for i := range list {
		if slices.Contains(agents, list[i].Name) {
			list[i].Absent = "" // the user knows better
		}
	}
	answered := turnsOn(list, "answers")
	ask := false
	plan := steps.New(list)
	switch {
	case c.Undo:
		err = plan.Undo(names)
	case len(names) > 0:
		err = plan.Only(names)
	}
	switch {
	case err != nil:
		return cli.Usage("%w", err)
	case c.DryRun:
		return plan.Diff(a.Stdout)
	case c.Undo || len(names) > 0:
	case c.Yes:
		plan.Missing(a.Stdout)
	case a.Attended() && a.Screen():
		do, err := steps.Screen(context.Background(), plan, a.Stdin, a.Stdout, a.Color("auto"))
		if err != nil || !do {
			return err
		}
		ask = true
	default:
		if err := plan.Ask(a.Stdin, a.Stdout); err != nil {
			return cli.Hint("beckon setup --yes does what is proposed", "%w", err)
		}
	}
	err = plan.Do(a.Stdout)
	if ask && *answered {
		err = errors.Join(err, askPIN(a))
	}
	return err
}

// turnsOn returns what becomes true when the named step is done.
func turnsOn(list []steps.Step, name string) *bool {
	done := new(bool)
	for i := range list {
		if do := list[i].Do; list[i].Name == name {
			list[i].Do = func(on bool) error {
				err := do(on)
				*done = on && err == nil
				return err
			}
		}
	}
	return done
}

// askPIN asks for a PIN for answers, if the user has none: an agent could give them without one.
func askPIN(a *cli.App) error {
	d := request.In(a.Store.Dir)
	if d.HasPIN() || a.InAgent("") != nil {
		return nil
	}
	set, err := pin.New(d)
	if err != nil {
		return cli.Hint("beckon config pin sets one", "%w", err)
	}
	if set {
		fmt.Fprintln(a.Stdout, "answers take your PIN; beckon config pin changes it")
	}
	return nil
}

// allSteps returns all steps with their present state on this machine, for a project's settings
// only those that edit them. Undoing them needs no program: it may be gone, or in a place that does
// not last. Steps of agents that are not here are left out unless they are named.
func allSteps(a *cli.App, scope installer.Scope, undo bool, named ...string) ([]steps.Step, error) {
	hook, program, line, err := programs(a)
	if err != nil && !undo {
		return nil, err
	}
	list, err := clientSteps(a, scope, hook, line)
	if err != nil || scope != installer.User {
		return list, err
	}
	all := []steps.Step{pathStep(a, program), list[0]}
	for _, f := range agentFiles(a, hook) {
		if f.absent == "" || slices.Contains(named, f.name) {
			all = append(all, f.step())
		}
	}
	all = append(all, list[1:]...)
	all = append(all, notifyStep(a, program), tmuxStep(a, program))
	prompt := startupStep(a, shell(a), installer.PromptLine, program)
	prompt.Title = "show in the shell's prompt what needs you"
	completion := startupStep(a, shell(a), installer.CompletionLine, program)
	completion.Title, completion.Want = "complete beckon's commands in the shell", true
	return append(append(all, prompt, completion), ruleSteps(a)...), nil
}

func shell(a *cli.App) string {
	_, name := filepath.Split(a.Getenv("SHELL"))
	return name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// stepsThat returns the names of the steps that pick accepts.
func stepsThat(a *cli.App, pick func(steps.Step) bool) string {
	var names []string
	list, _ := allSteps(a, installer.User, false) // what cannot be set up is not worth mentioning
	for _, s := range list {
		if pick(s) {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, ", ")
}

// pathStep adds the program's directory to the shell's PATH.
func pathStep(a *cli.App, program string) steps.Step {
	dir := filepath.Dir(program)
	s := startupStep(a, shell(a), installer.PathLine, program)
	s.Title, s.Want = "let the shell find beckon in "+shortPath(dir), true
	if !s.On && slices.Contains(filepath.SplitList(a.Getenv("PATH")), dir) {
		s.On, s.Fixed = true, true
	}
	export := "export PATH=" + installer.CommandLine(dir) + ":$PATH"
	s.Then = "shells that run already find it after: " + export
	if s.Absent != "" {
		s.Absent += "; beckon is found after: " + export
	}
	if shell(a) == "fish" {
		s.Then = "a shell that runs already finds it after: exec fish"
	}
	return s
}

// tmuxStep adds the segment and the keys to tmux.
func tmuxStep(a *cli.App, program string) steps.Step {
	s := startupStep(a, "tmux", installer.PromptLine, program)
	file := installer.StartupPath("tmux", runtime.GOOS, a.Getenv)
	s.Name, s.Title = "tmux", "show what needs you in tmux; prefix b goes there"
	s.Want = a.Getenv("TMUX") != "" || s.Absent == "" && exists(file)
	s.Then = "tmux source-file " + file + " loads it now"
	if !cli.Found("tmux") {
		s.Absent = "tmux is not installed"
	}
	return s
}

// startupStep adds a line to a start-up file. The caller sets its title.
func startupStep(a *cli.App, shell, line, program string) steps.Step {
	s := steps.Step{Name: line, Then: "new shells have it"}
	path := installer.StartupPath(shell, runtime.GOOS, a.Getenv)
	text, err := installer.NewStartupLine(shell, line, program)
	switch {
	case path == "":
		name := cmp.Or(shell, "the shell (SHELL is not set)")
		s.Absent = fmt.Sprintf("the start-up file of %s is not known: bash, zsh and fish are", name)
		return s
	case err != nil:
		s.Absent = err.Error()
		return s
	}
	s.On = installer.HasLine(path, line)
	words := map[string][]string{installer.PromptLine: {"beckon init"},
		installer.CompletionLine: {"beckon completion", "--completion"}}[line]
	if !s.On && slices.ContainsFunc(words, func(w string) bool { return installer.Mentions(path, w) }) {
		s.On, s.Fixed = true, true
	}
	file := installer.Target{Scope: installer.User, Path: path, Keep: keepDir(a)}
	of := func(on bool) installer.Op {
		if !on {
			return installer.Put(installer.StartupLine{Name: line})
		}
		return installer.Put(text)
	}
	s.Old = s.On && !s.Fixed && differs(file, of(true))
	s.Diff = func(on bool) (string, error) {
		c, err := installer.Plan(file, of(on))
		return c.Diff(), err
	}
	s.Do = func(on bool) error {
		_, err := installer.Apply(context.Background(), file, of(on))
		return err
	}
	return s
}

// pointToSetup names what else setup proposes on this machine, except other agents, which
// install names itself.
func pointToSetup(a *cli.App) {
	missing := stepsThat(a, func(s steps.Step) bool {
		return s.Want && !s.On && s.Absent == "" &&
			event.AgentOf(s.Name) == nil
	})
	if missing != "" {
		fmt.Fprintf(a.Stdout, "  not set up yet: %s (beckon setup)\n", missing)
	}
}
