package render

import (
	"errors"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/typed"
	"beckon/state"
)

var (
	errUntil = errors.New(typed.ErrDuration.Error() + "; a time looks like 15:30 or 2030-01-02T15:04:05Z")
	errPast  = errors.New("that is not later")
)

// Until parses when a session that is set aside comes back: after a duration ("3d"), at the
// next time that the clock in now's zone shows hours and minutes ("15:30"), or at a time (RFC
// 3339), or once it is "needed". Empty is 0: not by itself.
func Until(s string, now time.Time) (event.Millis, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, nil
	} else if s == "needed" {
		return state.UntilNeeded, nil
	}
	var at time.Time
	d, err := typed.Duration(s)
	if err == nil {
		at = now.Add(d)
	} else if clock, err := time.Parse("15:04", s); err == nil {
		at = time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
	} else if at, err = time.Parse(time.RFC3339, s); err != nil {
		return 0, errUntil
	}
	if !at.After(now) {
		return 0, errPast
	}
	return event.MillisOf(at), nil
}
