package main

import "embed"

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// completions are the shells' scripts. They contain no commands of beckon's: each asks `beckon
// __complete` for the words, so they never become outdated.
//
//go:embed completions
var completions embed.FS

func (c *completionCmd) Run(a *app) error {
	script, err := completions.ReadFile("completions/beckon." + c.Shell)
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(script)
	return err
}
