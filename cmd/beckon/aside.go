package main

import (
	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/state"
)

type asideCmd struct {
	Session string `arg:"" help:"${session}."`
	Off     bool   `help:"Bring it back now." xor:"when"`
	Until   string `help:"When it comes back by itself: after 2h or 3d, or at 15:30 (default: only by your next prompt)." placeholder:"WHEN" xor:"when"`
}

func (c *asideCmd) Run(a *app) error {
	now := a.Now().Time().Local()
	until, err := render.Until(c.Until, now)
	if err != nil {
		return cli.Usage("--until %q: %w", c.Until, err)
	}
	v, err := a.Find(c.Session)
	if err != nil {
		return err
	}
	if !v.Status.State.Live() {
		return cli.Hint("beckon remove takes it off the list", "session %q is over", v.Session.ID)
	}
	if c.Off {
		return a.Act(v, state.Action{Kind: state.ActBackburnerOff})
	}
	return a.Act(v, state.Action{Kind: state.ActBackburner, Until: until})
}

type removeCmd struct {
	Session string `arg:"" help:"${session}."`
}

func (c *removeCmd) Run(a *app) error {
	v, err := a.Find(c.Session)
	if err != nil {
		return err
	}
	return a.Act(v, state.Action{Kind: state.ActRemove})
}
