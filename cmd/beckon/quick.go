package main

import (
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/fleets"
	"beckon/cmd/internal/segment"
	"beckon/cmd/internal/talk"
	"beckon/render"
)

// quick runs the commands that a status line, a prompt or a user's eye waits for
// before kong is paid for (half of what the first two cost in all, a fifth of a
// list of 100 sessions), and reports whether it did. What it does not
// understand is left to kong, to help or to complain.
func (a *app) quick(args []string) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	var cmd interface{ Run(*app) error }
	switch args[0] {
	case "statusline":
		c, fits := segment.ParseStatusline(args[1:])
		cmd, ok = &statuslineCmd{c}, fits
	case "prompt":
		c, fits := segment.ParsePrompt(args[1:])
		cmd, ok = &promptCmd{c}, fits
	case "mod":
		if len(args) == 2 && !strings.HasPrefix(args[1], "-") {
			cmd, ok = shared{&talk.ModCmd{Session: args[1]}}, true
		}
	case "list":
		c, fits := parseList(args[1:])
		cmd, ok = &c, fits
	}
	if !ok {
		return 0, false
	}
	return segment.Run(a.App, args[0], func() error { return cmd.Run(a) }), true
}

// shared is a command of a package of its own.
type shared struct {
	cmd interface{ Run(*cli.App) error }
}

// Run runs it.
func (c shared) Run(a *app) error { return c.cmd.Run(a.App) }

type promptCmd struct{ segment.Prompt }

func (c *promptCmd) Run(a *app) error { return c.Show(a.App, a.inFleet) }

type statuslineCmd struct{ segment.Statusline }

func (c *statuslineCmd) Run(a *app) error { return c.Show(a.App, a.inFleet) }

// inFleet adds the sessions of other machines that are known here to rows.
func (a *app) inFleet(rows []render.Row) []render.Row {
	return fleets.Merge(rows, fleets.Known(a.App))
}
