package main

import (
	"cmp"
	"fmt"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/talk"
	"beckon/render"
	"beckon/render/term"
	"beckon/state"
)

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
		return term.Explain(a.Stdout, v, state.Explain(v.Session, v.Evidence, now), now.Time())
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
	if err := term.Show(a.Stdout, &row, &v.Session, style); err != nil {
		return err
	}
	asks, err := talk.Requests(a.App, v.Session.Record())
	if err != nil {
		return err
	}
	for i := range asks {
		fmt.Fprintln(a.Stdout)
		talk.Show(a.App, &asks[i])
	}
	if len(turns) > 0 {
		if err := term.Turns(a.Stdout, turns, false, time.Local, style); err != nil {
			return err
		}
	}
	return term.Said(a.Stdout, a.Said(&v.Session), style)
}

// showJSON is the format of `show --json`.
type showJSON struct {
	render.Row
	Turns []render.TurnLine `json:"turns"`
}
