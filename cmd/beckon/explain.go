package main

import (
	"beckon/cmd/internal/cli"
	"beckon/render/term"
	"beckon/state"
)

type explainCmd struct {
	Session string `arg:"" help:"${session}."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

func (c *explainCmd) Run(a *app) error {
	v, err := a.Find(c.Session)
	if err != nil {
		return err
	}
	now := a.Now()
	x := term.Explanation{Seen: v, Facts: state.Explain(v.Session, v.Evidence, now), Now: now.Time()}
	if c.JSON {
		return cli.WriteJSON(a.Stdout, x.JSON())
	}
	return term.Explain(a.Stdout, x)
}
