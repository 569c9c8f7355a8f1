package main

import (
	"fmt"
	"time"

	"beckon/render"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/offer"
)

type showCmd struct {
	Session string `arg:"" help:"${session}."`
	Turns   int    `default:"10" help:"The newest so many turns; 0 is none."`
	JSON    bool   `name:"json" help:"Print the row as list --json has it, with the turns."`
	colored
}

func (c *showCmd) Run(a *app) error {
	v, err := a.find(c.Session)
	if err != nil {
		return err
	}
	row := render.Rows([]state.Seen{v}, true)[0]
	turns, err := a.turnsOf(&v.Session)
	if err != nil {
		return err
	}
	turns = turns[max(0, len(turns)-max(c.Turns, 0)):]
	if c.JSON {
		return writeJSON(a.stdout, showJSON{row, turns})
	}
	if err := a.markSeen(v); err != nil {
		return err
	}
	style, err := a.style(c.Color)
	if err != nil {
		return err
	}
	if err := term.Show(a.stdout, &row, &v.Session, style); err != nil {
		return err
	}
	asks, err := a.offers(func(o *offer.Offer) bool { return o.Kind != offer.Reply && o.Record == v.Session.Record() })
	if err != nil {
		return err
	}
	for i := range asks {
		fmt.Fprintln(a.stdout)
		a.show(&asks[i])
	}
	if len(turns) == 0 {
		return nil
	}
	return term.Turns(a.stdout, turns, false, time.Local, style)
}

// showJSON is the format of `show --json`.
type showJSON struct {
	render.Row
	Turns []render.TurnLine `json:"turns"`
}

// style says how to draw on this terminal, with the colours that a flag chose.
func (a *app) style(choice string) (term.Style, error) {
	color, err := a.colorChoice(choice)
	return term.Style{Color: a.color(color), Width: a.width(), Now: clock(a.now())}, err
}
