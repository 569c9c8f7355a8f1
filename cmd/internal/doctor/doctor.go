// Package doctor is `beckon doctor`: a table of checks of the installation.
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

// finding is the result of a check: a word and a sentence, and what helps.
type finding struct {
	Name   string `json:"name"`
	Result result `json:"result"`
	What   string `json:"what"`
	Fix    string `json:"fix,omitempty"` // a command, or what else the user can do

	Figures *figures `json:"figures,omitempty"`

	repair func() error // puts it right; nil if that is for the user
}

// result is the word for what a check found.
type result string

// Off is what somebody has switched off.
const (
	resultOK      result = "ok"
	resultWarning result = "warning"
	resultError   result = "error"
	resultOff     result = "off"
)

// check looks at one part of the installation and adds what it finds. installed is for what only a
// Claude Code with hooks has.
type check struct {
	look      func(*doctor)
	installed bool
}

// checks are in the order in which their findings are printed: what others depend on comes first.
var checks = []check{
	{look: (*doctor).configuration},
	{look: (*doctor).notifications},
	{look: (*doctor).stateDir},
	{look: (*doctor).files},
	{look: (*doctor).claude},
	{look: (*doctor).entries},
	{look: (*doctor).programs},
	{look: (*doctor).policies},
	{look: (*doctor).fleet},
	{look: func(d *doctor) { d.limits(limitsHere()) }},
	{look: (*doctor).latency},
	{look: (*doctor).roundTrips, installed: true},
	{look: (*doctor).silence, installed: true},
	{look: (*doctor).sources, installed: true},
	{look: (*doctor).agents},
}

// doctor gathers findings.
type doctor struct {
	*cli.App
	client   installer.Client
	report   installer.Report // of Claude Code's settings and plugins
	findings []finding
}

// examine runs all checks.
func examine(a *cli.App) *doctor {
	d := &doctor{App: a, client: installer.FindClient(context.Background(), a.ClaudeDir())}
	d.report = d.inspect()
	for _, c := range checks {
		if !c.installed || d.report.Installed() {
			c.look(d)
		}
	}
	return d
}

// Run prints the findings; the error says that one is an error.
func (c *Cmd) Run(a *cli.App) error {
	d := examine(a)
	if c.Repair {
		if err := d.repair(); err != nil {
			return err
		}
		d = examine(a)
	}
	if c.JSON {
		if err := cli.WriteJSON(a.Stdout, d.findings); err != nil {
			return err
		}
	} else {
		d.print()
	}
	if slices.ContainsFunc(d.findings, func(f finding) bool { return f.Result == resultError }) {
		return cli.ErrSilent
	}
	return nil
}

func (d *doctor) add(r result, name, fix, format string, args ...any) {
	d.findings = append(d.findings, finding{Name: name, Result: r, What: fmt.Sprintf(format, args...), Fix: fix})
}

// newest is the finding that was added last.
func (d *doctor) newest() *finding { return &d.findings[len(d.findings)-1] }

// repair puts right what can be, one thing for all findings of a name.
func (d *doctor) repair() error {
	var errs []error
	done := map[string]bool{}
	for _, f := range d.findings {
		if f.repair != nil && !done[f.Name] {
			done[f.Name] = true
			fmt.Fprintf(d.Stderr, "repairing %s: %s\n", f.Name, f.What)
			errs = append(errs, f.repair())
		}
	}
	return errors.Join(errs...)
}

func (d *doctor) print() {
	for _, f := range d.findings {
		fmt.Fprintf(d.Stdout, "%-8s %-12s %s\n", f.Result, f.Name, f.What)
		if f.Fix != "" {
			fmt.Fprintf(d.Stdout, "%22sfix: %s\n", "", f.Fix)
		}
	}
}
