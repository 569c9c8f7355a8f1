package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/config"
	"beckon/event"
	"beckon/event/home"
	"beckon/event/osc"
	"beckon/event/typed"
	"beckon/render/notify"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/store"
)

type notifyCmd struct {
	Test  notifyTestCmd  `cmd:"" help:"Send a notification through the chosen channels."`
	Log   notifyLogCmd   `cmd:"" aliases:"explain" help:"List what was decided: why you were or were not notified."`
	Wait  notifyWaitCmd  `cmd:"" hidden:"" help:"Notify of what hooks left to be notified of, when it is time."`
	Usage notifyUsageCmd `cmd:"" hidden:"" help:"Notify of a usage limit, for the status line."`
	Ask   notifyAskCmd   `cmd:"" hidden:"" help:"Ask the user to answer a pending request."`
}

type notifyTestCmd struct {
	Channels []string `arg:"" optional:"" name:"channel" enum:"terminal,desktop,command,ntfy" help:"Use these channels: terminal, desktop, command, ntfy (default: the configured ones)."`
	Channel  []string `hidden:"" enum:"terminal,desktop,command,ntfy" help:"The same, separated by commas."`
}

func (c *notifyTestCmd) Run(a *app) error {
	set := a.Configured().Alert
	if chosen := append(c.Channels, c.Channel...); len(chosen) > 0 {
		set.Channels = chosen
	}
	if len(set.Channels) == 0 {
		return cli.Hint("beckon setup notify chooses one; beckon notify test CHANNEL tries one", "no channel is chosen")
	}
	note := notify.Note{Schema: notify.Schema, Kind: state.AlertPermission, Test: true, SessionID: "test",
		Title: "beckon needs nothing", Body: "This is a test.", Project: "beckon",
		Since: time.Now().UTC().Truncate(time.Millisecond)}
	var errs []error
	for _, ch := range a.channels(set, a.Stdout) {
		if err := ch.Send(context.Background(), note); err != nil {
			errs = append(errs, fmt.Errorf("channel %s: %w", ch.Name, err))
			continue
		}
		fmt.Fprintf(a.Stdout, "%s: sent\n", ch.Name)
		if ch.Name == alert.Terminal {
			a.printKept()
		}
	}
	return errors.Join(errs...)
}

// printKept says that tmux keeps the terminal's notifications back, if it does.
func (a *app) printKept() {
	if kept := notify.KeptByTmux(a.Getenv("TMUX")); kept != nil {
		fmt.Fprintf(a.Stdout, "terminal: %v\n  hint: %s\n", kept, typed.HintOf(kept))
	}
}

// channels creates the chosen channels. terminal is where the channel of that name writes;
// without one it is left out. So is the title, which only a hook can set.
func (a *app) channels(set alert.Settings, terminal io.Writer) (list []notify.Channel) {
	reach := a.Configured().Reach
	for _, name := range set.Channels {
		switch name {
		case alert.Terminal:
			if terminal != nil {
				t := evidence.Terminal(a.Getenv)
				list = append(list, notify.Terminal{W: terminal, Style: osc.For(t), Socket: t.Tmux.Socket}.Channel())
			}
		case alert.Desktop:
			list = append(list, notify.Desktop(reach.Actions == "true", []string{home.Beside("beckon"), "jump"}))
		case alert.Ntfy:
			list = append(list, (&notify.Phone{Reach: reach, Log: a.Store.Log}).Channel())
		case alert.Command:
			list = append(list, notify.Command(set.Command))
		}
	}
	return list
}

// follower leaves what watch or serve sees to the process that notifies, with --notify.
func (a *app) follower(on bool) *notify.Follower {
	if !on {
		return nil
	}
	return &notify.Follower{Dir: a.Store.Dir, Start: a.Start}
}

type notifyWaitCmd struct{}

func (*notifyWaitCmd) Run(a *app) error {
	set := a.Configured().Alert
	d := notify.Deliverer{
		Store: a.Store, Reader: a.Reader(), Settings: set, Channels: a.channels(set, nil), Start: a.Start,
	}
	if err := d.Wait(context.Background()); err != nil {
		a.Store.Log(fmt.Errorf("notifying: %w", err)) // nobody reads this process's output
	}
	return nil
}

