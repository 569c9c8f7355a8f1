package main

import (
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/talk"
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
		c, fits := parseStatusline(args[1:])
		cmd, ok = &c, fits
	case "prompt":
		c, fits := parsePrompt(args[1:])
		cmd, ok = &c, fits
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
	if err := a.Open(); err != nil {
		if args[0] == "statusline" {
			return cli.ExitOK, true
		}
		return a.Fail(err), true
	}
	a.Command, a.Unwarned = "beckon "+args[0], args[0] != "list"
	return a.Fail(cmd.Run(a)), true
}

// flags reads "--name value" and "--name=value" into values and "--name" into
// switches. It reports whether it understood all of args.
func flags(args []string, values map[string]*string, switches map[string]*bool) bool {
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(args[i], "=")
		switch {
		case switches[name] != nil && !has:
			*switches[name] = true
		case values[name] == nil:
			return false
		case has:
			*values[name] = value
		case i+1 < len(args):
			i++
			*values[name] = args[i]
		default:
			return false
		}
	}
	return true
}

// shared is a command of a package of its own.
type shared struct {
	cmd interface{ Run(*cli.App) error }
}

// Run runs it.
func (c shared) Run(a *app) error { return c.cmd.Run(a.App) }
