package main

import (
	"strings"
	"time"

	"beckon/cmd/internal/hook"
	"beckon/render"
	"beckon/state"
	"beckon/state/store"
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
	case "list":
		c, fits := parseList(args[1:])
		cmd, ok = &c, fits
	}
	if !ok {
		return 0, false
	}
	dir, err := store.Dir(a.getenv)
	if err != nil {
		if args[0] == "statusline" {
			return exitOK, true
		}
		return a.fail(err), true
	}
	a.st, a.command = store.Open(dir), "beckon "+args[0]
	a.st.Texts = hook.Texts(a.getenv)
	return a.fail(cmd.Run(a)), true
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

// rows reads the live sessions' rows without what only a list shows. Problems
// go to the log alone: they do not belong into a prompt.
func (a *app) rows() ([]render.Row, []state.Seen, time.Time, error) {
	defer uncollected()()
	r := a.reader()
	r.SkipMeters = true
	snap, err := r.Look(false)
	a.note(snap.Problems)
	return render.Rows(snap.Seen, false), snap.Seen, clock(snap.Now), err
}
