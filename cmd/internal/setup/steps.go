package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/installer"
)

// step is one thing that can be set up.
type step struct {
	Name   string // one word, for the command line
	Title  string // what the user gets
	On     bool   // it is set up
	Old    bool   // it is set up, and not as it would be now
	Fixed  bool   // set up by other means, and not undone
	Hooks  bool   // it puts hooks into a file
	Needs  string // the step that must be done as well; empty for none
	Want   bool   // done unless the user decides otherwise
	Absent string // why it cannot be done here; empty when it can

	Diff func(on bool) (string, error) // what Do would change, as a unified diff
	Do   func(on bool) error           // sets it up, or undoes it
	Then string                        // what the user has to do after Do(true)
}

// fileEdits returns the edits of files that set a step up, or undo it.
type fileEdits func(on bool) ([]installer.FileEdit, error)

// one returns the edit of a single file.
func one(t installer.Target, op func(on bool) installer.Op) fileEdits {
	return func(on bool) ([]installer.FileEdit, error) {
		return []installer.FileEdit{{Target: t, Op: op(on)}}, nil
	}
}

// edits makes the step one that edits files; also, unless it is nil, follows.
func (s *step) edits(a *cli.App, list fileEdits, also func(on bool) error) {
	s.Diff = func(on bool) (text string, err error) {
		files, err := list(on)
		if err != nil {
			return "", err
		}
		for _, f := range files {
			diff, err := f.Diff()
			if err != nil {
				return "", err
			}
			text += diff
		}
		return text, nil
	}
	s.Do = func(on bool) error {
		files, err := list(on)
		if err != nil {
			return err
		}
		done, err := installer.ApplyAll(context.Background(), files)
		for _, c := range done {
			for _, note := range c.Notes {
				fmt.Fprintf(a.Stderr, "note: in %s, %s (it is not beckon's, and stays)\n", c.File, note)
			}
		}
		if err != nil || also == nil {
			return err
		}
		return also(on)
	}
	if s.On && !s.Fixed {
		text, err := s.Diff(true)
		s.Old = err == nil && text != ""
	}
}

// plan is the steps in their order, and the user's choice for each.
type plan struct {
	Steps  []step
	Chosen []bool
}

// newPlan returns a plan that does the proposed steps and undoes nothing.
func newPlan(steps []step) *plan {
	p := &plan{Steps: steps, Chosen: make([]bool, len(steps))}
	for i, s := range steps {
		p.Chosen[i] = s.On || s.Want && s.Absent == ""
	}
	return p
}

// Choose sets whether the user wants step i. Choosing a step also chooses what it needs;
// dropping it drops what needs it. A step that cannot change stays as it is.
func (p *plan) Choose(i int, on bool) {
	s := p.Steps[i]
	if s.Fixed || on && s.Absent != "" {
		return
	}
	p.Chosen[i] = on
	for j, other := range p.Steps {
		switch {
		case on && other.Name == s.Needs && !p.Chosen[j]:
			p.Choose(j, true)
		case !on && other.Needs == s.Name && p.Chosen[j]:
			p.Choose(j, false)
		}
	}
}

// Only chooses to do and to undo the named steps, and leaves the others as they are. The error
// names an unknown step, or one that cannot be done here.
func (p *plan) Only(do, undo []string) error {
	for i, s := range p.Steps {
		p.Chosen[i] = s.On
		p.Steps[i].Old = s.Old && slices.Contains(do, s.Name)
	}
	for n, name := range slices.Concat(do, undo) {
		i, on := slices.Index(p.names(), name), n < len(do)
		if i < 0 {
			return fmt.Errorf("%q is not a step (one of %s)", name, strings.Join(p.names(), ", "))
		}
		if s := p.Steps[i]; on && s.Absent != "" && !s.On {
			return fmt.Errorf("%s: %s", name, s.Absent)
		}
		p.Choose(i, on)
	}
	return nil
}

func (p *plan) names() []string {
	return p.those(func(step) bool { return true })
}

// those returns the names of the steps that pick accepts.
func (p *plan) those(pick func(step) bool) (names []string) {
	for _, s := range p.Steps {
		if pick(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

// changes returns the steps to do, and then those to undo in reverse order: a status line goes
// before the hooks that it came with.
func (p *plan) changes() (list []int) {
	for i, s := range p.Steps {
		if p.Chosen[i] && (!s.On || s.Old) {
			list = append(list, i)
		}
	}
	for i := len(p.Steps) - 1; i >= 0; i-- {
		if !p.Chosen[i] && p.Steps[i].On && !p.Steps[i].Fixed {
			list = append(list, i)
		}
	}
	return list
}

// Diff writes what Do would change.
func (p *plan) Diff(w io.Writer) error {
	for _, i := range p.changes() {
		s := p.Steps[i]
		fmt.Fprintf(w, "%s: %s\n", s.Name, s.verb(p.Chosen[i]))
		text, err := s.Diff(p.Chosen[i])
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		fmt.Fprint(w, text)
	}
	return nil
}

func (s step) verb(on bool) string {
	if on {
		return s.Title
	}
	return "undone"
}

// Do carries out the choices and writes a line for each step. A failing step does not stop the
// others; the error joins all failures.
func (p *plan) Do(w io.Writer) error {
	var failed []error
	changes := p.changes()
	for _, i := range changes {
		s := &p.Steps[i]
		if err := s.Do(p.Chosen[i]); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.Name, err))
			continue
		}
		s.On = p.Chosen[i]
		fmt.Fprintf(w, "%-14s %s\n", s.Name, s.verb(s.On))
		if s.On && s.Then != "" {
			fmt.Fprintf(w, "%-14s %s\n", "", s.Then)
		}
	}
	if len(changes) == 0 {
		fmt.Fprintln(w, "nothing to change")
	}
	return errors.Join(failed...)
}

// Missing writes which wanted steps cannot be done here, and why.
func (p *plan) Missing(w io.Writer) {
	for _, s := range p.Steps {
		if s.Want && !s.On && s.Absent != "" {
			fmt.Fprintf(w, "%-14s not set up: %s\n", s.Name, s.Absent)
		}
	}
}

// errLeft is returned by Ask when the input ends before all questions are answered.
var errLeft = errors.New("nothing was changed: there was no answer")

// Ask asks about each step that can be done or undone, one question per line: yes, no, or the
// diff first. An empty answer accepts the proposal.
func (p *plan) Ask(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for i, s := range p.Steps {
		if s.Absent != "" && !s.On {
			fmt.Fprintf(out, "%-14s %s: %s\n", s.Name, s.Title, s.Absent)
			continue
		}
		if s.On && !s.Old {
			fmt.Fprintf(out, "%-14s %s: already set up\n", s.Name, s.Title)
			continue
		}
		choices := "[y/N/diff]"
		if p.Chosen[i] {
			choices = "[Y/n/diff]"
		}
		for asking := true; asking; {
			fmt.Fprintf(out, "%-14s %s? %s ", s.Name, s.Title, choices)
			if !lines.Scan() {
				fmt.Fprintln(out)
				return errors.Join(errLeft, lines.Err())
			}
			asking = false
			switch strings.ToLower(strings.TrimSpace(lines.Text())) {
			case "":
			case "y", "yes":
				p.Choose(i, true)
			case "n", "no":
				p.Choose(i, false)
			case "d", "diff":
				asking = true
				text, err := s.Diff(true)
				if err != nil {
					text = err.Error() + "\n"
				}
				fmt.Fprint(out, text)
			default:
				asking = true
				fmt.Fprintln(out, "y, n or diff")
			}
		}
	}
	return nil
}
