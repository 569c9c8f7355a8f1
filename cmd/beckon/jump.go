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
	JSON    bool   `name:"json" help:"Print JSON."`
	Fleet   bool   `help:"The session is on another machine of the fleet: this terminal goes there; name it NAME or HOST:NAME."`
}

// jumped is what `jump --json` prints.
type jumped struct {
	Schema    int    `json:"schema"`
	SessionID string `json:"session_id,omitempty"` // empty: no session needs you
	record    string
	become    *jump.Command
	Done      bool           `json:"done"` // the pane is in front
	Did       string         `json:"did,omitempty"`
	Why       string         `json:"why,omitempty"`  // why it is not
	Hint      string         `json:"hint,omitempty"` // what to do by hand
	Commands  []jump.Command `json:"commands,omitempty"`
	Skipped   []skipped      `json:"skipped,omitempty"`
}

// skipped is a session that next or prev passed over.
type skipped struct {
	SessionID string `json:"session_id"`
	Why       string `json:"why"`
}

func (c *jumpCmd) Run(a *app) error {
	j := fleets.Jumper(a.App)
	j.Client, j.DryRun = c.Client, c.DryRun
	j.Attended = !c.Message && !c.JSON && a.Attended()
	ctx := context.Background()
	out, err := c.jump(ctx, a, j)
	if c.Message { // output of a key's command, or an exit code, would cover the pane
		if err == nil && out.SessionID == "" {
			err = errors.New(noTarget)
		}
		if err != nil {
			err = j.Message(ctx, err.Error())
		}
		return err
	}
	if err := c.report(a, &out, err); err != nil || out.become == nil || c.DryRun {
		return err
	}
	code, ok := hook.Become(out.become.Argv[0], out.become.Argv[1:])
	switch {
	case !ok:
		return fmt.Errorf("%s did not start", out.become.Argv[0])
	case code != 0:
		return cli.ErrSilent
	}
	return nil
}

// jump jumps to a session and marks it as seen, and also the one that the user was in.
func (c *jumpCmd) jump(ctx context.Context, a *app, j *jump.Jumper) (jumped, error) {
	out := jumped{Schema: render.ListSchema}
	rows, seen, here, err := c.targets(ctx, a, j)
	if err != nil {
		return out, err
	}
	err = out.try(ctx, j, rows, c.cycles())
	if !out.Done || c.DryRun {
		return out, err
	}
	for _, v := range seen {
		switch v.Session.Record() {
		case out.record:
			err = errors.Join(err, a.Visit(v))
		case here:
			err = errors.Join(err, a.MarkSeen(v))
		}
	}
	return out, err
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
	switch c.Session {
	case "next":
		return queue.After(rows, here), seen, here, nil
	case "prev":
		return queue.Before(rows, here), seen, here, nil
	}
	return queue.FromEnd(rows, here), seen, here, nil
}

// try jumps to the first of targets that can be shown. In a cycle it skips the ones that are
// gone, and falls back to one that only the user can reach if no other can be shown.
func (o *jumped) try(ctx context.Context, j *jump.Jumper, targets []render.Row, cycle bool) error {
	var first error
	for i := range targets {
		r := &targets[i]
		res, err := j.To(ctx, r)
		if err == nil {
			o.become = res.Become
			o.SessionID, o.record, o.Done, o.Did, o.Commands = r.SessionID, r.Record(), true, res.Did, res.Commands
			o.Why, o.Hint = "", ""
			return nil
		}
		if cycle {
			o.Skipped = append(o.Skipped, skipped{r.SessionID, err.Error()})
		}
		if first == nil && !(cycle && errors.Is(err, jump.ErrGone)) {
			first = fmt.Errorf("jumping to %s %s: %w", cmp.Or(r.ShownName(), string(r.State)), cli.ShortID(r.SessionID), err)
			o.SessionID, o.Why, o.Hint = r.SessionID, err.Error(), render.HintOf(err)
		}
	}
	return first
}

// noTarget is the message when there is nowhere to go.
const noTarget = "no other session needs you"

func (c *jumpCmd) report(a *app, out *jumped, err error) error {
	switch {
	case c.JSON && (err == nil || out.SessionID != ""):
		if e := cli.WriteJSON(a.Stdout, out); e != nil || err == nil {
			return e
		}
		return cli.ErrSilent
	case err != nil || c.Quiet:
		return err
	}
	for _, s := range out.Skipped {
		fmt.Fprintf(a.Stderr, "beckon: passing over %s: %s\n", cli.ShortID(s.SessionID), s.Why)
	}
	if c.DryRun && out.SessionID != "" {
		for _, cmd := range out.Commands {
			fmt.Fprintln(a.Stdout, cmd.String())
		}
		return nil
	}
	_, err = fmt.Fprintln(a.Stdout, cmp.Or(out.Did, noTarget))
	return err
}
