package main

import (
	"embed"
	"fmt"
	"io"
	"os"

	"beckon/cmd/internal/cli"
	"beckon/event/home"
	"beckon/installer"
)

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
		_, err = a.Stdout.Write(script)
		return err
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
		Program: self, Line: line, Color: a.Getenv("NO_COLOR") == "", Next: c.Next, Popup: c.Popup,
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.Stdout, text)
	return err
}
