package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event/policy"
	"beckon/event/policy/trust"
	"beckon/render"
	"beckon/render/term"
)

type trustCmd struct {
	Dir string `arg:"" optional:"" help:"The project's directory (default: this one)." type:"path"`
	Off bool   `help:"Take the project's policy out of force."`
}

func (c *trustCmd) Run(a *cli.App, s policy.Sources) error {
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
	hooks := term.Plural(len(trusted.Hooks), "hook")
	fmt.Fprintf(a.Stdout, "%s is in force as it is now, with %s:\n", s.Project, hooks)
	for _, h := range trusted.Hooks {
		show(a, h)
	}
	return nil
}

type allowCmd struct {
	Code string `arg:"" help:"The code, as the refusal gives it."`
}

// Run lets the refused call pass the next time.
func (c *allowCmd) Run(a *cli.App, s policy.Sources) error {
	r, err := s.State.Allow(c.Code, time.Now())
	if errors.Is(err, trust.ErrNoCode) {
		const hint = "a code holds for ten minutes and is good for one use; let the agent try again for a new one"
		return cli.Hint(hint, "%q: %w", c.Code, err)
	}
	if err != nil {
		return fmt.Errorf("allowing the call: %w", err)
	}
	fmt.Fprintf(a.Stdout, "passes once, until %s: %s: %s\n",
		r.Expires.Local().Format("15:04"), render.OneLine(r.Tool), render.OneLine(r.Subject))
	return nil
}
