package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/fleets"
	"beckon/cmd/internal/talk"
	"beckon/event"
	"beckon/render"
	"beckon/render/notify"
	"beckon/render/tui"
	"beckon/state"
	"beckon/state/history"
	"beckon/state/live"
	"beckon/state/store"
	"beckon/state/usage"
)

type watchCmd struct {
	fleets.Flags
	cli.Colored
	Leave  bool `hidden:"" help:"End after a jump; for a popup, which would hide the pane."`
	Poll   bool `hidden:"" help:"Did poll the files where the system does not report changes."`
	Notify bool `help:"Send notifications through the configured channels, even of what no hook reports."`
}

func (c *watchCmd) Run(a *app) error {
	if !a.Screen() {
		return cli.Hint("beckon list prints to anything",
			"watch needs a terminal on its output, and one that can move its cursor")
	}
	opt := a.watchOptions(a.follower(c.Notify), c.Color)
	opt.Leave = c.Leave
	others, err := c.Others(a.App)
	if err != nil {
		return err
	}
	opt.Others = others.Follow
	talk.Watch(a.App, &opt)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return tui.Run(ctx, opt)
}

// screenPause is the least time between updates of the screen, since changes come in bursts.
const screenPause = 20 * time.Millisecond

// watchOptions returns the functions by which a screen reads and acts. notifier notifies of
// what the screen sees; nil notifies of nothing.
func (a *app) watchOptions(notifier *notify.Follower, color string) tui.Options {
	f := live.NewFollower(a.Reader())
	f.Pause = screenPause
	return tui.Options{
		Follow: func(ctx context.Context, show func(tui.Snapshot, error)) { a.follow(ctx, f, notifier, show) },
		Poke:   f.TouchAll,
		Output: a.Stdout,
		Style:  a.Style(color),
		Queue:  a.Queue(""),

		Recent: a.past,
		Jump:   func(r render.Row) (string, error) { return a.jumpTo(context.Background(), r) },
		Act:    a.actOn,
	}
}

// actOn folds an action of the user on the sessions of rows.
func (a *app) actOn(action state.Action, rows ...render.Row) error {
	if err := a.InAgent("marking a session"); err != nil {
		return err
	}
	seen, _, err := a.Look(true)
	seen = slices.DeleteFunc(seen, func(v state.Seen) bool {
		return !slices.ContainsFunc(rows, func(r render.Row) bool { return r.Record() == v.Session.Record() })
	})
	return cmp.Or(err, a.Act(action, seen...))
}

// jumpTo brings the pane of a row to the front, returns what it did, and marks the session as
// seen.
func (a *app) jumpTo(ctx context.Context, r render.Row) (string, error) {
	res, err := fleets.Jumper(a.App).To(ctx, &r)
	if err != nil {
		return "", err
	}
	if r.Remote != nil || !r.Unseen {
		return res.Did, nil
	}
	return res.Did, a.actOn(state.Action{Kind: state.ActSeen}, r)
}

// The screen shows a session's last recentTurns turns, of its last recentDays days.
const (
	recentTurns = 8
	recentDays  = 3
)

// past returns what the peek panel shows of a session beyond its row. History that cannot be read
// shows no turns; the row says why.
func (a *app) past(r render.Row, s state.Session) tui.Past {
	since := event.MillisOf(s.Updated.Time().AddDate(0, 0, -recentDays))
	turns, _ := history.Turns(a.Store, history.Query{Key: store.KeyOf(s.Record()), Since: since})
	p := tui.Past{Turns: turns[max(0, len(turns)-recentTurns):], Said: a.Said(&s)}
	if r.Question != nil {
		p.Plan = a.Plan(&s, r.Question.Plan)
	}
	return p
}

// follow shows what f follows, until ctx ends: the live sessions and those that ended recently,
// without those that the user removed.
func (a *app) follow(ctx context.Context, f *live.Follower, notifier *notify.Follower, show func(tui.Snapshot, error)) {
	shown, problem := false, ""
	update := func(u live.Update, err error) {
		seen, now := f.Seen(), a.problemLine(u.Problems)
		a.Store.Log(notifier.Look(seen, u.Now.Time()))
		if err == nil && shown && len(u.Changed)+len(u.Gone) == 0 && now == problem && !u.Staged {
			return
		}
		shown, problem = err == nil, now
		s := tui.Snapshot{Now: u.Now.Time(), Still: u.Staged, Problem: problem, Seen: map[string]state.Seen{}}
		s.Limits, _ = usage.Read(a.Store.Dir, u.Now) // stats reports a file that cannot be read
		for _, v := range seen {
			s.Seen[v.Session.Record()] = v
		}
		removed := func(r render.Row) bool { return s.Seen[r.Record()].Session.Removed != 0 }
		s.Rows = slices.DeleteFunc(render.Rows(seen, true), removed)
		show(s, err)
	}
	update(f.Look())
	f.Run(ctx, update)
}

// problemLine says what could not be read, in one line.
func (a *app) problemLine(problems []store.Problem) string {
	switch len(problems) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("reading session %q: %v", string(problems[0].Key), problems[0].Err)
	}
	return fmt.Sprintf("%d session files cannot be read; see %s", len(problems), a.Store.LogFile())
}
