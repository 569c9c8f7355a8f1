package main

import (
	"fmt"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/typed"
	"beckon/render"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/stats"
	"beckon/state/store"
)

// absence is the least time without any action of the user that counts as being away.
const absence = 10 * time.Minute

// digest prints what happened since then.
func (c *statsCmd) digest(a *app) error {
	var back time.Duration
	if c.Since != "away" {
		var err error
		if back, err = typed.Duration(c.Since); err != nil {
			return cli.Usage("--since %q: %w", c.Since, err)
		}
	}
	d, err := a.digest(back)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteJSON(a.Stdout, d)
	}
	if d.Since.IsZero() {
		_, err := fmt.Fprintln(a.Stdout, "you were not away for ten minutes; --since 1h goes back further")
		return err
	}
	return term.DrawDigest(a.Stdout, d, time.Local, a.Style(c.Color))
}

// digest returns what happened in the time back, or if back is zero, since the user was last
// away. Its Since is zero if they never were.
func (a *app) digest(back time.Duration) (render.Digest, error) {
	now := a.Now().Time()
	since := now.Add(-back)
	looks := []time.Time{since}
	if back == 0 { // an absence is usually found in a day
		looks = []time.Time{now.AddDate(0, 0, -1), now.AddDate(0, 0, -7), now.AddDate(-10, 0, 0)}
	}
	for _, from := range looks {
		counted := stats.New(time.Local).Between(time.UnixMilli(0), now)
		seen, err := a.count(counted, from)
		if err != nil {
			return render.Digest{}, err
		}
		if back == 0 {
			at := counted.Away(event.MillisOf(now), absence)
			if at == 0 {
				continue
			}
			since = at.Time()
		}
		lanes := counted.Lanes()
		return render.NewDigest(since, a.Queue("").Rows(a.withArchived(seen, lanes), true), lanes), nil
	}
	return render.Digest{Schema: 1, Sessions: []render.DigestRow{}}, nil
}

// withArchived adds the sessions of the lanes that are archived.
func (a *app) withArchived(seen []state.Seen, lanes []stats.Track) []state.Seen {
	live := make(map[store.Key]bool, len(seen))
	for i := range seen {
		live[store.KeyOf(seen[i].Session.Record())] = true
	}
	for _, l := range lanes {
		k := store.Key(l.Session)
		if live[k] {
			continue
		}
		if s, err := a.Store.Load(k); err == nil {
			v := state.Seen{Session: s, Meter: s.Metered(a.Store.Meter(k))}
			v.Resolve(a.Now())
			seen = append(seen, v)
		}
	}
	return seen
}
