package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/installer"
	"beckon/render"
)

type importCmd struct {
	JSON bool `name:"json" help:"Print them as a policy file."`
}

func (c *importCmd) Run(a *cli.App, s policy.Sources) error {
	list, err := imported(a, s)
	if err != nil {
		return err
	}
	if c.JSON {
		b, err := config.PolicyOf(list)
		if err != nil {
			return err
		}
		_, err = a.Stdout.Write(b)
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Stdout, "no hooks but beckon's own in the client's settings")
		return nil
	}
	for _, i := range list {
		on, note := i.Event, "    "+i.File
		if i.Matcher != "" {
			on += " " + i.Matcher
		}
		if i.Hook == nil {
			fmt.Fprintf(a.Stdout, "%s: not taken over: %s\n%s\n", render.OneLine(on), render.OneLine(i.Problem), note)
			continue
		}
		fmt.Fprintf(a.Stdout, "%s: %s %s\n%s\n", render.OneLine(on), i.Hook.Type, render.OneLine(i.Hook.Describe()), note)
	}
	fmt.Fprintln(a.Stdout, "The client runs them as long as they are in its settings: take out there what you put into a policy (--json).")
	return nil
}

// imported reads the hooks of the client's settings that apply here.
func imported(a *cli.App, s policy.Sources) ([]config.Imported, error) {
	project := filepath.Dir(filepath.Dir(s.Project))
	var files []config.Settings
	for _, f := range []struct {
		path  string
		level config.Level
	}{
		{filepath.Join(project, ".claude", "settings.json"), config.Project},
		{filepath.Join(project, ".claude", "settings.local.json"), config.Project},
		{filepath.Join(a.ClaudeDir(), "settings.json"), config.Global},
	} {
		data, err := os.ReadFile(f.path)
		if errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(f.path, ".claude") {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading settings: %w", err)
		}
		files = append(files, config.Settings{File: f.path, Level: f.level, Data: data})
	}
	return config.Import(files, installer.Own), nil
}

// twice warns about hooks that the client runs as well.
func twice(a *cli.App, hooks []*config.Hook, s policy.Sources) []config.Problem {
	list, err := imported(a, s)
	if err != nil {
		return nil // problems of the settings are not ours to report here
	}
	var out []config.Problem
	for _, h := range hooks {
		for _, i := range list {
			if i.Hook != nil && h.Same(i.Hook) {
				out = append(out, config.Problem{File: h.File, Line: h.Line, Path: h.Path, Warning: true,
					What: fmt.Sprintf("%s: the client runs it as well, from %s", h.ID, i.File), Advice: "take it out there"})
			}
		}
	}
	return out
}
