package main

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/config"
	"beckon/cmd/internal/talk"
	"beckon/event/home"
	"beckon/installer"
	"beckon/state/alert"
)

type configCmd struct {
	Show configShow  `cmd:"" default:"withargs" hidden:"" help:"Print the configuration in force, and where each value comes from."`
	PIN  talk.PINCmd `cmd:"" name:"pin" help:"Set the PIN that answers from elsewhere take, or remove it."`
}

type configShow struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// setting is one value of the configuration and where it comes from.
type setting struct {
	Value string `json:"value"`
	From  string `json:"from"`
}

func (c *configShow) Run(a *app) error {
	values, err := a.configValues()
	if c.JSON {
		return errors.Join(cli.WriteJSON(a.Stdout, values), err)
	}
	names := []string{"state_dir"}
	for _, k := range config.Keys {
		names = append(names, k.Name)
	}
	for _, name := range names {
		if v, ok := values[name]; ok {
			value := cmp.Or(strings.ReplaceAll(v.Value, "\n", `\n`), "-")
			fmt.Fprintf(a.Stdout, "%-18s %-8s  # %s\n", name, value, v.From)
		}
	}
	return err
}

// configValues returns the values in force and the errors in the file.
func (a *app) configValues() (map[string]setting, error) {
	path := alert.ConfigPath(a.Getenv)
	cfg, set, err := config.Load(path)
	values := map[string]setting{}
	for _, k := range config.Keys {
		from := "default"
		if slices.Contains(set, k.Name) {
			from = path
		}
		if !k.Old || from == path {
			values[k.Name] = setting{k.Value(cfg), from}
		}
	}
	values["state_dir"] = setting{a.Store.Dir, "default"}
	for _, name := range []string{"XDG_STATE_HOME", "BECKON_STATE_DIR"} {
		if a.Getenv(name) != "" {
			values["state_dir"] = setting{a.Store.Dir, "environment " + name}
		}
	}
	return values, err
}

type initCmd struct {
	Completion bool   `hidden:"" help:"Print instead the script that completes commands and sessions, for bash, zsh and fish."`
	Shell      string `arg:"" enum:"bash,zsh,fish,tmux,starship" help:"bash, zsh, fish, tmux or starship."`
	Next       string `hidden:"" default:"b" help:"tmux: the key, after the prefix, that goes to the session that needs you next (default: ${default})." placeholder:"KEY"`
	Popup      string `hidden:"" default:"B" help:"tmux: the key, after the prefix, that shows all sessions (default: ${default})." placeholder:"KEY"`
}

// completions are the shells' scripts. They contain no commands of beckon's: each asks `beckon
// __complete` for the words, so they never become outdated.
//
//go:embed completions
var completions embed.FS

func (c *initCmd) Run(a *app) error {
	if c.Completion {
		script, err := completions.ReadFile("completions/beckon." + c.Shell)
		if err != nil {
			return cli.Usage("--completion is for bash, zsh and fish, not %s", c.Shell)
		}
		return a.Printf("%s", script)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	line := home.Beside("beckon-hook")
	if _, err := os.Stat(line); err != nil {
		line = ""
	}
	text, err := installer.Snippet(c.Shell, installer.SnippetOptions{
		Program: self, Line: line, Next: c.Next, Popup: c.Popup,
	})
	if err != nil {
		return err
	}
	return a.Printf("%s", text)
}
