package setup

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"beckon/installer"
)

// step is one thing that can be set up.
type step struct {
	Name   string // one word, for the command line
	Title  string // what the user gets
	On     bool   // it is set up
	Old    bool   // it is set up, and not as it would be now
	Fixed  bool   // set up by other means, and not undone
	Needs  string // the step that must be done as well; empty for none
	Want   bool   // done unless the user decides otherwise
	Absent string // why it cannot be done here; empty when it can

	Then string // what the user has to do once it is set up

	Parts []installer.Part    // what sets it up
	Also  func(on bool) error // what else does; may be nil
	Text  string              // shown behind the change of the files
}

// diff returns what do would change, as a unified diff.
func (s *step) diff(on bool) (text string, err error) {
	for _, p := range s.Parts {
		c, err := p.Plan(on)
		if err != nil {
			return "", err
		}
		text += c.Diff()
	}
	return text, nil
}

// do sets the step up, or undoes it: all of it, or nothing if a part is refused.
func (s *step) do(on bool) error {
	_, err := s.diff(on)
	for i := range s.Parts {
		if !on { // directories that were made for the first go last
			i = len(s.Parts) - 1 - i
		}
		if err == nil {
			_, err = s.Parts[i].Apply(on)
		}
	}
	if err != nil || s.Also == nil {
		return err
	}
	return s.Also(on)
}

// outdated notes whether the step is set up, and not as it would be now.
func (s step) outdated() step {
	if s.On && !s.Fixed {
		text, err := s.diff(true)
		s.Old = err == nil && text != ""
	}
	return s
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
		p.Steps[i].Old = s.Old && (slices.Contains(do, s.Name) || slices.Contains(do, s.Needs))
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

func (p *plan) names() (names []string) {
	for _, s := range p.Steps {
		names = append(names, s.Name)
	}
	return names
}

// on reports whether the step of that name is set up.
func (p *plan) on(name string) bool {
	return slices.ContainsFunc(p.Steps, func(s step) bool { return s.Name == name && s.On })
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

// Diff writes what each step would change by itself.
func (p *plan) Diff(w io.Writer) error {
	for _, i := range p.changes() {
		s := p.Steps[i]
		fmt.Fprintf(w, "%s: %s\n", s.Name, s.verb(p.Chosen[i]))
		text, err := s.diff(p.Chosen[i])
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		fmt.Fprint(w, text, s.Text)
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
		if err := s.do(p.Chosen[i]); err != nil {
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
