package render

import (
	"testing"
	"time"

	"beckon/event"
)

func TestUntil(t *testing.T) {
	now := time.Date(2026, 11, 22, 14, 10, 5, 0, time.FixedZone("", 3600))
	millis := func(t time.Time) event.Millis {
		if t.IsZero() {
			return 0
		}
		return event.MillisOf(t)
	}
	for text, want := range map[string]time.Time{
		"":                     {},
		"30m":                  now.Add(30 * time.Minute),
		" 1d12h ":              now.Add(36 * time.Hour),
		"3d":                   now.Add(72 * time.Hour),
		"2w":                   now.Add(14 * 24 * time.Hour),
		"15:30":                time.Date(2026, 11, 22, 15, 30, 0, 0, now.Location()),
		"14:10":                time.Date(2026, 11, 23, 14, 10, 0, 0, now.Location()), // over for today
		"2026-11-22T13:10:06Z": now.Add(time.Second),
	} {
		if got, err := Until(text, now); err != nil || got != millis(want) {
			t.Errorf("%q: %v %v, want %v", text, got, err, millis(want))
		}
	}
	for text, want := range map[string]error{
		"noon": errUntil, "d": errUntil, "-1h": errUntil, "99999999d": errUntil, "25:00": errUntil,
		"0": errPast, "0s": errPast, "2026-11-22T13:10:05Z": errPast,
	} {
		if got, err := Until(text, now); err != want {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
}
