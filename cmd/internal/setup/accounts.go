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
	"beckon/installer"
)

// Accounts returns the settings files of Claude Code's other accounts on this machine, each with
// a directory of its own that CLAUDE_CONFIG_DIR names: those in ~/.claude-*, and wherever an
// install has been. rest are other settings files that beckon was installed in, as a project's.
func Accounts(a *cli.App) (others []installer.Target, rest []string) {
	paths := installer.Recorded(keepDir(a))
	if home, err := os.UserHomeDir(); err == nil {
		list, _ := filepath.Glob(filepath.Join(home, ".claude*", "settings.json"))
		more, _ := filepath.Glob(filepath.Join(home, ".claude*", ".claude.json"))
		for _, path := range append(list, more...) {
			paths = append(paths, filepath.Join(filepath.Dir(path), "settings.json"))
		}
	}
	slices.Sort(paths)
	own, _ := Settings(a, installer.User)
	for _, path := range slices.Compact(paths) {
		switch {
		case path == own.Path || samePath(path, own.Path):
		case isAccount(filepath.Dir(path)):
			others = append(others, installer.Target{Scope: installer.User, Path: path, Keep: keepDir(a)})
		default:
			if installed(installer.Target{Path: path}) {
				rest = append(rest, path)
			}
		}
	}
	return others, rest
}

// isAccount reports whether Claude Code has kept its own state in dir, besides settings.
func isAccount(dir string) bool {
	return slices.ContainsFunc([]string{".claude.json", "projects", "sessions", ".credentials.json"}, func(name string) bool { return exists(filepath.Join(dir, name)) })
}

func samePath(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func installed(t installer.Target) bool {
	return installer.Inspect(installer.Inspection{Targets: []installer.Target{t}}).Installed()
}

// accountSteps returns a step for each other account. spec is what the hooks of Claude Code are.
func accountSteps(a *cli.App, spec installer.Spec) (list []steps.Step) {
	others, _ := Accounts(a)
	for _, target := range others {
		dir := filepath.Dir(target.Path)
		on := installed(target)
		list = append(list, steps.Step{
			Name: strings.TrimPrefix(filepath.Base(dir), "."), Title: "follow Claude Code's sessions of the account in " + dir, On: on, Want: true,
			Diff: func(on bool) (string, error) {
				c, err := installer.Plan(target, operation(on, spec))
				return c.Diff(), err
			},
			Do: func(on bool) error {
				_, err := installer.Apply(context.Background(), target, operation(on, spec))
				return errors.Join(err, noteChosenFor(a))
			},
		})
	}
	return list
}

// uninstallAccounts removes the hooks from the other accounts, and names what else has them.
func uninstallAccounts(a *cli.App, dryRun bool) error {
	others, rest := Accounts(a)
	var errs []error
	for _, target := range others {
		change, err := edit(a, target, installer.Uninstall(), dryRun)
		if err == nil && !dryRun && !change.Noop() {
			fmt.Fprintf(a.Stdout, "took the hooks out of %s, another account\n", change.File)
		}
		errs = append(errs, err)
	}
	for _, path := range rest {
		fmt.Fprintf(a.Stdout, "hooks are left in %s (there: beckon uninstall --scope project, or local)\n", path)
	}
	return errors.Join(errs...)
}
