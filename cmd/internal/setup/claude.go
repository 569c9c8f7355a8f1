package setup

import (
	"context"
	"errors"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup/steps"
	"beckon/installer"
)

// clientSteps returns the steps that edit Claude Code's settings of a scope. hook and line are the
// programs of the hooks and of the status line.
func clientSteps(a *cli.App, scope installer.Scope, hook, line string) ([]steps.Step, error) {
	target, err := Settings(a, scope)
	if err != nil {
		return nil, err
	}
	client := installer.FindClient(context.Background(), a.ClaudeDir())
	report := inspect(target)
	if line == "" && len(report.Programs) > 0 {
		hook = report.Programs[0].Path // entries that stay keep theirs
	}
	f := hookFile{
		name: "hooks", title: "follow Claude Code's sessions", target: target, on: report.Installed(),
		spec: specFor(hook, client, setOf(report.Files[0], client)), note: func() error { return noteChosenFor(a) },
		then: "sessions that run already load the hooks within seconds",
	}
	f.spec.Answers = report.Answers()
	if client.Path == "" {
		f.then = "no claude is on PATH yet; it is followed from its first session on"
	}
	if scope == installer.User {
		f.off = func() error { return takeMod(a) } // the mod is the user's, whatever the project
	}
	hasLine := slices.ContainsFunc(report.Files, func(f installer.File) bool { return f.Status != nil })
	if hasLine {
		f.spec.StatusLine = line
	}
	statusline := f.part("statusline", "name those that need you in Claude Code's status line", hasLine,
		func(s *installer.Spec, on bool) {
			s.StatusLine, s.NoStatusLine = line, !on
		})
	statusline.Want = true
	answers := f.part("answers", "answer what sessions ask from here or a phone", f.spec.Answers,
		func(s *installer.Spec, on bool) {
			s.Answers = on
		})
	own := answers.Do
	answers.Do = func(on bool) error {
		errs := []error{own(on)}
		for _, other := range agentFiles(a, hook) {
			if other.on && other.agent.Holds() && installer.AgentHolds(other.target) != on && scope == installer.User &&
				line != "" {
				other.spec.Answers = on
				errs = append(errs, other.apply(other.operation(true)))
			}
		}
		return errors.Join(errs...)
	}
	answers.Want = true
	if err := a.InAgent("choosing answers"); err != nil && !answers.On {
		answers.Absent = err.Error()
	}
	answers.Then = "the dialog in the session stays, and the first answer wins; beckon help answers"
	list := []steps.Step{f.step(), statusline, answers}
	if scope != installer.User {
		return list, nil
	}
	mod := steps.Step{
		Name: "mod", Title: "report Esc, and show others, inside the client", On: ModPlugin(a).HasMod(), Needs: "hooks",
		Then: "sessions that begin from now on load it; beckon help mod",
		Diff: func(on bool) (string, error) { return modDiff(a, f.spec, client, on) },
		Do: func(on bool) error {
			if !on {
				return takeMod(a)
			}
			return putMod(a, f.spec, client)
		},
	}
	if _, err := modProgram(a, hook, client); err != nil {
		mod.Absent = err.Error()
	}
	list = append(list, mod)
	for _, other := range accountFiles(a, f.spec) {
		list = append(list, other.step())
	}
	return list, nil
}

// part returns a step that changes one part of the file's spec as it then is. Where a part is
// taken away that has no hooks beside it, as with the plugin, all that is ours goes.
func (f *hookFile) part(name, title string, on bool, change func(*installer.Spec, bool)) steps.Step {
	installed := f.on
	return steps.Step{Name: name, Title: title, On: on, Needs: "hooks",
		Diff: func(on bool) (string, error) {
			if !on && !installed {
				c, err := installer.Plan(f.target, installer.Uninstall())
				return c.Diff(), err
			}
			base, err := installer.Plan(f.target, installer.Install(f.spec))
			if err != nil {
				return "", err
			}
			changed := f.spec
			change(&changed, on)
			text, _, err := installer.Edit(base.Old, changed)
			return installer.Diff(base.New, text, base.File), err
		},
		Do: func(on bool) error {
			if !on && !installed {
				return f.apply(installer.Uninstall())
			}
			change(&f.spec, on)
			return f.apply(installer.Install(f.spec))
		},
	}
}
