package policies

import (
	"errors"
	"fmt"
	"os"

	"beckon/cmd/internal/answer"
	"beckon/cmd/internal/cli"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/render"
	"beckon/render/term"
)

// problem prints one problem in the common form of errors.
func problem(a *cli.App, p config.Problem) {
	kind := "error"
	if p.Warning {
		kind = "warning"
	}
	fmt.Fprintf(a.Stdout, "%-7s %s\n", kind, render.OneLine(p.Error()))
	if p.Advice != "" {
		fmt.Fprintf(a.Stdout, "        hint: %s\n", render.OneLine(p.Advice))
	}
}

type checkCmd struct {
	File string `arg:"" optional:"" help:"A policy file (default: those in force here)." type:"path"`
	Show bool   `help:"Show the hooks in force here, in their order."`
	On   string `help:"With --show: only the hooks of this event." placeholder:"EVENT"`
	JSON bool   `name:"json" help:"With --show: print JSON."`
}

func (c *checkCmd) Run(a *cli.App, s policy.Sources) error {
	if c.Show {
		return (&explainCmd{c.On, c.JSON}).Run(a, s)
	}
	if c.File != "" {
		s.Global, s.Project = c.File, ""
		if c.File == trust.ProjectFile(trust.ProjectOf(c.File)) {
			s.Global, s.Project = "", c.File
		}
		if _, err := os.Stat(c.File); err != nil {
			return cli.Hint("beckon policy check, without a file, checks those in force here", "reading policy: %w", err)
		}
	}
	bad, any := false, false
	var configs []*config.Config
	for _, f := range []struct {
		path  string
		level config.Level
	}{{s.Project, config.Project}, {s.Global, config.Global}} {
		read, err := decodeFile(f.path, f.level)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		any = true
		var problems config.Problems
		switch {
		case errors.As(err, &problems):
			for _, p := range problems {
				problem(a, p)
			}
			bad = true
		case err != nil:
			return err
		default:
			fmt.Fprintf(a.Stdout, "ok      %s: %s\n", f.path, term.Plural(len(read.Hooks), "hook"))
			configs = append(configs, read)
		}
		if f.level == config.Global && answer.Shared(f.path) {
			problem(a, config.Problem{File: f.path, What: "others may write to it, and so choose what runs as you", Advice: "chmod 600", Warning: true})
		}
	}
	if !any {
		fmt.Fprintf(a.Stdout, "no policy: neither %s nor %s is there\n", s.Project, s.Global)
		return nil
	}
	hooks := config.Merge(configs...)
	for _, p := range append(config.Check(hooks), twice(a, hooks, s)...) {
		problem(a, p)
	}
	if bad {
		return cli.ErrSilent
	}
	if c.File == "" {
		for _, n := range policy.Load(s).Notices() {
			fmt.Fprintf(a.Stdout, "note    %s\n", render.OneLine(n))
		}
	}
	return nil
}

// hooksOf returns the hooks of one policy file.
func hooksOf(path string) ([]*config.Hook, error) {
	read, err := decodeFile(path, config.Global)
	if err != nil {
		return nil, err
	}
	return config.Merge(read), nil
}

func decodeFile(path string, level config.Level) (*config.Config, error) {
	if path == "" {
		return nil, os.ErrNotExist
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading policy: %w", err)
	}
	return config.Decode(path, level, data)
}
