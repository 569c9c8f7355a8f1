// Package setup is `beckon setup`, `install`, `uninstall` and `plugin`: what changes files of the
// user's, and takes that back.
package setup

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup/steps"
	"beckon/installer"
)

// Cmd is `beckon setup`.
type Cmd struct {
	Step   []string `arg:"" optional:"" help:"Only these steps: path, hooks (Claude Code's), codex and other agents by name, statusline, answers, mod, notify, tmux, prompt, completion."`
	Yes    bool     `help:"Do what is proposed, or the named steps, without asking."`
	Undo   bool     `help:"Undo the named steps, or all."`
	DryRun bool     `help:"Print what would change as a diff, and change nothing."`
}

// Run asks which steps to do, and does them.
func (c *Cmd) Run(a *cli.App) error {
	if err := stepDown(a); err != nil {
		return err
	}
	list, err := allSteps(a, c.Undo, c.Step...)
	if err != nil {
		return err
	}
	plan := steps.New(list)
	switch {
	case c.Undo:
		err = plan.Undo(c.Step)
	case len(c.Step) > 0:
		err = plan.Only(c.Step)
	}
	switch {
	case err != nil:
		return cli.Usage("%w", err)
	case c.DryRun:
		return plan.Diff(a.Stdout)
	case c.Undo || len(c.Step) > 0:
	case c.Yes:
		plan.Missing(a.Stdout)
	case a.Attended() && a.Screen():
		do, err := steps.Screen(context.Background(), plan, a.Stdin, a.Stdout, a.Color("auto"))
		if err != nil || !do {
			return err
		}
	default:
		if err := plan.Ask(a.Stdin, a.Stdout); err != nil {
			return cli.Hint("beckon setup --yes does what is proposed", "%w", err)
		}
	}
	return plan.Do(a.Stdout)
}

// allSteps returns all steps with their present state on this machine. Undoing them needs no
// program: it may be gone, or in a place that does not last. Steps of agents that are not here
// are left out unless they are named.
func allSteps(a *cli.App, undo bool, named ...string) ([]steps.Step, error) {
	hook, program, small, err := programs(a)
	if err != nil && !undo {
		return nil, err
	}
	list, err := clientSteps(a, hook, small)
	if err != nil {
		return nil, err
	}
	list = slices.Insert(list, 1, agentSteps(a, hook, named)...)
	_, shell := filepath.Split(a.Getenv("SHELL"))
	list = slices.Insert(list, 0, pathStep(a, shell, program))
	tmux := startupStep(a, "tmux", installer.PromptLine, program)
	tmux.Name, tmux.Title = "tmux", "show in tmux's status line what needs you; prefix b goes there"
	tmux.Want = a.Getenv("TMUX") != "" || tmux.Absent == "" && exists(installer.StartupPath("tmux", runtime.GOOS, a.Getenv))
	tmux.Then = "tmux source-file " + installer.StartupPath("tmux", runtime.GOOS, a.Getenv) + " loads it now"
	if !cli.Found("tmux") {
		tmux.Absent = "tmux is not installed"
	}
	prompt := startupStep(a, shell, installer.PromptLine, program)
	prompt.Title = "show in the shell's prompt what needs you"
	completion := startupStep(a, shell, installer.CompletionLine, program)
	completion.Title, completion.Want = "complete beckon's commands in the shell", true
	return append(list, notifyStep(a, program), tmux, prompt, completion), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// stepsThat returns the names of the steps that pick accepts.
func stepsThat(a *cli.App, pick func(steps.Step) bool) (names []string) {
	list, err := allSteps(a, false)
	if err != nil {
		return nil // what cannot be set up is not worth mentioning
	}
	for _, s := range list {
		if pick(s) {
			names = append(names, s.Name)
		}
	}
	return names
}
