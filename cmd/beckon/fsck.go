package main

import "fmt"

type fsckCmd struct {
	Rebuild bool `help:"Write what the journals say over session files that differ."`
}

func (c *fsckCmd) Run(a *app) error {
	findings, err := a.st.Check(c.Rebuild)
	if err != nil {
		return err
	}
	open := 0
	for _, f := range findings {
		end := ""
		if f.Mended {
			end = ": rebuilt"
		} else {
			open++
		}
		fmt.Fprintf(a.stdout, "%s: %s%s\n", f.Key, f.Problem, end)
	}
	if open == 0 {
		fmt.Fprintln(a.stdout, "every session is what its journal says")
		return nil
	}
	if !c.Rebuild {
		fmt.Fprintln(a.stdout, "beckon fsck --rebuild writes what the journals say")
	}
	return errSilent
}
