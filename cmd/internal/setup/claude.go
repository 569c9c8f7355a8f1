package setup

import (
	"context"
	"errors"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup/steps"
	"beckon/installer"
)

// clientSteps returns the steps that edit Claude Code's settings.
func clientSteps(a *cli.App, hook, small string) ([]steps.Step, error) {
	target, err := Settings(a, installer.User)
	if err != nil {
		return nil, err
	}
	client := installer.FindClient(context.Background(), a.ClaudeDir())
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
				text, _, err := installer.Edit(base.Old, changed)
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
	line := part("statusline", "name those that need you in Claude Code's status line", statusline, func(s *installer.Spec, on bool) {
		s.StatusLine, s.NoStatusLine = small, !on
	})
	line.Want = true
	answers := part("answers", "answer what sessions ask from here, the page or a phone", spec.Answers, func(s *installer.Spec, on bool) { s.Answers = on })
	answers.Then = "the dialog in the session stays, and the first answer wins; beckon help answers"
	mod := steps.Step{
		Name: "mod", Title: "report Esc and errors, and show others, inside the client", On: ModPlugin(a).HasMod(), Needs: "hooks",
		Then: "sessions that begin from now on load it; beckon help mod",
		Diff: func(on bool) (string, error) { return modDiff(a, spec, client, on) },
		Do: func(on bool) error {
			if !on {
				return takeMod(a)
			}
			return putMod(a, spec, client)
		},
	}
	if _, err := modProgram(a, hook, client); err != nil {
		mod.Absent = err.Error()
	}
	return append([]steps.Step{hooks, line, answers, mod}, accountSteps(a, spec)...), nil
}

func operation(on bool, spec installer.Spec) installer.Op {
	if on {
		return installer.Install(spec)
	}
	return installer.Uninstall()
}
