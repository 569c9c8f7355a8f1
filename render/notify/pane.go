package notify

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/osc"
	"beckon/event/run"
	"beckon/state"
	"beckon/state/alert"
)

// pane is what a session's pane shows.
type pane struct {
	state state.State
	due   event.Millis // of the newest change that a hook has left
	tty   string       // its terminal, as long as the client was there
}

// show has a session's pane show its state, and again until the session rests: no hook reports Esc
// and kill -9.
func (d *Deliverer) show(ctx context.Context, due alert.Due, at event.Millis, seen *state.Seen, now time.Time) {
	p := d.panes[due.Key]
	if p == nil {
		p = &pane{}
		d.panes[due.Key] = p
	}
	st := seen.Status
	p.due = max(p.due, at)
	if at == p.due && st.State != p.state {
		p.state = st.State
		d.Store.Log(p.shows(ctx, d.Settings, seen, now))
	}
	if rests := !st.State.AtWork() && st.Call.At == 0; rests || at < p.due {
		due.Remove(d.Store.Dir)
	}
}

// shows has the pane show its session's state.
func (p *pane) shows(ctx context.Context, set alert.Settings, v *state.Seen, now time.Time) (err error) {
	s, st := &v.Session, v.Status.State
	t := s.Origin.Terminal
	if t.Kind == "herdr" && t.ID != "" && t.ID[0] != '-' {
		word := "idle"
		if v.Status.NeedsYou {
			word = "blocked"
		} else if st.AtWork() {
			word = "working"
		}
		report := run.Program{Limit: programLimit, Argv: []string{
			cmp.Or(os.Getenv("HERDR_BIN_PATH"), "herdr"), "pane", "report-agent", t.ID, "--source", "beckon", "--agent", s.Agent,
			"--state", word, "--message", alert.Headline(s, st), "--seq", strconv.FormatInt(now.UnixMilli(), 10),
		}}
		_, err = report.Output(ctx)
	}
	if set.Has(alert.Pane) && t.Tmux.Pane != "" {
		err = cmp.Or(err, inTmux(ctx, t.Tmux, st))
	}
	if set.Has(alert.Progress) {
		term := terminalOf(s)
		p.tty = cmp.Or(term.device(), p.tty)
		if term.tty = p.tty; term.tty != "" && KeptByTmux(term.Socket) == nil {
			err = cmp.Or(err, term.write(osc.Progress(st.AtWork(), v.Status.NeedsYou), true))
		}
	}
	return err
}

// inTmux sets @beckon_state of a pane, and of its window to the most urgent of its panes. A pane
// without the option has its window's, which is therefore taken away first.
func inTmux(ctx context.Context, at event.Tmux, st state.State) error {
	const option = "@beckon_state"
	set := []string{"set-option", "-p", "-t", at.Pane, option, string(st)}
	if !st.Live() {
		set = []string{"set-option", "-p", "-u", "-t", at.Pane, option}
	}
	out, err := tmux(ctx, at.Socket, append(set, ";", "set-option", "-w", "-u", "-t", at.Pane, option,
		";", "list-panes", "-t", at.Pane, "-F", "#{"+option+"}")...)
	if err != nil {
		return err
	}
	for _, urgent := range state.States {
		if slices.Contains(strings.Fields(out), string(urgent)) {
			_, err = tmux(ctx, at.Socket, "set-option", "-w", "-t", at.Pane, option, string(urgent))
			return err
		}
	}
	return nil
}
