package main

import (
	"beckon/render/term"
	"beckon/state"
)

type explainCmd struct {
	Session string `arg:"" help:"${session}."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

func (c *explainCmd) Run(a *app) error {
	v, err := a.find(c.Session)
	if err != nil {
		return err
	}
	now := a.now()
	x := term.Explanation{Seen: v, Facts: state.Explain(v.Session, v.Evidence, now), Now: clock(now)}
	if c.JSON {
		return writeJSON(a.stdout, x.JSON())
	}
	return term.Explain(a.stdout, x)
}
