package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/config"
	"beckon/cmd/internal/setup/steps"
	"beckon/event/home"
	"beckon/installer"
	"beckon/render/notify"
	"beckon/state/alert"
)

// Cmd is `beckon setup`.
type Cmd struct {
	Step   []string `arg:"" optional:"" help:"Only these steps: path, hooks (Claude Code's), codex and other agents by name, statusline, answers, notify, tmux, prompt, completion."`
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

// programs returns the programs that setup registers; with an error, where the first two should
// be.
func programs(a *cli.App) (hook, program, small string, err error) {
	if hook, err = HookProgram(a, ""); err == nil {
		program, err = beside(a, hook, "beckon")
	}
	if err == nil {
		small, err = statusProgram(a, program)
	}
	if err != nil {
		hook = home.Beside("beckon-hook")
		program = filepath.Join(filepath.Dir(hook), home.Program("beckon"))
	}
	return hook, program, small, err
}

// clientSteps returns the steps that edit Claude Code's settings.
func clientSteps(a *cli.App, hook, small string) ([]steps.Step, error) {
	target, err := Settings(a, installer.User)
	if err != nil {
		return nil, err
	}
	client := installer.FindClient(context.Background())
	report := installer.Inspect(installer.Inspection{Targets: []installer.Target{target}})
	if small == "" && len(report.Programs) > 0 {
		hook = report.Programs[0].Path // entries that stay keep theirs
	}
	spec := specFor(hook, client, installer.CoreEvents)
	spec.Answers = report.Answers()
	statusline := slices.ContainsFunc(report.Files, func(f installer.File) bool { return f.Status != nil })

	apply := func(op installer.Op) error {
		_, err := installer.Apply(context.Background(), target, op)
		return errors.Join(err, noteChosenFor(a))
	}
	// alone reports whether a part is taken away that has no hooks beside it, as with the plugin.
	alone := func(on bool) bool { return !on && !report.Installed() }
	// part returns a step that changes one part of the spec as it then is.
	part := func(name, title string, on bool, change func(*installer.Spec, bool)) steps.Step {
		return steps.Step{Name: name, Title: title, On: on, Needs: "hooks",
			Diff: func(on bool) (string, error) {
				if alone(on) {
					c, err := installer.Plan(target, installer.Uninstall())
					return c.Diff(), err
				}
				base, err := installer.Plan(target, installer.Install(spec))
				if err != nil {
					return "", err
				}
				changed := spec
				change(&changed, on)
				text, err := installer.Edit(base.Old, changed)
				return installer.Diff(base.New, text, base.File), err
			},
			Do: func(on bool) error {
				if alone(on) {
					return apply(installer.Uninstall())
				}
				change(&spec, on)
				return apply(installer.Install(spec))
			},
		}
	}
	hooks := steps.Step{
		Name: "hooks", Title: "follow Claude Code's sessions", On: report.Installed(), Want: true,
		Diff: func(on bool) (string, error) {
			c, err := installer.Plan(target, operation(on, spec))
			return c.Diff(), err
		},
		Do: func(on bool) error {
			if err := apply(operation(on, spec)); err != nil || on {
				return err
			}
			return takeMod(a)
		},
		Then: "sessions that run already load the hooks within seconds",
	}
	if client.Path == "" {
		hooks.Then = "no claude is on PATH yet; it is followed from its first session on"
	}
	line := part("statusline", "name the sessions that need you in Claude Code's status line", statusline, func(s *installer.Spec, on bool) {
		s.StatusLine, s.NoStatusLine = small, !on
	})
	line.Want = true
	answers := part("answers", "answer from elsewhere what sessions ask (beckon help answers)", spec.Answers, func(s *installer.Spec, on bool) { s.Answers = on })
	return []steps.Step{hooks, line, answers}, nil
}

func operation(on bool, spec installer.Spec) installer.Op {
	if on {
		return installer.Install(spec)
	}
	return installer.Uninstall()
}

// agentSteps returns the steps for the other agents on this machine, and for those that are named.
func agentSteps(a *cli.App, hook string, named []string) (list []steps.Step) {
	for _, ag := range Registered() {
		target, err := AgentTarget(a, ag)
		if err != nil {
			continue
		}
		spec := installer.AgentSpec(ag, hook)
		on := len(installer.InspectAgent(target, spec).Entries) > 0
		absent := ""
		if !on && !There(a, ag) {
			absent = "it is not on this machine; beckon install --agent " + ag.Name + " follows it all the same"
		}
		if absent != "" && !slices.Contains(named, ag.Name) {
			continue
		}
		list = append(list, steps.Step{
			Name: ag.Name, Title: "follow " + ag.Install.Title + "'s sessions", On: on, Want: true, Absent: absent, Then: ag.Install.Then,
			Diff: func(on bool) (string, error) {
				c, err := installer.Plan(target, operation(on, spec))
				return c.Diff(), err
			},
			Do: func(on bool) error {
				_, err := installer.Apply(context.Background(), target, operation(on, spec))
				return err
			},
		})
	}
	return list
}

// pathStep adds the program's directory to the shell's PATH.
func pathStep(a *cli.App, shell, program string) steps.Step {
	dir := filepath.Dir(program)
	s := startupStep(a, shell, installer.PathLine, program)
	s.Name, s.Title, s.Want = "path", "let the shell find beckon in "+dir, true
	if !s.On && slices.Contains(filepath.SplitList(a.Getenv("PATH")), dir) {
		s.On, s.Fixed = true, true
	}
	export := "export PATH=" + installer.CommandLine(dir) + ":$PATH"
	s.Then = "shells that run already find it after: " + export
	if s.Absent != "" {
		s.Absent += "; beckon is found after: " + export
	}
	if shell == "fish" {
		s.Then = "a shell that runs already finds it after: exec fish"
	}
	return s
}

// startupStep adds a line to a start-up file. The caller sets its title.
func startupStep(a *cli.App, shell, line, program string) steps.Step {
	s := steps.Step{Name: line}
	file := installer.Startup{Path: installer.StartupPath(shell, runtime.GOOS, a.Getenv), Keep: keepDir(a)}
	text, err := installer.NewStartupLine(shell, line, program)
	switch {
	case file.Path == "":
		s.Absent = fmt.Sprintf("the start-up file of %s is not known: bash, zsh and fish are", cmp.Or(shell, "the shell (SHELL is not set)"))
		return s
	case err != nil:
		s.Absent = err.Error()
		return s
	}
	s.On = file.Has(line)
	if word := map[string]string{installer.PromptLine: "beckon init", installer.CompletionLine: "beckon completion"}[line]; !s.On && word != "" && file.Mentions(word) {
		s.On, s.Fixed = true, true
	}
	of := func(on bool) installer.StartupLine {
		if !on {
			return installer.StartupLine{Name: line}
		}
		return text
	}
	s.Diff = func(on bool) (string, error) {
		c, err := file.Plan(of(on))
		return c.Diff(), err
	}
	s.Do = func(on bool) error {
		_, err := file.Apply(context.Background(), of(on))
		return err
	}
	s.Then = "new shells have it"
	return s
}

// notifyStep chooses a notification channel and sends a first notification.
func notifyStep(a *cli.App, program string) steps.Step {
	channel := alert.Terminal
	if hasDesktop(a) {
		channel = alert.Desktop
	}
	s := steps.Step{Name: "notify", Title: "notify you when a session needs you (" + channel + ")", Want: true,
		Then: "beckon notify test sends another one; beckon help notifications has the choices"}
	var kept *notify.Kept
	if channel == alert.Terminal {
		kept = notify.KeptByTmux(a.Getenv("TMUX"))
	}
	if kept != nil {
		s.Then = kept.Error() + "; " + kept.Hint()
	}
	path, err := config.Path(a.Getenv)
	if err != nil {
		s.Absent = err.Error()
		return s
	}
	cfg := a.Configured()
	if s.On = len(cfg.Alert.Channels) > 0; s.On {
		s.Title = "notify you when a session needs you (" + strings.Join(cfg.Alert.Channels, ", ") + ")"
	}
	value := func(on bool) []string {
		if on {
			return []string{channel}
		}
		return nil
	}
	s.Diff = func(on bool) (string, error) {
		c, err := config.Plan(path, "notify", value(on))
		return installer.Diff(c.Old, c.New, c.File), err
	}
	s.Do = func(on bool) error {
		if _, err := config.Set(path, "notify", value(on)); err != nil || !on {
			return err
		}
		if channel == alert.Terminal && (a.Width() == 0 || kept != nil && !kept.Background) {
			return nil // it would go to a file or a pipe, or nowhere
		}
		test := exec.Command(program, "notify", "test")
		test.Stdout, test.Stderr = a.Stdout, a.Stderr
		return test.Run()
	}
	return s
}

// hasDesktop reports whether this process can show notifications on a desktop.
func hasDesktop(a *cli.App) bool {
	switch {
	case a.Getenv("SSH_CONNECTION") != "":
		return false
	case runtime.GOOS == "darwin" || runtime.GOOS == "windows":
		return true
	}
	return cli.Found("notify-send") && (a.Getenv("DISPLAY") != "" || a.Getenv("WAYLAND_DISPLAY") != "")
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
