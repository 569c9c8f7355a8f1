package main

import (
	"errors"
	"fmt"
	"time"

	"beckon/event"
	"beckon/state"
)

type backburnerCmd struct {
	Session string `arg:"" help:"${session}."`
	Off     bool   `help:"Take it back." xor:"when"`
	Until   string `help:"When it comes back by itself: after 90m or 2h, or at 15:30." placeholder:"WHEN" xor:"when"`
}

func (c *backburnerCmd) Run(a *app) error {
	now := time.UnixMilli(int64(a.reader().Now(time.Now())))
	until, err := parseUntil(c.Until, now)
	if err != nil {
		return usageError{fmt.Errorf("--until %q: %w", c.Until, err)}
	}
	v, err := a.find(c.Session)
	if err != nil {
		return err
	}
	if !v.Status.State.Live() {
		return hint("beckon remove takes it off the list", "session %q is over", v.Session.ID)
	}
	action := state.Action{Kind: state.ActBackburner, Until: until}
	if c.Off {
		action.Kind = state.ActBackburnerOff
	}
	return a.act(v, action)
}

// parseUntil reads a duration from now, or the next time that the clock shows
// hours:minutes. Empty is 0: no end.
func parseUntil(s string, now time.Time) (event.Millis, error) {
	if s == "" {
		return 0, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		if d <= 0 {
			return 0, errors.New("that is not later")
		}
		return event.Millis(now.Add(d).UnixMilli()), nil
	}
	clock, err := time.Parse("15:04", s)
	if err != nil {
		return 0, errors.New("neither a duration like 2h nor a time like 15:30")
	}
	at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	if !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return event.Millis(at.UnixMilli()), nil
}
