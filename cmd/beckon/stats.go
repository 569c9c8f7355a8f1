package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/typed"
	"beckon/render"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/history"
	"beckon/state/stats"
	"beckon/state/store"
	"beckon/state/usage"
)

type statsCmd struct {
	Days     int    `default:"7" help:"How many days to count, today included."`
	Since    string `help:"Tell instead what ended, asked and failed in the last 90m or 8h, or since you were last away for ten minutes: away." placeholder:"DURATION"`
	Day      string `aliases:"date" help:"Draw one day instead, a line for each session: when it worked, waited for you, was idle or failed." placeholder:"today, yesterday or 2026-01-31"`
	Timeline bool   `hidden:"" help:"Draw today, as --day today."`
	JSON     bool   `name:"json" help:"Print JSON."`
	cli.Colored
}

// statsJSON is the format of `stats --json`.
type statsJSON struct {
	Schema   int                   `json:"schema"`
	Days     []stats.Day           `json:"days"`
	Projects map[string]*stats.Day `json:"projects"`
	Limits   []limitJSON           `json:"limits"`
}

// limitJSON is a usage limit, as `stats --json` prints it.
type limitJSON struct {
	Account  string    `json:"account,omitempty"`
	Name     string    `json:"name"`
	Used     float64   `json:"used_percentage"`
	ResetsAt time.Time `json:"resets_at"`
	At       time.Time `json:"reported_at"`
}

func (c *statsCmd) Run(a *app) error {
	if c.Days < 1 {
		return cli.Usage("--days %d: must be at least 1", c.Days)
	}
	if c.Since != "" {
		return c.digest(a)
	}
	if c.Timeline || c.Day != "" {
		t, err := a.timeline(c.Day)
		switch {
		case err != nil:
			return err
		case c.JSON:
			return cli.WriteJSON(a.Stdout, t)
		case len(t.Tracks) == 0:
			return a.Printf("nothing was done on this day\n")
		}
		return a.Printf("%s", term.DrawTimeline(t, time.Local, a.Style(c.Color)))
	}
	totals, err := a.statsOf(c.Days)
	if err != nil {
		return err
	}
	used, err := usage.Read(a.Store.Dir, a.Now())
	if err != nil {
		return fmt.Errorf("reading the usage limits: %w", err)
	}
	days, projects := totals.Days, totals.Projects
	if c.JSON {
		totals.Limits = []limitJSON{}
		for _, u := range used {
			for _, w := range u.Windows {
				l := limitJSON{u.Name, w.Name, w.Percent(), w.Resets.Time(), w.At.Time()}
				totals.Limits = append(totals.Limits, l)
			}
		}
		return cli.WriteJSON(a.Stdout, totals)
	}
	st := a.Style(c.Color)
	st.Now = st.Now.In(time.Local)
	if len(days) == 0 {
		return a.Printf("nothing was done in these days\n%s", term.Limits(used, st))
	}
	names := slices.SortedFunc(maps.Keys(projects), func(x, y string) int {
		return cmp.Or(cmp.Compare(projects[y].Busy, projects[x].Busy), cmp.Compare(x, y))
	})
	return a.Printf("%s%s", term.Stats(days, names, projects, st), term.Limits(used, st))
}

// timeline returns what every session did on a local day, from the first activity to the last.
// The day is a date, yesterday, today or "", which is today.
func (a *app) timeline(name string) (render.Timeline, error) {
	now := a.Now().Time().In(time.Local)
	day := now
	switch name {
	case "", "today":
	case "yesterday":
		day = now.AddDate(0, 0, -1)
	default:
		var err error
		if day, err = time.ParseInLocation(time.DateOnly, name, time.Local); err != nil {
			return render.Timeline{}, cli.Usage("--day %q: not today, yesterday or a day like 2026-01-31", name)
		}
	}
	from := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.Local)
	to := from.AddDate(0, 0, 1)
	if to.After(now) {
		to = now
	}
	totals := stats.New(time.Local).Between(from, to)
	if _, err := a.count(totals, from); err != nil {
		return render.Timeline{}, err
	}
	lanes := totals.Lanes()
	if len(lanes) > 0 { // the night before is not shown
		from = lanes[0].Spans[0].From
	}
	of := func(l *stats.Track) *state.Session { return a.sessionOf(store.Key(l.Session), l.Project) }
	return render.NewTimeline(from, to, lanes, of), nil
}

// sessionOf returns the session of a key. One that has been pruned has only its history left, and
// its key is its id.
func (a *app) sessionOf(k store.Key, project string) *state.Session {
	if s, err := a.Store.Load(k); err == nil {
		return &s
	}
	id, part, _ := strings.Cut(string(k), "~")
	return &state.Session{ID: id, Part: part, Cwd: project}
}

// statsOf adds up that many days, counting today.
func (a *app) statsOf(days int) (statsJSON, error) {
	y, m, d := a.Now().Time().Local().Date()
	since := time.Date(y, m, d-days+1, 0, 0, 0, 0, time.Local)
	totals := stats.New(time.Local).From(since.Format(time.DateOnly))
	if _, err := a.count(totals, since); err != nil {
		return statsJSON{}, err
	}
	return statsJSON{Schema: 1, Days: totals.Days(), Projects: totals.Projects()}, nil
}

// count adds the history from since on to totals. The look first records what no hook reported:
// a killed session must not count as at work until now.
func (a *app) count(totals *stats.Totals, since time.Time) ([]state.Seen, error) {
	seen, _, err := a.Look(false)
	if err != nil {
		return nil, err
	}
	return seen, history.Count(a.Store, totals, event.MillisOf(since), seen, a.Now())
}

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
		return a.Printf("you were not away for ten minutes; --since 1h goes back further\n")
	}
	return a.Printf("%s", term.DrawDigest(d, time.Local, a.Style(c.Color)))
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
