package main

import (
	"fmt"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/duration"
	"beckon/render"
	"beckon/render/term"
	"beckon/state/stats"
)

type digestCmd struct {
	Since string `help:"How far to look back, as 90m or 8h (default: since you were last away for ten minutes or more)." placeholder:"DURATION"`
	JSON  bool   `name:"json" help:"Print JSON."`
	cli.Colored
}

// absence is the least time without any action of the user that counts as being away.
const absence = 10 * time.Minute

func (c *digestCmd) Run(a *app) error {
	var back time.Duration
	if c.Since != "" {
		var err error
		if back, err = duration.Parse(c.Since); err != nil {
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
	counted := stats.New(time.Local).Between(time.UnixMilli(0), now)
	if err := a.foldAll(counted); err != nil {
		return render.Digest{}, err
	}
	if back == 0 {
		at := counted.Away(event.MillisOf(now), absence)
		if at == 0 {
			return render.Digest{Schema: 1, Sessions: []render.DigestRow{}}, nil
		}
		since = at.Time()
	}
	seen, _, err := a.Look(true)
	if err != nil {
		return render.Digest{}, err
	}
	return render.NewDigest(since, render.Rows(seen, true), counted.Lanes()), nil
}
