package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"beckon/cmd/internal/cli"
	"beckon/event/plainfile"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/installer"
	"beckon/render/term"
)

type initCmd struct {
	FromClient bool   `help:"Take over the permissions and hooks of the client's settings."`
	Scope      string `enum:"user,project" default:"user" placeholder:"SCOPE" help:"Whose policy to write: user (yours, in force everywhere) or project (of the project here)."`
}

// starter is a policy to start from.
const starter = `{
  // beckon policy check --show prints each rule.
  "packs": ["git", "filesystem", "secrets"],
}
`

func (c *initCmd) Run(a *cli.App, s policy.Sources) error {
	path, level, text, left := s.Global, config.Global, []byte(starter), []string(nil)
	if c.Scope == "project" {
		path, level = s.Project, config.Project
	}
	if path == "" {
		return errors.New("nobody can tell where your policy is: HOME is not set")
	}
	if _, err := os.Lstat(path); err == nil {
		return cli.Hint("beckon policy check checks it", "there is a policy already: %s", path)
	}
	if c.FromClient {
		files, err := settings(a, s, level)
		if err != nil {
			return err
		}
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
		fmt.Fprintln(a.Stdout, "The client runs its hooks as long as they are in its settings: "+
			"take out there what you put into a policy.")
	}
	if level == config.Project {
		fmt.Fprintln(a.Stdout, "Read it, then run beckon policy trust.")
	}
	return nil
}

// settings reads the client's settings files of a level.
func settings(a *cli.App, s policy.Sources, level config.Level) (files [][]byte, err error) {
	dir, names := a.ClaudeDir(), []string{"settings.json"}
	if level == config.Project {
		dir, names = filepath.Join(trust.ProjectOf(s.Project), ".claude"), append(names, "settings.local.json")
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			files = append(files, data)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading settings: %w", err)
		}
	}
	return files, nil
}
