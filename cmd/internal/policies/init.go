package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/event/plainfile"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/installer"
	"beckon/render"
	"beckon/render/term"
)

type initCmd struct {
	FromClient bool   `help:"Take over the permissions and hooks of the client's settings."`
	Scope      string `enum:"user,project" default:"user" placeholder:"SCOPE" help:"Whose policy to write: user (yours, in force everywhere) or project (of the project here)."`
	Project    bool   `hidden:"" help:"The same as --scope project."`
}

// starter is a policy to start from.
const starter = `{
  // beckon policy check --show prints each rule.
  "packs": ["git", "filesystem", "secrets"],
}
`

func (c *initCmd) Run(a *cli.App, s policy.Sources) error {
	path, level, text, left := s.Global, config.Global, []byte(starter), []string(nil)
	if c.Project || c.Scope == "project" {
		path, level = s.Project, config.Project
	}
	if path == "" {
		return errors.New("nobody can tell where your policy is: HOME is not set")
	}
	if _, err := os.Lstat(path); err == nil {
		return cli.Hint("beckon policy check checks it", "there is a policy already: %s", path)
	}
	if c.FromClient {
		files, err := settings(a, s)
		if err != nil {
			return err
		}
		files = slices.DeleteFunc(files, func(f config.Settings) bool { return f.Level != level })
		if text, left, err = config.FromClient(files, level, installer.Own); err != nil {
			return err
		}
	}
	read, err := config.Decode(path, level, text)
	if err != nil {
		return err
	}
	if err := plainfile.Write(path, text, 0o600, true); err != nil {
		return fmt.Errorf("writing policy: %w", err)
	}
	fmt.Fprintf(a.Stdout, "wrote %s: %s\n", path, term.Plural(len(read.Hooks), "hook"))
	printNotices(a, "not taken over: ", left)
	if c.FromClient {
		fmt.Fprintln(a.Stdout, stillRuns)
	}
	if level == config.Project {
		fmt.Fprintln(a.Stdout, "Read it, then run beckon policy trust.")
	}
	return nil
}

// stillRuns reminds of what a policy does not change.
const stillRuns = "The client runs its hooks as long as they are in its settings: " +
	"take out there what you put into a policy."

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
		list = slices.DeleteFunc(list, func(i config.Imported) bool { return i.Hook == nil })
		b, err := config.PolicyOf(list, nil)
		if err != nil {
			return err
		}
		_, err = a.Stdout.Write(b)
		return err
	}
	for _, i := range list {
		what := "not taken over: " + i.Problem
		if i.Hook != nil {
			what = string(i.Hook.Type) + " " + i.Hook.Describe()
		}
		fmt.Fprintf(a.Stdout, "%s: %s\n    %s\n", render.OneLine(i.On()), render.OneLine(what), i.File)
	}
	fmt.Fprintln(a.Stdout, stillRuns)
	return nil
}

// settings reads the client's settings files that apply here.
func settings(a *cli.App, s policy.Sources) (files []config.Settings, err error) {
	list := []config.Settings{{File: filepath.Join(a.ClaudeDir(), "settings.json"), Level: config.Global}}
	if s.Project != "" {
		dir := filepath.Join(trust.ProjectOf(s.Project), ".claude")
		list = append(list,
			config.Settings{File: filepath.Join(dir, "settings.json"), Level: config.Project},
			config.Settings{File: filepath.Join(dir, "settings.local.json"), Level: config.Project})
	}
	for _, f := range list {
		f.Data, err = os.ReadFile(f.File)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading settings: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}
