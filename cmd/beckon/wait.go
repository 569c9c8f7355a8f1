package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event/typed"
	"beckon/render"
	"beckon/render/term"
	"beckon/state/live"
)

type waitCmd struct {
	Session string   `arg:"" optional:"" help:"${session} (default: any)."`
	State   []string `help:"Wait for one of these states, in the words of the list, separated by commas (default: any that needs you)." placeholder:"STATE"`
	Timeout string   `help:"Give up after this time, as 90s or 10m, with exit code 124." placeholder:"DURATION"`
	JSON    bool     `name:"json" help:"Print the row as JSON."`
	cli.Colored
}

// exitTimeout is the exit code of coreutils' timeout.
const exitTimeout = 124

// Run prints the first row that is in one of the states, now or later.
func (c *waitCmd) Run(a *app) error {
	want, err := parseStates(c.State)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if c.Timeout != "" {
		d, err := typed.Duration(c.Timeout)
		if err != nil {
			return cli.Usage("--timeout %q: %w", c.Timeout, err)
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	record := ""
	if c.Session != "" {
		v, err := a.Find(c.Session)
		if err != nil {
			return err
		}
		record = v.Session.Record()
	}
	found := func(r *render.Row) bool {
		if record != "" && r.Record() != record {
			return false
		}
		if want == nil {
			return r.NeedsYou
		}
		return inStates(r, want)
	}
	row, now, err := a.await(ctx, found)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return cli.Ended(exitTimeout)
	case err != nil:
		return err
	case c.JSON:
		return cli.WriteJSON(a.Stdout, row)
	}
	style := a.Style(c.Color)
	style.Now = now
	return term.List(a.Stdout, []render.Row{row}, style)
}

// await follows the sessions until a row fits, and returns it, of several the one that waits
// longest. It returns ctx's error when ctx ends first.
func (a *app) await(ctx context.Context, fits func(*render.Row) bool) (row render.Row, now time.Time, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f := live.NewFollower(a.Reader(), live.Options{Pause: screenPause})
	ok := false
	look := func(u live.Update, err error) {
		rows := a.Queue("").Rows(f.Seen(), false)
		i := slices.IndexFunc(rows, func(r render.Row) bool { return fits(&r) })
		if err == nil && !ok && i >= 0 {
			row, now, ok = rows[i], u.Now.Time(), true
			stop()
		}
	}
	u, err := f.Look()
	if look(u, err); err == nil && !ok {
		f.Run(ctx, look)
		err = ctx.Err()
	}
	if ok {
		err = nil
	}
	return row, now, err
}
