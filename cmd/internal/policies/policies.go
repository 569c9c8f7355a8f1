// Package policies implements `beckon policy`, which checks, tries, trusts and logs policies.
package policies

import (
	"embed"
	"fmt"
	"os"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/hook"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
)

// Cmd is the command.
type Cmd struct {
	Check checkCmd `cmd:"" help:"Check the policy files for mistakes, or show the hooks in force."`
	Test  testCmd  `cmd:"" help:"Try an event, run test files, or try the policy on your past calls."`
	Log   logCmd   `cmd:"" aliases:"trace" help:"Show what was decided lately, and by whom."`
	Trust trustCmd `cmd:"" help:"Trust a project's policy as it is now: it is then in force."`
	Allow allowCmd `cmd:"" aliases:"allow-once" help:"Let a refused call pass once, by the code in its refusal."`
	Init  initCmd  `cmd:"" help:"Write a policy to start from, or one from the client's settings."`

	Accept  acceptCmd  `cmd:"" hidden:"" help:"Accept that a policy file is gone or empty."`
	Enable  enableCmd  `cmd:"" hidden:"" help:"Switch a hook on again."`
	Disable disableCmd `cmd:"" hidden:"" help:"Switch a hook off."`
	Example exampleCmd `cmd:"" hidden:"" help:"Print a small policy server to start your own from."`
	Schema  schemaCmd  `cmd:"" hidden:"" help:"Print the JSON Schema of a policy file."`
	Explain showCmd    `cmd:"" hidden:"" help:"Show which hooks are in force, as check --show does."`
	Replay  pastCmd    `cmd:"" hidden:"" help:"Try the policy on past calls, as test --past does."`
	Import  importCmd  `cmd:"" hidden:"" help:"Show the hooks in the client's settings, as a policy would run them."`
}

// ProvideSources gives the commands the policy files that apply here.
func (Cmd) ProvideSources(a *cli.App) (policy.Sources, error) { return Sources(a) }

// Sources returns the policy files that apply in the working directory.
func Sources(a *cli.App) (policy.Sources, error) {
	s := hook.Sources(a.Getenv, a.Store.Dir)
	dir, err := os.Getwd()
	if err != nil {
		return s, err
	}
	s.Project = trust.ProjectFile(hook.ProjectAt(dir, s.State))
	return s, nil
}

// hooksOf returns the hooks of one policy file.
func hooksOf(path string) ([]*config.Hook, error) {
	read, err := decodeFile(path, config.Global)
	return config.Merge(read), err
}

func decodeFile(path string, level config.Level) (*config.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading policy: %w", err)
	}
	return config.Decode(path, level, data)
}

type schemaCmd struct{}

func (schemaCmd) Run(a *cli.App) error {
	_, err := a.Stdout.Write(config.Schema())
	return err
}

// examples are small policy servers of protocol 1.0 to start from. Each is a complete program that
// needs nothing but its language, and both make the same decisions.
//
//go:embed example
var examples embed.FS

type exampleCmd struct {
	Language string `arg:"" enum:"python,node" help:"python or node."`
}

func (c *exampleCmd) Run(a *cli.App) error {
	text, err := examples.ReadFile(
		map[string]string{"python": "example/policy.py", "node": "example/policy.js"}[c.Language],
	)
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(text)
	return err
}
