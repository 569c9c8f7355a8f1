// Package policies implements `beckon policy`, which checks, tries, trusts and logs policies.
package policies

import (
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

func decodeFile(path string, level config.Level) (*config.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading policy: %w", err)
	}
	return config.Decode(path, level, data)
}
