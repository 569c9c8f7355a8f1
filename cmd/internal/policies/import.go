package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/event/atomicfile"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/installer"
	"beckon/render"
	"beckon/render/term"
)

type initCmd struct {
	FromClient bool `help:"Take over the permissions and hooks of the client's settings."`
	Project    bool `help:"Write the project's policy, from the project's settings, instead of your own."`
}

// starter is a policy to start from.
const starter = `{
  // beckon policy check --show prints each rule.
  "packs": ["git", "filesystem", "secrets"],
}
`

func (c *initCmd) Run(a *cli.App, s policy.Sources) error {
	if err := a.InAgent("writing a policy"); err != nil {
		return err
	}
	path, level, text, left := s.Global, config.Global, []byte(starter), []string(nil)
	if c.Project {
		path, level = s.Project, config.Project
	}
	if path == "" {
		return errors.New("nobody can tell where your policy is: HOME is not set")
	}
	if _, err := os.Lstat(path); err == nil {
		return cli.Hint("beckon policy check checks it", "there is a policy already: %s", path)
	}
	if c.FromClient {
		var err error
		if text, left, err = fromClient(a, s, level); err != nil {
			return err
		}
	}
	read, err := config.Decode(path, level, text)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, text, 0o600, true); err != nil {
		return fmt.Errorf("writing policy: %w", err)
	}
	fmt.Fprintf(a.Stdout, "wrote %s: %s\n", path, term.Plural(len(read.Hooks), "hook"))
	for _, what := range left {
		fmt.Fprintf(a.Stdout, "not taken over: %s\n", render.OneLine(what))
	}
	if c.FromClient {
		fmt.Fprintln(a.Stdout, stillRuns)
	}
	if c.Project {
		fmt.Fprintln(a.Stdout, "Read it, then run beckon policy trust.")
	}
	return nil
}

// stillRuns reminds of what a policy does not change.
const stillRuns = "The client runs its hooks as long as they are in its settings: take out there what you put into a policy."

// fromClient returns the policy that the client's settings of a level are, and what of them cannot
// be taken over.
func fromClient(a *cli.App, s policy.Sources, level config.Level) (text []byte, left []string, err error) {
	files, err := settings(a, s)
	if err != nil {
		return nil, nil, err
	}
	files = slices.DeleteFunc(files, func(f config.Settings) bool { return f.Level != level })
	hooks := config.Import(files, installer.Own)
	permissions, left := config.Permissions(files, level)
	for _, i := range hooks {
		if i.Hook == nil {
			left = append(left, i.Event+": "+i.Problem)
		}
	}
	text, err = config.PolicyOf(hooks, permissions)
	return text, left, err
}

type importCmd struct {
	JSON bool `name:"json" help:"Print them as a policy file."`
}

func (c *importCmd) Run(a *cli.App, s policy.Sources) error {
	files, err := settings(a, s)
	if err != nil {
		return err
	}
	list := config.Import(files, installer.Own)
	if c.JSON {
		b, err := config.PolicyOf(list, nil)
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
	fmt.Fprintln(a.Stdout, stillRuns)
	return nil
}

// settings reads the client's settings files that apply here.
func settings(a *cli.App, s policy.Sources) (files []config.Settings, err error) {
	project := trust.ProjectOf(s.Project)
	for _, f := range []config.Settings{
		{File: filepath.Join(project, ".claude", "settings.json"), Level: config.Project},
		{File: filepath.Join(project, ".claude", "settings.local.json"), Level: config.Project},
		{File: filepath.Join(a.ClaudeDir(), "settings.json"), Level: config.Global},
	} {
		f.Data, err = os.ReadFile(f.File)
		if errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(f.File, ".claude") {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading settings: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// twice warns about hooks that the client runs as well.
func twice(a *cli.App, hooks []*config.Hook, s policy.Sources) []config.Problem {
	files, err := settings(a, s)
	if err != nil {
		return nil // problems of the settings are not ours to report here
	}
	list := config.Import(files, installer.Own)
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
