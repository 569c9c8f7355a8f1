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
	Check     checkCmd     `cmd:"" help:"Check the policy files for mistakes, and for what is probably not meant."`
	Explain   explainCmd   `cmd:"" help:"Show which hooks are in force, in their order."`
	Test      testCmd      `cmd:"" help:"Try an event: what each hook of the policy says, and what the client would get."`
	Trace     traceCmd     `cmd:"" help:"Show what was decided lately, and by whom."`
	Replay    replayCmd    `cmd:"" help:"Try the policy on your past calls, or show where two policies differ."`
	Trust     trustCmd     `cmd:"" help:"Trust a project's policy as it is now: it is then in force."`
	Accept    acceptCmd    `cmd:"" help:"Accept that a policy file is gone or empty: what it said is then no longer in force."`
	AllowOnce allowOnceCmd `cmd:"" help:"Let a refused call pass once, by the code in its refusal."`
	Enable    enableCmd    `cmd:"" help:"Switch a hook on again."`
	Disable   disableCmd   `cmd:"" help:"Switch a hook off."`
	Import    importCmd    `cmd:"" help:"Show the hooks in the client's settings, as a policy would run them."`
	Schema    schemaCmd    `cmd:"" help:"Print the JSON Schema of a policy file."`
	Example   exampleCmd   `cmd:"" help:"Print a small policy server to start your own from."`
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
