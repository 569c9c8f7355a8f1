package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/doctor"
	"beckon/cmd/internal/fleets"
	"beckon/event/typed"
	"beckon/render"
	"beckon/render/hosts"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/live"
)

type listCmd struct {
	JSON  bool     `name:"json" help:"Print JSON (beckon help json)."`
	All   bool     `help:"Add ended sessions, archived ones, too."`
	State []string `help:"Only sessions in these states, in the words of the list, separated by commas, as permission,done." placeholder:"STATE"`
	Label string   `help:"Only sessions whose label has these words." placeholder:"WORDS"`
	fleets.Flags
	cli.Colored
}

func (c *listCmd) Run(a *app) error {
	wanted, err := parseStates(c.State)
	if err != nil {
		return err
	}
	seen, now, err := a.Look(c.All)
	if err != nil {
		return err
	}
	rows := a.Queue("").Rows(seen, c.All)
	if c.JSON {
		if err := render.AddBusy(rows, a.Store, seen, now); err != nil {
			return err
		}
	}
	remote, others, err := c.Ask(a.App)
	if err != nil {
		return err
	}
	if others != nil {
		remote = slices.DeleteFunc(remote, func(r render.Row) bool { return !c.All && !r.State.Live() })
		rows = hosts.Merge(a.Queue(""), rows, remote)
	}
	rows = slices.DeleteFunc(rows, func(r render.Row) bool { return !wanted(&r) })
	for _, w := range strings.Fields(strings.ToLower(c.Label)) {
		rows = slices.DeleteFunc(rows, func(r render.Row) bool { return !term.Matches(&r, []string{"label:" + w}) })
	}
	if c.JSON {
		list := render.List{Schema: render.ListSchema, GeneratedAt: now.Time(), Sessions: rows}
		return cli.WriteJSON(a.Stdout, struct {
			render.List
			Hosts []render.Host `json:"hosts,omitempty"`
		}{list, others})
	}
	if len(rows) == 0 {
		return a.Printf("%s\n", c.empty(a, len(seen) > 0))
	}
	return a.Printf("%s", term.List(rows, a.Style(c.Color)))
}

// empty returns the text shown instead of an empty list: why there are no sessions, and what
// to do. ended is set if there are sessions that only --all shows.
func (c *listCmd) empty(a *app, ended bool) string {
	switch {
	case c.State != nil:
		return "no session in that state"
	case c.Label != "":
		return "no session with this label"
	case ended:
		return "no sessions; beckon list --all shows those that ended"
	case !doctor.Installed(a.App):
		return "no sessions; the hooks are not installed yet: beckon setup"
	}
	return "no sessions; start an agent anywhere, and it is listed here"
}

// parseStates returns what accepts the rows in the states of --state, in the words of the list or
// those of the JSON; without any, all rows.
func parseStates(names []string) (func(*render.Row) bool, error) {
	for i, n := range names {
		names[i] = strings.ToLower(strings.TrimSpace(n))
		if known := stateNames(); !slices.Contains(known, names[i]) && names[i] != string(state.Backburned) {
			return nil, cli.Usage("%w", cli.Hint(typed.DidYouMean(n, known),
				"--state %q: no such state (one of %s)", n, strings.Join(known, ", ")))
		}
	}
	return func(r *render.Row) bool {
		return len(names) == 0 || slices.Contains(names, string(r.State)) || slices.Contains(names, term.Word(r))
	}, nil
}

func stateNames() []string {
	names := make([]string, len(state.States))
	for i, s := range state.States {
		names[i] = term.Word(&render.Row{State: s})
	}
	return append(names, state.Done, state.Interrupted, state.Fresh)
}

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
	wanted, err := parseStates(c.State)
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
		return (record == "" || r.Record() == record) && wanted(r) && (len(c.State) > 0 || r.NeedsYou)
	}
	row, err := a.await(ctx, found)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return cli.Ended(exitTimeout)
	case err != nil:
		return err
	case c.JSON:
		return cli.WriteJSON(a.Stdout, row)
	}
	return a.Printf("%s", term.List([]render.Row{*row}, a.Style(c.Color)))
}

// await follows the sessions until a row fits, and returns it, of several the one that waits
// longest. It returns ctx's error when ctx ends first.
func (a *app) await(ctx context.Context, fits func(*render.Row) bool) (found *render.Row, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f := live.NewFollower(a.Reader())
	f.Pause = screenPause
	look := func(_ live.Update, err error) {
		for _, r := range a.Queue("").Rows(f.Seen(), false) {
			if err == nil && found == nil && fits(&r) {
				found = &r
				stop()
			}
		}
	}
	u, err := f.Look()
	if look(u, err); err != nil {
		return nil, err
	}
	f.Run(ctx, look)
	if found == nil {
		err = ctx.Err()
	}
	return found, err
}
