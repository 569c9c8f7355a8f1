package main

import (
	"beckon/render"
	"beckon/render/term"
	"beckon/state"
	"time"
)

type showCmd struct {
	Session string `arg:"" help:"Session id, its beginning, or seat id."`
	JSON    bool   `name:"json" help:"Print the row as list --json has it."`
}

func (c *showCmd) Run(a *app) error {
	v, err := a.find(c.Session)
	if err != nil {
		return err
	}
	row := render.Rows([]state.Seen{v}, true)
	if c.JSON {
		return writeJSON(a.stdout, row[0])
	}
	if err := a.markSeen(v); err != nil {
		return err
	}
	color, err := a.colorChoice("")
	if err != nil {
		return err
	}
	return term.Show(a.stdout, &row[0], &v.Session, term.Style{Color: a.color(color), Width: a.width(), Now: clock(a.reader().Now(time.Now()))})
}
