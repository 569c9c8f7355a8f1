package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/hosts"
	"beckon/render/jump"
	"beckon/render/notify"
	"beckon/render/tui"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"

	"github.com/charmbracelet/colorprofile"
)

type watchCmd struct {
	Host  []string `sep:"none" help:"Also the sessions of another machine, asked by ssh; can be given more than once." placeholder:"ssh:NAME"`
	Once  bool     `help:"Print one screen and exit; for scripts."`
	Width int      `help:"Columns of --once (default: $$COLUMNS, the terminal's, else 80)." placeholder:"N"`
	colored
	Queue  string `enum:",fair,prio,static,grouped" default:"" aliases:"sort" placeholder:"MODE" help:"Order within a group: fair, prio, static, grouped (default: as configured)."`
	Group  string `enum:"need,project,host,none" default:"need" help:"Headings: need, project, host, none."`
	Leave  bool   `help:"End when a jump worked: for a popup, which lies over the pane."`
	Notify bool   `help:"Also notify through the configured channels, of what no hook reports, too."`
	Poll   bool   `help:"Look twice a second instead of waiting for the system to report changes."`
}

func (c *watchCmd) Run(a *app) error {
	if c.Width < 0 {
		return usageError{fmt.Errorf("--width %d: must not be negative", c.Width)}
	}
	choice, err := a.colorChoice(c.Color)
	if err != nil {
		return err
	}
	queue, err := a.queue(c.Queue)
	if err != nil {
		return err
	}
	look := a.looker()
	if c.Notify {
		if look.notifier, err = a.follower("watch", a.stdout); err != nil {
			return err
		}
		defer look.notifier.Wait()
	}
	opt := look.options()
	opt.Order, opt.PermissionFirst = queue.Mode, queue.PermissionFirst
	opt.Grouping, opt.Poll, opt.Leave = tui.Grouping(c.Group), c.Poll, c.Leave
	if opt.Sources, err = a.otherHosts(c.Host); err != nil {
		return err
	}
	if c.Once {
		opt.Color = a.color(choice)
		return tui.Once(colorprofile.NewWriter(a.stdout, a.onceEnviron(opt.Color)), opt, a.pageWidth(c.Width))
	}
	if a.width() == 0 {
		return hint("--once prints one screen to anything", "watch needs a terminal on its output")
	}
	opt.Color = a.color(choice)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return tui.Run(ctx, opt)
}

// onceEnviron makes the profile of colours what the user chose, whatever
// stdout is.
func (a *app) onceEnviron(color bool) []string {
	env := []string{"TERM=" + a.getenv("TERM"), "COLORTERM=" + a.getenv("COLORTERM")}
	if color {
		return append(env, "CLICOLOR_FORCE=1")
	}
	return append(env, "NO_COLOR=1")
}

