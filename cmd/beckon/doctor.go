package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"beckon/cmd/internal/answer"
	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/installer"
)

type doctorCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Check is one thing that doctor looked at.
type Check struct {
	Name   string `json:"name"`
	Level  string `json:"level"` // ok, note or fault
	What   string `json:"what"`
	Advice string `json:"advice,omitempty"`

	Figures *Figures `json:"figures,omitempty"`
}

// Levels of a check. A note needs no action.
const (
	levelOK    = "ok"
	levelNote  = "note"
	levelFault = "fault"
)

func (c *doctorCmd) Run(a *app) error {
	d := &doctor{a: a}
	d.examine()
	if c.JSON {
		if err := cli.WriteJSON(a.Stdout, d.checks); err != nil {
			return err
		}
	} else {
		d.print()
	}
	if slices.ContainsFunc(d.checks, func(c Check) bool { return c.Level == levelFault }) {
		return cli.ErrSilent
	}
	return nil
}

// doctor gathers checks.
type doctor struct {
	a      *app
	checks []Check
}

func (d *doctor) add(level, name, advice, format string, args ...any) {
	d.checks = append(d.checks, Check{Name: name, Level: level, What: fmt.Sprintf(format, args...), Advice: advice})
}

func (d *doctor) print() {
	for _, c := range d.checks {
		mark := map[string]string{levelOK: "ok   ", levelNote: "note ", levelFault: "FAULT"}[c.Level]
		fmt.Fprintf(d.a.Stdout, "%s  %-12s %s\n", mark, c.Name, c.What)
		if c.Advice != "" {
			fmt.Fprintf(d.a.Stdout, "%20s hint: %s\n", "", c.Advice)
		}
	}
}

func (d *doctor) examine() {
	d.configuration()
	d.notifications()
	d.stateDir()
	client := installer.ClientVersion(context.Background(), exec.LookPath)
	d.client(client)
	report := d.inspect(client)
	d.entries(report)
	d.programs(report)
	d.policies()
	d.limits(limitsHere())
	d.latency()
	if report.Installed() {
		d.roundTrips(report)
		d.silence(report)
	}
}

func (d *doctor) configuration() {
	if _, err := d.a.Configured(); err != nil {
		d.add(levelFault, "config", cli.HintOf(err), "%v", err)
	}
}

// stateDir checks that the state directory can be written to, and not by others.
func (d *doctor) stateDir() {
	dir := d.a.Store.Dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.add(levelFault, "state", "set BECKON_STATE_DIR to a directory of yours", "%v", err)
		return
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.add(levelFault, "state", "set BECKON_STATE_DIR to a directory of yours", "%s cannot be written: %v", dir, err)
		return
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	if answer.Shared(dir) {
		d.add(levelFault, "state", "make it yours and chmod 700, or set BECKON_STATE_DIR to a directory of yours", "%s is not yours alone: others can change what is in it", dir)
		return
	}
	d.add(levelOK, "state", "", "%s", dir)
}

func (d *doctor) client(c installer.Client) {
	switch {
	case c.Path == "":
		d.add(levelNote, "client", "", "no claude on PATH: its version is not known")
	case !c.Version.Known():
		d.add(levelNote, "client", "", "%s does not tell its version", c.Path)
	case len(installer.UnknownTo(c.Version, []string{string(event.PermissionRequest)})) > 0:
		d.add(levelFault, "client", "update Claude Code", "%s is version %s: too old to tell of permissions", c.Path, c.Version)
	default:
		d.add(levelOK, "client", "", "%s, version %s", c.Path, c.Version)
	}
}
