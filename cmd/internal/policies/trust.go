package policies

import (
	"errors"
	"fmt"
	"io/fs"

	"beckon/cmd/internal/cli"
	"beckon/event/policy/trust"
	"beckon/render"
	"beckon/render/term"
)

type acceptCmd struct{}

func (acceptCmd) Run(a *cli.App) error {
	if err := a.InAgent("accepting a policy that is gone"); err != nil {
		return err
	}
	s, err := Sources(a)
	if err != nil {
		return err
	}
	done, err := s.Accept()
	for _, text := range done {
		fmt.Fprintln(a.Stdout, render.OneLine(text))
	}
	if err == nil && done == nil {
		fmt.Fprintln(a.Stdout, "there is nothing to accept: the policy files are as they were")
	}
	return err
}

type trustCmd struct {
	Dir string `arg:"" optional:"" help:"The project's directory (default: this one)." type:"path"`
	Off bool   `help:"Take the project's policy out of force."`
}

func (c *trustCmd) Run(a *cli.App) error {
	if err := a.InAgent("trusting a policy"); err != nil {
		return err
	}
	s, err := Sources(a)
	if err != nil {
		return err
	}
	if c.Dir != "" {
		s.Project = trust.ProjectFile(c.Dir)
	}
	if c.Off {
		if err := s.Distrust(s.Project); err != nil {
			return fmt.Errorf("taking trust back: %w", err)
		}
		fmt.Fprintf(a.Stdout, "%s is not in force any more\n", s.Project)
		return nil
	}
	trusted, err := s.Trust(s.Project)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Hint("a project has its policy in .beckon/policy.json; beckon help policy shows one", "%w", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s is in force as it is now, with %s:\n", s.Project, term.Plural(len(trusted.Hooks), "hook"))
	for _, h := range trusted.Hooks {
		printHook(a, explain(h))
	}
	return nil
}
