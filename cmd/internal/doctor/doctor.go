// Package doctor is `beckon doctor`: checks of the installation, one after another.
package doctor

import (
	"context"
	"fmt"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/installer"
)

// Cmd is the command.
type Cmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// check is one thing that doctor looked at.
type check struct {
	Name   string `json:"name"`
	Level  string `json:"level"` // ok, note or fault
	What   string `json:"what"`
	Advice string `json:"advice,omitempty"`

	Figures *figures `json:"figures,omitempty"`
}

// Levels of a check. A note needs no action.
const (
	levelOK    = "ok"
	levelNote  = "note"
	levelFault = "fault"
)

// Run prints the checks; the error says that one found a fault.
func (c *Cmd) Run(a *cli.App) error {
	d := &doctor{App: a}
	d.examine()
	if c.JSON {
		if err := cli.WriteJSON(a.Stdout, d.checks); err != nil {
			return err
		}
	} else {
		d.print()
	}
	if slices.ContainsFunc(d.checks, func(c check) bool { return c.Level == levelFault }) {
		return cli.ErrSilent
	}
	return nil
}

// doctor gathers checks.
type doctor struct {
	*cli.App
	checks []check
}

func (d *doctor) add(level, name, advice, format string, args ...any) {
	d.checks = append(d.checks, check{Name: name, Level: level, What: fmt.Sprintf(format, args...), Advice: advice})
}

func (d *doctor) print() {
	for _, c := range d.checks {
		mark := map[string]string{levelOK: "ok   ", levelNote: "note ", levelFault: "FAULT"}[c.Level]
		fmt.Fprintf(d.Stdout, "%s  %-12s %s\n", mark, c.Name, c.What)
		if c.Advice != "" {
			fmt.Fprintf(d.Stdout, "%20s hint: %s\n", "", c.Advice)
		}
	}
}

func (d *doctor) examine() {
	d.configuration()
	d.notifications()
	d.stateDir()
	client := installer.FindClient(context.Background())
	d.client(client)
	report := d.inspect(client)
	d.entries(report)
	d.programs(report)
	d.policies()
	d.fleet()
	d.limits(limitsHere())
	d.latency()
	if report.Installed() {
		d.roundTrips(report)
		d.silence(report)
		d.heard(client)
	}
	d.agents()
}
