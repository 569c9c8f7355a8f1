package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/talk"
	"beckon/event"
	"beckon/render"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/history"
	"beckon/state/store"
)

type historyCmd struct {
	Words   []string `arg:"" optional:"" help:"Only turns whose text has all these words, in upper or lower case."`
	Session string   `help:"Only this session." placeholder:"SESSION"`
	Project string   `help:"Only the sessions of this project." placeholder:"NAME"`
	Days    int      `default:"30" help:"How many days to look back."`
	Limit   int      `default:"200" help:"How many of the newest turns to print; 0 prints all."`
	JSON    bool     `name:"json" help:"Print JSON."`
	cli.Colored
}

func (c *historyCmd) Run(a *app) error {
	switch {
	case c.Days < 1:
		return cli.Usage("--days %d: must be at least 1", c.Days)
	case c.Limit < 0:
		return cli.Usage("--limit %d: must not be negative", c.Limit)
	}
	q := history.Query{Words: c.Words, Since: event.MillisOf(a.Now().Time().AddDate(0, 0, -c.Days))}
	var seen []state.Seen
	var err error
	if c.Session == "" {
		seen, _, err = a.Look(false)
	} else {
		seen = make([]state.Seen, 1)
		seen[0], err = a.Find(c.Session)
		q.Key = store.KeyOf(seen[0].Session.Record())
	}
	if err != nil {
		return err
	}
	lines, err := a.turns(seen, q)
	if err != nil {
		return err
	}
	if c.Project != "" {
		other := func(l render.TurnLine) bool { return !strings.EqualFold(l.Project, c.Project) }
		lines = slices.DeleteFunc(lines, other)
	}
	if c.Limit > 0 {
		lines = lines[max(0, len(lines)-c.Limit):]
	}
	if c.JSON {
		return cli.WriteJSON(a.Stdout, struct {
			Schema int               `json:"schema"`
			Turns  []render.TurnLine `json:"turns"`
		}{1, lines})
	}
	if len(lines) == 0 {
		return a.Printf("nothing was said that fits\n")
	}
	return a.Printf("%s", term.Turns(lines, c.Session == "", time.Local, a.Style(c.Color)))
}

// turns returns the turns that q selects, after it recorded what the transcripts of seen add.
func (a *app) turns(seen []state.Seen, q history.Query) ([]render.TurnLine, error) {
	for i := range seen {
		if q.Key == "" && !seen[i].Status.State.Live() {
			continue // swept before it was archived
		}
		if err := history.Sweep(a.Store, &seen[i].Session); err != nil {
			return nil, err
		}
	}
	turns, err := history.Turns(a.Store, q)
	lines := make([]render.TurnLine, len(turns))
	known := map[store.Key]*state.Session{}
	for i, t := range turns {
		if known[t.Key] == nil {
			known[t.Key] = a.sessionOf(t.Key, "")
		}
		lines[i] = render.TurnLineOf(known[t.Key], t)
	}
	return lines, err
}

type showCmd struct {
	Session string `arg:"" help:"${session}."`
	Why     bool   `help:"Print instead which fact decided its state, and what it overrode."`
	Turns   int    `hidden:"" default:"10" help:"How many of the newest turns to print; 0 prints none."`
	JSON    bool   `name:"json" help:"Print JSON: the row as in list --json, and the turns."`
	cli.Colored
}

func (c *showCmd) Run(a *app) error {
	v, err := a.Find(c.Session)
	if err != nil {
		return err
	}
	if c.Why && c.JSON {
		return cli.Usage("--json does not go with --why")
	} else if c.Why {
		now := a.Now()
		return a.Printf("%s", term.Explain(v, state.Explain(v.Session, v.Evidence, now), now.Time()))
	}
	seen := []state.Seen{v}
	row := render.Rows(seen, true)[0]
	turns, err := a.turns(seen, history.Query{Key: store.KeyOf(v.Session.Record()), Since: v.Session.Created})
	if err != nil {
		return err
	}
	turns = turns[max(0, len(turns)-max(c.Turns, 0)):]
	if c.JSON {
		return cli.WriteJSON(a.Stdout, struct {
			render.Row
			Turns []render.TurnLine `json:"turns"`
		}{row, turns})
	}
	if a.InAgent("") == nil { // what an agent reads, the user has not seen
		if err := a.MarkSeen(v); err != nil {
			return err
		}
	}
	style := a.Style(c.Color)
	if row.Question != nil {
		row.Question.Plan = cmp.Or(a.Plan(&v.Session, row.Question.Plan), row.Question.Plan)
	}
	asks, err := talk.Requests(a.App, v.Session.Record(), false)
	if err != nil {
		return err
	}
	_ = a.Printf("%s", term.Show(&row, &v.Session, style))
	for i := range asks {
		_ = a.Printf("\n")
		talk.Show(a.App, &asks[i])
	}
	return a.Printf("%s%s", term.Turns(turns, false, time.Local, style), term.Said(a.Said(&v.Session), style))
}
