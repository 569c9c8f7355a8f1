package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/fleets"
	"beckon/cmd/internal/hook"
	"beckon/render"
	"beckon/render/jump"
	"beckon/state"
)

type jumpCmd struct {
	Session string `arg:"" optional:"" default:"next" help:"${session}; or, of those that need you or ended a turn unseen: next, which goes to each once before it goes to any again, prev, which goes back, or last, the end of the queue (default: next)."`
	All     bool   `help:"With next, prev and last: add the idle sessions that you have seen."`
	Queue   string `hidden:"" enum:",fair,prio,static,grouped,labels" default:"" placeholder:"MODE" help:"Order of next, prev and last: fair, prio, static, grouped or labels (default: as configured)."`
	Client  string `hidden:"" placeholder:"NAME" help:"The tmux client to move (default: the one you are in)."`
	DryRun  bool   `name:"dry-run" help:"Print the commands and run none of them."`
	Quiet   bool   `hidden:"" short:"q" help:"Print nothing when it worked, or when no session needs you."`
	Message bool   `hidden:"" help:"For a key of tmux: show in its status line what went wrong, or that no session needs you; print nothing."`
	Fleet   bool   `help:"The session is on another machine of the fleet: this terminal goes there; name it NAME or HOST:NAME."`
}

func (c *jumpCmd) Run(a *app) error {
	j := fleets.Jumper(a.App)
	j.Client, j.DryRun = c.Client, c.DryRun
	j.Attended = !c.Message && a.Attended()
	ctx := context.Background()
	res, err := c.jump(ctx, a, j)
	switch {
	case c.Message: // output of a key's command, or an exit code, would cover the pane
		if err == nil && res.Did == "" {
			err = errors.New(noTarget)
		}
		if err != nil {
			err = j.Message(ctx, err.Error())
		}
		return err
	case err != nil:
		return err
	case c.DryRun && res.Did != "":
		for _, cmd := range res.Commands {
			fmt.Fprintln(a.Stdout, cmd.String())
		}
		return nil
	case !c.Quiet:
		fmt.Fprintln(a.Stdout, cmp.Or(res.Did, noTarget))
	}
	if res.Become == nil {
		return nil
	}
	code, ok := hook.Become(res.Become.Argv[0], res.Become.Argv[1:])
	if !ok {
		return fmt.Errorf("%s did not start", res.Become.Argv[0])
	}
	return cli.Ended(code)
}

// noTarget is the message when there is nowhere to go.
const noTarget = "no other session needs you"

// jump jumps to a session and marks it as seen, and also the one that the user was in. Without a
// target the result is empty.
func (c *jumpCmd) jump(ctx context.Context, a *app, j *jump.Jumper) (res jump.Result, err error) {
	rows, seen, here, err := c.targets(ctx, a, j)
	if err != nil {
		return res, err
	}
	res, record, err := c.try(ctx, a, j, rows)
	if record == "" || c.DryRun {
		return res, err
	}
	for _, v := range seen {
		switch is := v.Session.Record(); {
		case is == record && v.Session.Seq > 0: // also if it was seen: the next jump goes on from here
			err = errors.Join(err, a.Act(state.Action{Kind: state.ActSeen}, v))
		case is == here:
			err = errors.Join(err, a.MarkSeen(v))
		}
	}
	return res, err
}

// cycles reports whether the target is a place in the queue, not a session.
func (c *jumpCmd) cycles() bool { return slices.Contains([]string{"next", "prev", "last"}, c.Session) }

// targets returns the rows to try, in order, all sessions, and the one that the user is in.
func (c *jumpCmd) targets(ctx context.Context, a *app, j *jump.Jumper) (
	rows []render.Row, seen []state.Seen, here string, err error,
) {
	switch {
	case c.cycles():
	case c.All:
		return nil, nil, "", cli.Usage("--all goes with next, prev and last")
	case c.Fleet:
		row, err := fleets.Find(a.App, c.Session)
		return []render.Row{row}, nil, "", err
	default:
		v, err := a.Find(c.Session)
		if err != nil {
			return nil, nil, "", err
		}
		seen = []state.Seen{v}
		return render.Rows(seen, true), seen, "", nil
	}
	if seen, _, err = a.Look(false); err != nil {
		return nil, nil, "", err
	}
	queue := a.Queue(c.Queue)
	queue.All = c.All
	rows = render.Rows(seen, false)
	if queue.Mode == render.Grouped {
		queue.Window = j.Windows(ctx, rows)
	}
	here, _ = j.Here(ctx, rows)
	order := map[string]func(rows []render.Row, here string) []render.Row{
		"next": queue.After, "prev": queue.Before, "last": queue.FromEnd,
	}
	return order[c.Session](rows, here), seen, here, nil
}

// try jumps to the first of targets that can be shown, and returns its record. In a cycle it passes over
// the others; without any, the error is that of the first that only the user can reach.
func (c *jumpCmd) try(ctx context.Context, a *app, j *jump.Jumper, targets []render.Row) (
	res jump.Result, record string, first error,
) {
	for i := range targets {
		r := &targets[i]
		res, err := j.To(ctx, r)
		if err == nil {
			return res, r.Record(), nil
		}
		if c.cycles() && !c.Quiet && !c.Message {
			fmt.Fprintf(a.Stderr, "beckon: passing over %s: %s\n", cli.ShortID(r.SessionID), err)
		}
		if first == nil && !(c.cycles() && errors.Is(err, jump.ErrGone)) {
			first = fmt.Errorf("jumping to %s %s: %w", cmp.Or(r.ShownName(), string(r.State)), cli.ShortID(r.SessionID), err)
		}
	}
	return res, "", first
}
