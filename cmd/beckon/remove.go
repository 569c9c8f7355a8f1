package main

import "beckon/state"

type removeCmd struct {
	Session string `arg:"" help:"${session}."`
}

func (c *removeCmd) Run(a *app) error {
	v, err := a.Find(c.Session)
	if err != nil {
		return err
	}
	return a.Act(v, state.Action{Kind: state.ActRemove})
}