type notifyLogCmd struct {
	Session string `arg:"" optional:"" help:"${session} (default: all)."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

func (c *notifyLogCmd) Run(a *app) error {
	cfg := a.Configured()
	list, err := a.decisions(c.Session)
	if err != nil {
		return err
	}
	list = list[max(0, len(list)-20):] // the newest
	if c.JSON {
		type decision struct {
			At        time.Time       `json:"at"`
			SessionID string          `json:"session_id"`
			Kind      state.AlertKind `json:"kind"`
			Since     time.Time       `json:"since"`
			Verdict   state.Verdict   `json:"verdict"`
			Reason    string          `json:"reason"`
			By        string          `json:"by"`
			Channels  string          `json:"channels,omitempty"`
		}
		out := make([]decision, len(list))
		for i, d := range list {
			out[i] = decision{d.At.Time(), d.Session, d.Kind, d.AlertAt.Time(), d.Verdict, d.Reason, d.By, d.Channels}
		}
		return cli.WriteJSON(a.Stdout, out)
	}
	if len(cfg.Alert.Channels) == 0 {
		fmt.Fprintln(a.Stdout, "notifications are off: no channel is chosen (beckon setup notify)")
	} else {
		fmt.Fprintf(a.Stdout, "channels: %s\n", strings.Join(cfg.Alert.Channels, ", "))
		if cfg.Alert.Has(alert.Terminal) {
			a.printKept()
		}
	}
	day := time.Now().Local().Format(time.DateOnly) // entries of today need no heading
	for _, d := range list {
		when := d.At.Time().Local()
		if on := when.Format(time.DateOnly); on != day {
			day = on
			fmt.Fprintln(a.Stdout, day)
		}
		verdict := map[state.Verdict]string{state.Notify: "sent", state.Later: "not yet", state.Never: "not sent"}[d.Verdict]
		id := event.OneLine(d.Session, 64)
		line := fmt.Sprintf("%s  %-8.8s  %-10s  %-8s  %s", when.Format(time.TimeOnly), id, d.Kind, verdict, d.Reason)
		if d.Channels != "" {
			line += " (" + event.OneLine(d.Channels, 512) + ")"
		}
		fmt.Fprintln(a.Stdout, line)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Stdout, "nothing was decided yet")
	}
	return nil
}

// decisions reads the log of decisions, of one session if named. It adds that session's alerts that
// were claimed but never logged, which happens when the disk is full.
func (a *app) decisions(session string) ([]store.Decided, error) {
	list, err := a.Store.Decisions()
	if err != nil {
		return nil, fmt.Errorf("reading the log of decisions: %w", err)
	}
	if session == "" {
		return list, nil
	}
	v, unknown := a.Find(session)
	id := cmp.Or(v.Session.Record(), session) // one that is forgotten still has its decisions
	list = slices.DeleteFunc(list, func(d store.Decided) bool { return d.Session != id })
	for claim, at := range a.Store.Claims(store.KeyOf(id)) {
		e, ok := state.ParseAlert(claim)
		known := slices.ContainsFunc(list, func(d store.Decided) bool {
			return d.Kind == e.Kind && d.AlertAt == e.At && d.Verdict == state.Notify
		})
		if ok && !known {
			list = append(list, store.Decided{At: at, Session: id, Kind: e.Kind, AlertAt: e.At, Verdict: state.Notify,
				Reason: "taken, and nothing was logged: the disk may have been full, or it is being sent"})
		}
	}
	slices.SortStableFunc(list, func(x, y store.Decided) int { return cmp.Compare(x.At, y.At) })
	if len(list) > 0 {
		unknown = nil
	}
	return list, unknown
}

type notifyUsageCmd struct {
	Account string       `arg:""`
	Limit   string       `arg:""`
	Percent int          `arg:""`
	Resets  event.Millis `arg:""`
	At      event.Millis `arg:""`
}

// Run notifies of a limit. Nobody reads what it prints.
func (c *notifyUsageCmd) Run(a *app) error {
	now, set := time.Now(), a.Configured().Alert
	name := term.LimitName(c.Limit)
	d := store.Decided{At: event.MillisOf(now), Kind: config.Limit, AlertAt: c.At, By: "statusline", Verdict: state.Notify,
		Reason: fmt.Sprintf("%s: %d %% are used", name, c.Percent)}
	if set.Silent(now) {
		d.Verdict, d.Reason = state.Never, state.ReasonQuiet
		a.Store.Log(a.Store.Decide(d))
		return nil
	}
	n := notify.Note{
		Schema:  notify.Schema,
		Kind:    config.Limit,
		Public:  true,
		Project: "usage",
		Title:   fmt.Sprintf("usage limit %s: %d %% used", name, c.Percent),
		Body:    "resets " + term.Moment(c.Resets.Time(), now.Local()),
		Since:   c.At.Time(),
	}
	if c.Account != "" {
		n.Body += "; " + event.OneLine(c.Account, 80)
	}
	d.Channels = notify.Send(context.Background(), a.channels(set, nil), n)
	a.Store.Log(a.Store.Decide(d))
	notify.Wait()
	return nil
}

type notifyAskCmd struct {
	Request string `arg:""`
}

// Run asks the user about a request until it is over. Nobody reads what it prints.
func (c *notifyAskCmd) Run(a *app) error {
	if err := a.askUser(c.Request); err != nil {
		a.Store.Log(fmt.Errorf("asking by a notification: %w", err))
	}
	return nil
}

// waits reports whether the process that waits at o started this one. An agent can run this
// command with its own configuration, but not as a child of the waiting process, which is the
// client's hook or the program that the hook became.
func waits(o *request.Request) bool {
	p, there := evidence.Process(os.Getppid(), evidence.ThisMachine())
	return there && p == o.Waiter
}

func (a *app) askUser(id string) error {
	dir := request.In(a.Store.Dir)
	o, err := dir.Load(id)
	if err != nil {
		return err
	}
	if !waits(&o) {
		return errors.New("only the process that holds the call has its notification answered")
	}
	ctx, over := context.WithDeadline(context.Background(), o.Expires.Time())
	defer over()
	go func() {
		for dir.StillOpen(&o) && waits(&o) && ctx.Err() == nil {
			time.Sleep(time.Second)
		}
		over()
	}()
	var all sync.WaitGroup
	for _, ch := range a.channels(a.Configured().Alert, nil) {
		if ch.Ask == nil {
			continue
		}
		all.Go(func() {
			if err := a.askBy(ctx, over, &ch, &o); err != nil {
				a.Store.Log(fmt.Errorf("asking by %s: %w", ch.Name, err))
			}
		})
	}
	all.Wait()
	notify.Wait()
	return nil
}

// askBy asks through one channel and passes on the answer. If something has changed since the
// request was shown, such as a file that the call edits, it is shown again.
func (a *app) askBy(ctx context.Context, over func(), by *notify.Channel, o *request.Request) error {
	host, dir := evidence.ThisMachine().Host, request.In(a.Store.Dir)
	for {
		ask := notify.AskOf(o, host, by.Rows)
		if dir.HasPIN() {
			ask.Buttons = nil // a button cannot ask for it
		}
		word, become, err := by.Ask(ctx, ask)
		if err != nil || word == "" {
			said := "" // the user dismissed it
			if ctx.Err() != nil {
				dir.Outcome(o.ID, request.Delivery)
				if _, why := dir.Load(o.ID); why != nil {
					said = why.Error()
				}
			}
			become(said)
			return err
		}
		if word == request.Allow && notify.AskOf(o, host, by.Rows).Body != ask.Body {
			become("What it would do has changed since: it is shown again.")
			continue
		}
		ans := request.Answer{Word: word, From: request.Desktop, By: a.User()}
		if by.Name == alert.Ntfy {
			ans.From = request.Phone
		}
		did, err := dir.Answer(o, ans, request.NoPIN)
		over()
		if err != nil {
			did = "not answered: " + err.Error()
		}
		become(did)
		if request.Late(err) {
			return nil
		}
		return err
	}
}