// pageWidth returns the columns of a page for a script.
func (a *app) pageWidth(flag int) int {
	if flag > 0 {
		return flag
	}
	if w := a.width(); w > 0 {
		return w
	}
	if n, err := strconv.Atoi(a.getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return 80
}

// watchOptions gives a screen that only looks its eyes and hands.
func (a *app) watchOptions() tui.Options { return a.looker().options() }

// options gives the screen its eyes and hands.
func (l *looker) options() tui.Options {
	a := l.a
	return tui.Options{
		Look: l.look, Dirs: []string{a.st.SessionsDir(), filepath.Join(a.claudeDir(), "sessions")}, Output: a.stdout,
		Recent:   a.recentTurns,
		Jump:     func(r render.Row) (string, error) { return a.jumpTo(context.Background(), r) },
		MarkSeen: func(r render.Row) error { return a.actOn(r, state.Action{Kind: state.ActSeen}) },
		Remove:   func(r render.Row) error { return a.actOn(r, state.Action{Kind: state.ActRemove}) },
		Backburner: func(r render.Row, until event.Millis, off bool) error {
			if off {
				return a.actOn(r, state.Action{Kind: state.ActBackburnerOff})
			}
			return a.actOn(r, state.Action{Kind: state.ActBackburner, Until: until})
		},
	}
}

// actOn folds what the user did to the session of a row.
func (a *app) actOn(r render.Row, action state.Action) error {
	v, err := a.find(r.Record())
	if err != nil {
		return err
	}
	return a.act(v, action)
}

// jumpTo brings the pane of a row to the front, says what it did, and notes
// that the session was looked at.
func (a *app) jumpTo(ctx context.Context, r render.Row) (string, error) {
	res, err := jump.New(a.getenv).To(ctx, &r)
	if err != nil {
		return "", hinted{err, hintOf(err)}
	}
	if r.Remote != nil || !r.Unseen {
		return res.Did, nil
	}
	return res.Did, a.actOn(r, state.Action{Kind: state.ActSeen})
}

// otherHosts are the other hosts that specs name.
func (a *app) otherHosts(specs []string) ([]tui.Source, error) {
	var all []tui.Source
	for _, spec := range specs {
		h, err := hosts.Open(a.st, spec)
		if err != nil {
			return nil, usageError{err}
		}
		last, was := h.Snapshot()
		src := tui.Source{Name: was[0].Name, Last: last, Rows: func(ctx context.Context) ([]render.Row, error) { return ask(ctx, h) }}
		if was[0].AsOf != nil {
			src.LastAt = *was[0].AsOf
		}
		all = append(all, src)
	}
	return all, nil
}

// ask asks one host.
func ask(ctx context.Context, h *hosts.Hosts) ([]render.Row, error) {
	h.Poll(ctx)
	rows, is := h.Snapshot()
	if is[0].Stale {
		return nil, errors.New(is[0].Error)
	}
	return rows, nil
}

// Of a session's turns the screen shows the last recentTurns, and of its
// journal it reads about the last recentLines lines for them.
const (
	recentTurns = 8
	recentLines = 1000
)

func (a *app) recentTurns(r render.Row, seq int64) []tui.Line {
	var lines []tui.Line
	// A journal that cannot be read shows no turns; the row says why.
	_ = a.st.Turns(store.KeyOf(r.Record()), max(0, seq-recentLines), func(t store.Turn) {
		who := "agent"
		if t.Actor == state.SpeakerUser {
			who = "you"
		}
		if len(lines) == recentTurns {
			lines = append(lines[:0], lines[1:]...)
		}
		lines = append(lines, tui.Line{At: clock(t.At), Who: who, Text: t.Text})
	})
	return lines
}

// looker looks again and again, and keeps what did not change.
type looker struct {
	a        *app
	r        *evidence.Reader
	notifier *notify.Follower // nil: notifies of nothing
}

func (a *app) looker() *looker { return &looker{a: a, r: a.reader().Keep()} }

// look makes a snapshot of the live sessions and of those that ended lately.
// What the user removed is not shown.
func (l *looker) look() (tui.Snapshot, error) {
	now := l.r.Now(time.Now())
	seen, problems, err := l.r.Look(now, false)
	if err != nil {
		return tui.Snapshot{}, err
	}
	if l.notifier != nil {
		l.notifier.Look(context.Background(), seen, clock(now))
	}
	s := tui.Snapshot{Now: clock(now), Still: l.r.Staged(), Seen: make(map[string]state.Seen, len(seen))}
	for _, v := range seen {
		s.Seen[v.Session.Record()] = v
	}
	s.Rows = slices.DeleteFunc(render.Rows(seen, true), func(r render.Row) bool { return s.Seen[r.Record()].Session.Removed != 0 })
	switch len(problems) {
	case 0:
	case 1:
		s.Problem = fmt.Sprintf("reading session %q: %v", string(problems[0].Key), problems[0].Err)
	default:
		s.Problem = fmt.Sprintf("%d session files cannot be read; see %s", len(problems), l.a.st.LogFile())
	}
	return s, nil
}
