package setup

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"beckon/event/agents"
	"beckon/installer"
)

// Step is one thing that can be set up.
type Step struct {
	Name   string // one word, for the command line
	Title  string // what the user gets
	On     bool   // it is set up
	Old    bool   // it is set up, and not as it would be now
	Fixed  bool   // set up by other means, and not undone
	Needs  string // the step that must be done as well; empty for none
	Want   bool   // done unless the user decides otherwise
	Chosen bool   // the user's choice
	Absent string // why it cannot be done here; empty when it can

	Then string // what the user has to do once it is set up

	Agent *agents.Agent  // whose hooks they are; nil for Claude Code's, and for other things
	File  installer.File // what the file has, of a step that is about hooks
	spec  installer.Spec // and what it should have

	Parts []installer.Part    // what sets it up
	Also  func(on bool) error // what else does; may be nil
	Text  string              // shown behind the change of the files
}

// diff returns what do would change, as a unified diff.
func (s *Step) diff(on bool) (text string, err error) {
	for _, p := range s.Parts {
		c, err := p.Plan(on)
		if err != nil {
			return "", err
		}
		text += c.Diff()
	}
	return text, nil
}

// do sets the step up, or undoes it.
func (s *Step) do(on bool) error {
	parts := slices.Clone(s.Parts)
	if !on { // directories that were made for the first go last
		slices.Reverse(parts)
	}
	for _, p := range parts {
		if _, err := p.Apply(on); err != nil {
			return err
		}
	}
	if s.Also == nil {
		return nil
	}
	return s.Also(on)
}

// outdated notes whether the step is set up, and not as it would be now.
func (s Step) outdated() Step {
	if s.On && !s.Fixed {
		text, err := s.diff(true)
		s.Old = err == nil && text != ""
	}
	return s
}

// plan is the steps in their order.
type plan []Step

// propose chooses the proposed steps and undoes nothing.
func (p plan) propose() plan {
	for i, s := range p {
		p[i].Chosen = s.On || s.Want && s.Absent == ""
	}
	return p
}

// Choose sets whether the user wants step i. Choosing a step also chooses what it needs;
// dropping it drops what needs it. A step that cannot change stays as it is.
func (p plan) Choose(i int, on bool) {
	s := p[i]
	if s.Fixed || on && s.Absent != "" {
		return
	}
	p[i].Chosen = on
	for j, other := range p {
		switch {
		case on && other.Name == s.Needs && !p[j].Chosen:
			p.Choose(j, true)
		case !on && other.Needs == s.Name && p[j].Chosen:
			p.Choose(j, false)
		}
	}
}

// Only chooses to do and to undo the named steps, and leaves the others as they are. The error
// names an unknown step, or one that cannot be done here.
func (p plan) Only(do, undo []string) error {
	for i, s := range p {
		p[i].Chosen = s.On
		p[i].Old = s.Old && (slices.Contains(do, s.Name) || slices.Contains(do, s.Needs))
	}
	for n, name := range slices.Concat(do, undo) {
		i, on := slices.Index(p.names(), name), n < len(do)
		if i < 0 {
			return fmt.Errorf("%q is not a step (one of %s)", name, strings.Join(p.names(), ", "))
		}
		if s := p[i]; on && s.Absent != "" && !s.On {
			return fmt.Errorf("%s: %s", name, s.Absent)
		}
		p.Choose(i, on)
	}
	return nil
}

func (p plan) names() (names []string) {
	for _, s := range p {
		names = append(names, s.Name)
	}
	return names
}

// on reports whether the step of that name is set up.
func (p plan) on(name string) bool {
	return slices.ContainsFunc(p, func(s Step) bool { return s.Name == name && s.On })
}

// changes returns the steps to do, and then those to undo in reverse order: a status line goes
// before the hooks that it came with.
func (p plan) changes() (list []*Step) {
	for i, s := range p {
		if s.Chosen && (!s.On || s.Old) {
			list = append(list, &p[i])
		}
	}
	for i, s := range slices.Backward(p) {
		if !s.Chosen && s.On && !s.Fixed {
			list = append(list, &p[i])
		}
	}
	return list
}

// Do carries out the choices and writes a line for each step; if dry it only writes what each would change by
// itself. A step whose files are refused changes none of them. A failing step does not stop the others; the
// error joins all failures.
func (p plan) Do(w io.Writer, dry bool) error {
	var failed []error
	changes := p.changes()
	for _, s := range changes {
		said := "undone"
		if s.Chosen {
			said = s.Title
		}
		text, err := s.diff(s.Chosen)
		if err == nil && !dry {
			err = s.do(s.Chosen)
		}
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", s.Name, err))
		case dry:
			fmt.Fprintf(w, "%s: %s\n%s%s", s.Name, said, text, s.Text)
		default:
			s.On = s.Chosen
			fmt.Fprintf(w, "%-14s %s\n", s.Name, said)
			if s.On && s.Then != "" {
				fmt.Fprintf(w, "%-14s %s\n", "", s.Then)
			}
		}
	}
	if len(changes) == 0 {
		fmt.Fprintln(w, "nothing to change")
	}
	return errors.Join(failed...)
}

// Missing writes which wanted steps cannot be done here, and why.
func (p plan) Missing(w io.Writer) {
	for _, s := range p {
		if s.Want && !s.On && s.Absent != "" {
			fmt.Fprintf(w, "%-14s not set up: %s\n", s.Name, s.Absent)
		}
	}
}
