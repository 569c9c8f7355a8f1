package main

import (
	"cmp"
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

// historyJSON is the format of `history --json`.
type historyJSON struct {
	Schema int               `json:"schema"`
	Turns  []render.TurnLine `json:"turns"`
}

func (c *historyCmd) Run(a *app) error {
	switch {
	case c.Days < 1:
		return cli.Usage("--days %d: must be at least 1", c.Days)
	case c.Limit < 0:
		return cli.Usage("--limit %d: must not be negative", c.Limit)
	}
	lines, err := c.search(a)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteJSON(a.Stdout, historyJSON{Schema: 1, Turns: lines})
	}
	if len(lines) == 0 {
		return a.Printf("nothing was said that fits\n")
	}
	return a.Printf("%s", term.Turns(lines, c.Session == "", time.Local, a.Style(c.Color)))
}

// search finds the turns, and also records what the transcripts of live sessions add.
func (c *historyCmd) search(a *app) ([]render.TurnLine, error) {
	seen, err := c.sessions(a)
	if err != nil {
		return nil, err
	}
	q := history.Query{Words: c.Words, Since: event.MillisOf(a.Now().Time().AddDate(0, 0, -c.Days))}
	known := map[store.Key]*state.Session{}
	if c.Session != "" {
		q.Key = store.KeyOf(seen[0].Session.Record())
	}
	turns, err := history.Turns(a.Store, q)
	if err != nil {
		return nil, err
	}
	lines := make([]render.TurnLine, 0, len(turns))
	for _, t := range turns {
		if known[t.Key] == nil {
			known[t.Key] = a.sessionOf(t.Key, "")
		}
		line := render.TurnLineOf(known[t.Key], t)
		if c.Project == "" || strings.EqualFold(line.Project, c.Project) {
			lines = append(lines, line)
		}
	}
	if n := len(lines) - c.Limit; c.Limit > 0 && n > 0 {
		lines = lines[n:]
	}
	return lines, nil
}

// sessions returns the session that was asked for, or the live ones, with what their transcripts
// add.
func (c *historyCmd) sessions(a *app) (seen []state.Seen, err error) {
	if c.Session != "" {
		v, err := a.Find(c.Session)
		if err != nil {
			return nil, err
		}
		return []state.Seen{v}, history.Sweep(a.Store, &v.Session)
	}
	if seen, _, err = a.Look(false); err != nil {
		return nil, err
	}
	for i := range seen {
		if !seen[i].Status.State.Live() {
			continue // swept before it was archived
		}
		if err := history.Sweep(a.Store, &seen[i].Session); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// turnsOf returns what was said in a session.
func (a *app) turnsOf(s *state.Session) ([]render.TurnLine, error) {
	if err := history.Sweep(a.Store, s); err != nil {
		return nil, err
	}
	turns, err := history.Turns(a.Store, history.Query{Key: store.KeyOf(s.Record()), Since: s.Created})
	return render.TurnLines(s, turns), err
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
	row := render.Rows([]state.Seen{v}, true)[0]
	turns, err := a.turnsOf(&v.Session)
	if err != nil {
		return err
	}
	turns = turns[max(0, len(turns)-max(c.Turns, 0)):]
	if c.JSON {
		return cli.WriteJSON(a.Stdout, showJSON{row, turns})
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
	asks, err := talk.Requests(a.App, v.Session.Record())
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

// showJSON is the format of `show --json`.
type showJSON struct {
	render.Row
	Turns []render.TurnLine `json:"turns"`
}
