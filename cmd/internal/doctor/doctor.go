// Package doctor is `beckon doctor`: checks of the installation, one after another.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/installer"
)

// Cmd is the command.
type Cmd struct {
	JSON   bool `name:"json" help:"Print JSON."`
	Repair bool `help:"Put right what is safe to: missing hooks, the modes of files, files that were set aside."`
}

// check is one thing that doctor looked at.
type check struct {
	Name   string `json:"name"`
	Result string `json:"result"` // ok, warning, error or off
	What   string `json:"what"`
	Fix    string `json:"fix,omitempty"` // a command, or what else the user can do

	Figures *figures `json:"figures,omitempty"`

	repair func() error // puts it right; nil if that is for the user
}

// Results of a check. Off is what somebody has switched off.
const (
	resultOK      = "ok"
	resultWarning = "warning"
	resultError   = "error"
	resultOff     = "off"
)

// Run prints the checks; the error says that one failed.
func (c *Cmd) Run(a *cli.App) error {
	d := &doctor{App: a}
	d.examine()
	if c.Repair {
		if err := d.repair(); err != nil {
			return err
		}
		d = &doctor{App: a}
		d.examine()
	}
	if c.JSON {
		if err := cli.WriteJSON(a.Stdout, d.checks); err != nil {
			return err
		}
	} else {
		d.print()
	}
	if slices.ContainsFunc(d.checks, func(c check) bool { return c.Result == resultError }) {
		return cli.ErrSilent
	}
	return nil
}

// doctor gathers checks.
type doctor struct {
	*cli.App
	checks []check
}

func (d *doctor) add(result, name, fix, format string, args ...any) {
	d.checks = append(d.checks, check{Name: name, Result: result, What: fmt.Sprintf(format, args...), Fix: fix})
}

// repairs sets what puts the newest check right.
func (d *doctor) repairs(f func() error) { d.checks[len(d.checks)-1].repair = f }

// repair puts right what can be, one thing for all checks of a name.
func (d *doctor) repair() error {
	var errs []error
	done := map[string]bool{}
	for _, c := range d.checks {
		if c.repair != nil && !done[c.Name] {
			done[c.Name] = true
			fmt.Fprintf(d.Stderr, "repairing %s: %s\n", c.Name, c.What)
			errs = append(errs, c.repair())
		}
	}
	return errors.Join(errs...)
}

func (d *doctor) print() {
	for _, c := range d.checks {
		fmt.Fprintf(d.Stdout, "%-8s %-12s %s\n", c.Result, c.Name, c.What)
		if c.Fix != "" {
			fmt.Fprintf(d.Stdout, "%22sfix: %s\n", "", c.Fix)
		}
	}
}

func (d *doctor) examine() {
	d.configuration()
	d.notifications()
	d.stateDir()
	d.files()
	client := installer.FindClient(context.Background(), d.ClaudeDir())
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
