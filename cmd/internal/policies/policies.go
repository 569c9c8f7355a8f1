// Package policies implements `beckon policy`, which checks, explains, tests and traces policies.
package policies

import (
	"io"
	"os"

	"beckon/cmd/internal/answer"
	"beckon/cmd/internal/cli"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/run/example"
	"beckon/event/policy/trust"
)

// Cmd is the command.
type Cmd struct {
	Check   checkCmd   `cmd:"" help:"Check the policy files for mistakes, or show the hooks in force."`
	Test    testCmd    `cmd:"" help:"Try an event, run test files, or try the policy on your past calls."`
	Log     traceCmd   `cmd:"" aliases:"trace" help:"Show what was decided lately, and by whom."`
	Trust   trustCmd   `cmd:"" help:"Trust a project's policy as it is now: it is then in force."`
	Accept  acceptCmd  `cmd:"" help:"Accept that a policy file is gone or empty: what it said is then no longer in force."`
	Allow   allowCmd   `cmd:"" aliases:"allow-once" help:"Let a refused call pass once, by the code in its refusal."`
	Init    initCmd    `cmd:"" help:"Write a policy to start from, or one from the client's settings."`
	Enable  enableCmd  `cmd:"" help:"Switch a hook on again."`
	Disable disableCmd `cmd:"" help:"Switch a hook off."`
	Example exampleCmd `cmd:"" help:"Print a small policy server to start your own from."`
	Schema  schemaCmd  `cmd:"" help:"Print the JSON Schema of a policy file."`
	Explain explainCmd `cmd:"" hidden:"" help:"Show which hooks are in force, as check --show does."`
	Replay  replayCmd  `cmd:"" hidden:"" help:"Try the policy on past calls, as test --past does."`
	Import  importCmd  `cmd:"" hidden:"" help:"Show the hooks in the client's settings, as a policy would run them."`
}

// ProvideSources gives the commands the policy files that apply here.
func (Cmd) ProvideSources(a *cli.App) (policy.Sources, error) { return Sources(a) }

// Sources returns the policy files that apply in the working directory.
func Sources(a *cli.App) (policy.Sources, error) {
	s := answer.Sources(a.Getenv, a.Store.Dir)
	dir, err := os.Getwd()
	if err != nil {
		return s, err
	}
	s.Project = trust.ProjectFile(answer.ProjectAt(dir, s.State))
	return s, nil
}

type schemaCmd struct{}

func (schemaCmd) Run(a *cli.App) error {
	_, err := a.Stdout.Write(config.Schema())
	return err
}

type exampleCmd struct {
	Language string `arg:"" enum:"python,node" help:"python or node."`
}

func (c *exampleCmd) Run(a *cli.App) error {
	text, err := example.Text(c.Language)
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.Stdout, text)
	return err
}
