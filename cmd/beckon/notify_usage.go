package main

import (
	"context"
	"fmt"
	"time"

	"beckon/cmd/internal/config"
	"beckon/event"
	"beckon/render/notify"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/store"
	"beckon/state/usage"
)

type notifyUsageCmd struct {
	Account string `arg:""`
	Limit   string `arg:""`
	Percent int    `arg:""`
}

func (c *notifyUsageCmd) Run(a *app) error {
	if err := c.notify(a, time.Now()); err != nil {
		a.Store.Log(fmt.Errorf("notifying of a usage limit: %w", err)) // nobody reads this process's output
	}
	return nil
}

func (c *notifyUsageCmd) notify(a *app, now time.Time) error {
	set := a.Configured().Alert
	all, err := usage.In(a.Store.Dir).Read(event.MillisOf(now))
	if err != nil {
		return err
	}
	for _, account := range all {
		for _, w := range account.Windows {
			if account.Name == c.Account && w.Name == c.Limit {
				return c.send(a, set, w, now)
			}
		}
	}
	return nil // the window is over
}

func (c *notifyUsageCmd) send(a *app, set alert.Settings, w usage.Window, now time.Time) error {
	d := store.Decided{At: event.MillisOf(now), Kind: config.Limit, AlertAt: w.At, By: "statusline", Verdict: state.Notify,
		Reason: fmt.Sprintf("%s: %d %% are used", term.LimitName(w.Name), c.Percent)}
	if set.Silent(now) {
		d.Verdict, d.Reason = state.Never, state.ReasonQuiet
		return a.Store.Decide(d)
	}
	n := usageNote(w, c.Percent, c.Account, now)
	d.Channels = notify.Send(context.Background(), a.channels(set, nil), n)
	return a.Store.Decide(d)
}

// usageNote says which limit it is, and when it resets.
func usageNote(w usage.Window, percent int, account string, now time.Time) notify.Note {
	body := "resets " + term.Moment(w.Resets.Time(), now.Local())
	if account != "" {
		body += "; " + event.OneLine(account, 80)
	}
	return notify.Note{
		Schema:  notify.Schema,
		Kind:    config.Limit,
		Public:  true,
		Project: "usage",
		Title:   fmt.Sprintf("usage limit %s: %d %% used", term.LimitName(w.Name), percent),
		Body:    body,
		Since:   w.At.Time(),
	}
}
