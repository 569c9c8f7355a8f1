package main

import (
	"beckon/cmd/internal/hook"
	handlers "beckon/event/policy/run"
)

// hookCmd exists for its help; run handles the command before kong.
type hookCmd struct {
	Event string `arg:"" optional:"" help:"The event's name, when the payload has none."`
	Agent string `help:"Which agent sends the payload." default:"claude-code"`
	Via   string `help:"Which install the entry belongs to: plugin, or nothing." placeholder:"NAME"`
}

func (c *hookCmd) Run(a *app) error {
	args := []string{c.Event, "--agent", c.Agent, "--via", c.Via}
	hook.Main(args, a.Stdin, a.Stdout, a.Stderr, a.Getenv, handlers.Starter{})
	return nil
}
