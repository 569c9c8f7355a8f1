// Package doctor is `beckon doctor`: a table of checks of the installation.
package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup"
	"beckon/event/home"
	"beckon/event/redact"
	"beckon/installer"
	"beckon/state"
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

	Figures figures `json:"figures,omitempty"`

	repair func() error // puts it right; nil if that is for the user
}

// result is the word for what a check found.
type result string

// Off is what somebody has switched off.
const (
	ok   result = "ok"
	warn result = "warning"
	fail result = "error"
	off  result = "off"
)

// doctor gathers findings.
type doctor struct {
	*cli.App
	client    installer.Client
	settings  []installer.File // Claude Code's settings, and its plugins that have the hooks
	hooks     []setup.Step     // those that put hooks into the user's own settings
	elsewhere []string         // other settings files that have the hooks, as a project's
	plugins   []string         // directories of its plugins that are switched on
	seen      []state.Seen     // the live sessions
	unseen    error            // why they cannot be read
	findings  []*finding
}

// examine runs all checks: first of what others depend on.
func examine(a *cli.App) *doctor {
	d := &doctor{App: a, client: installer.FindClient(a.ClaudeDir())}
	d.inspect()
	d.inspectPlugins()
	d.seen, _, d.unseen = a.Look(false)
	d.configuration()
	d.notifications()
	d.stateDir()
	d.files()
	d.claude()
	d.entries()
	d.programs()
	d.policies()
	d.fleet()
	d.latency()
	if len(d.entered()) > 0 {
		d.silence()
		d.mod()
	}
	d.others()
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
	// People put the JSON into issues, so it does not name the home directory, and with it the user.
	dir, tilde := home.Dir(d.Getenv), strings.NewReplacer()
	if sep := string(filepath.Separator); dir != "" {
		tilde = strings.NewReplacer(dir+sep, "~"+sep)
	}
	for _, f := range d.findings {
		if c.JSON {
			f.What, f.Fix = tilde.Replace(f.What), tilde.Replace(f.Fix)
			continue
		}
		fmt.Fprintf(d.Stdout, "%-8s %-12s %s\n", f.Result, f.Name, f.What)
		if f.Fix != "" {
			fmt.Fprintf(d.Stdout, "%22sfix: %s\n", "", f.Fix)
		}
	}
	if c.JSON {
		if err := cli.WriteJSON(a.Stdout, d.findings); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(d.findings, func(f *finding) bool { return f.Result == fail }) {
		return cli.ErrSilent
	}
	return nil
}

// add adds a finding, which the caller may complete.
func (d *doctor) add(r result, name, fix, format string, args ...any) *finding {
	f := &finding{Name: name, Result: r, What: redact.Text(fmt.Sprintf(format, args...)), Fix: redact.Text(fix)}
	d.findings = append(d.findings, f)
	return f
}

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
