package main

import (
	"strings"

	"beckon/cmd/internal/fleets"
	"beckon/cmd/internal/segment"
	"beckon/cmd/internal/talk"
	"beckon/render"
	"beckon/render/hosts"
)

// quick runs the commands that a status line, a prompt or a user waits for, without kong (half
// of the cost of the first two, a fifth of a list of 100 sessions), and reports whether it
// did. It leaves arguments that it does not understand to kong, to print help or an error.
func (a *app) quick(args []string) (code int, ok bool) {
	if code, ok := segment.Main(a.App, args, a.inFleet); ok || len(args) == 0 {
		return code, ok
	}
	var show func() error
	switch args[0] {
	case "mod":
		ok = len(args) == 2 && !strings.HasPrefix(args[1], "-")
		show = func() error { return (&talk.ModCmd{Session: args[1]}).Run(a.App) }
	case "list":
		c, fits := parseList(args[1:])
		ok, show = fits, func() error { return c.Run(a) }
	}
	if !ok {
		return 0, false
	}
	return segment.Run(a.App, args[0], show), true
}

type promptCmd struct{ segment.Prompt }

func (c *promptCmd) Run(a *app) error { return c.Show(a.App, a.inFleet) }

type statuslineCmd struct{ segment.Statusline }

func (c *statuslineCmd) Run(a *app) error { return c.Show(a.App, a.inFleet) }

// inFleet adds the known sessions of other machines to rows.
func (a *app) inFleet(rows []render.Row) []render.Row {
	return hosts.Merge(a.Queue(""), rows, fleets.Known(a.App))
}
