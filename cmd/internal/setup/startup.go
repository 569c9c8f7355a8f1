package setup

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup/steps"
	"beckon/installer"
)

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
	file := installer.Target{Scope: installer.User, Path: installer.StartupPath(shell, runtime.GOOS, a.Getenv), Keep: keepDir(a)}
	text, err := installer.NewStartupLine(shell, line, program)
	switch {
	case file.Path == "":
		s.Absent = fmt.Sprintf("the start-up file of %s is not known: bash, zsh and fish are", cmp.Or(shell, "the shell (SHELL is not set)"))
		return s
	case err != nil:
		s.Absent = err.Error()
		return s
	}
	s.On = installer.HasLine(file.Path, line)
	if word := map[string]string{installer.PromptLine: "beckon init", installer.CompletionLine: "beckon completion"}[line]; !s.On && word != "" && installer.Mentions(file.Path, word) {
		s.On, s.Fixed = true, true
	}
	of := func(on bool) installer.Op {
		if !on {
			return installer.Put(installer.StartupLine{Name: line})
		}
		return installer.Put(text)
	}
	s.Diff = func(on bool) (string, error) {
		c, err := installer.Plan(file, of(on))
		return c.Diff(), err
	}
	s.Do = func(on bool) error {
		_, err := installer.Apply(context.Background(), file, of(on))
		return err
	}
	s.Then = "new shells have it"
	return s
}
