package main

import (
	"fmt"

	"beckon/cmd/internal/cli"
)

type fsckCmd struct {
	Rebuild bool `help:"Rebuild the session files that differ from their journals."`
}

func (c *fsckCmd) Run(a *app) error {
	findings, err := a.Store.Check(c.Rebuild, a.Progress())
	if err != nil {
		return err
	}
	open, newer := 0, 0
	for _, f := range findings {
		end := ""
		switch {
		case f.Mended:
			end = ": rebuilt"
		case f.Newer:
			end = "; left alone (" + cli.UpdateAdvice + ")"
			newer++
		default:
			open++
		}
		fmt.Fprintf(a.Stdout, "%s: %s%s\n", f.Key, f.Problem, end)
	}
	if open+newer == 0 {
		fmt.Fprintln(a.Stdout, "every session is what its journal says")
		return nil
	}
	if !c.Rebuild && open > 0 {
		fmt.Fprintln(a.Stdout, "beckon fsck --rebuild writes what the journals say")
	}
	return cli.ErrSilent
}
