package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/render"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/stats"
	"beckon/state/store"
)

type statsCmd struct {
	Days int  `default:"7" help:"How many days, today included."`
	JSON bool `name:"json" help:"Print JSON."`
	cli.Colored
}

// statsJSON is the format of `stats --json`.
type statsJSON struct {
	Schema   int                  `json:"schema"`
	Days     []stats.Day          `json:"days"`
	Projects map[string]stats.Day `json:"projects"`
}

func (c *statsCmd) Run(a *app) error {
	if c.Days < 1 {
		return cli.Usage("--days %d: must be at least 1", c.Days)
	}
	totals, err := a.statsOf(c.Days)
	if err != nil {
		return err
	}
	days, projects := totals.Days, totals.Projects
	if c.JSON {
		return cli.WriteJSON(a.Stdout, totals)
	}
	if len(days) == 0 {
		_, err := fmt.Fprintln(a.Stdout, "nothing was done in these days")
		return err
	}
	color := a.ColorChoice(c.Color)
	names := slices.SortedFunc(maps.Keys(projects), func(x, y string) int {
		return cmp.Or(cmp.Compare(projects[y].Busy, projects[x].Busy), cmp.Compare(x, y))
	})
	return term.Stats(a.Stdout, days, names, projects, term.Style{Color: a.Color(color), Width: a.Width()})
}

// statsOf adds up that many days, today included.
func (a *app) statsOf(days int) (statsJSON, error) {
	now := cli.Clock(a.Now()).In(time.Local)
	first := now.AddDate(0, 0, 1-days).Format(time.DateOnly)
	totals, err := a.totals(event.Millis(now.UnixMilli()), first)
	if err != nil {
		return statsJSON{}, err
	}
	return statsJSON{Schema: 1, Days: totals.Days(), Projects: totals.Projects()}, nil
}

// totals folds the journals of every session from the day first on.
func (a *app) totals(now event.Millis, first string) (*stats.Totals, error) {
	// Looking first notes what no hook reported: a killed session must not count as
	// at work until now.
	if _, _, err := a.Look(false); err != nil {
		return nil, err
	}
	keys, err := a.Store.Keys()
	if err != nil {
		return nil, err
	}
	return a.fold(keys, now, first)
}

// fold adds up the journals of keys from the day first on.
func (a *app) fold(keys []store.Key, now event.Millis, first string) (*stats.Totals, error) {
	totals := stats.New(time.Local).From(first)
	for _, k := range keys {
		s := totals.Session()
		err := a.Store.Lines(k, 0, func(l store.Line) { s.Line(l.Change, l.Snapshot) })
		if err != nil && !errors.Is(err, state.ErrNewerSchema) { // the look has told of that one; the others count
			return nil, fmt.Errorf("reading the journal of session %q: %w", string(k), err)
		}
		s.End(now)
	}
	return totals, nil
}

// busy fills in how long each session was at work today.
func (a *app) busy(rows []render.Row, now event.Millis) error {
	keys := make([]store.Key, len(rows))
	for i := range rows {
		keys[i] = store.KeyOf(rows[i].Record())
	}
	totals, err := a.fold(keys, now, cli.Clock(now).In(time.Local).Format(time.DateOnly))
	if err != nil {
		return err
	}
	for i := range rows {
		s := int64(totals.Busy(rows[i].Record()) / time.Second)
		rows[i].Busy = &s
	}
	return nil
}
