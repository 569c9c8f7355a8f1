package tui

import (
	"beckon/render"
	"beckon/render/term"
	"beckon/state"

	"charm.land/lipgloss/v2"
)

// role is what a piece of text is, for its style.
type role uint8

const (
	text role = iota
	strong
	dim
	faint // lines and rules
	accent
	alarm // permission
	ask   // question
	fault // failed
	run   // working
	pack  // compacting
	rest  // idle
	keycap
	roles
)

// stateRole returns how a state is coloured; its glyph tells the same without.
func stateRole(s state.State) role {
	switch s {
	case state.Permission:
		return alarm
	case state.Question:
		return ask
	case state.Failed:
		return fault
	case state.Working:
		return run
	case state.Compacting:
		return pack
	case state.Idle:
		return rest
	}
	return dim
}

// contextRole is dim until the context is nearly full: the client then compacts.
func contextRole(r *render.Row) role {
	if r.Context != nil && r.Context.UsedPercentage >= term.NearlyFull {
		return fault
	}
	return dim
}

// palette is the styles of all roles, for rows and for the selected row.
type palette struct {
	plain, selected [roles]lipgloss.Style
}

// colors are the colours of a palette, as lipgloss reads them.
type colors struct {
	alarm, ask, fault, run, pack, rest, dim, faint, accent, selected string
}

// Without an answer from the terminal its own sixteen colours are used, which
// its owner made readable; the others are for a dark and a light background.
var (
	unknownBackground = colors{alarm: "9", ask: "13", fault: "1", run: "2", pack: "6", rest: "3", dim: "8", faint: "8", accent: "12"}
	darkBackground    = colors{alarm: "#ff6b6b", ask: "#d7a6ff", fault: "#f0883e", run: "#7ee787", pack: "#76e3ea", rest: "#e3c567",
		dim: "#8b949e", faint: "#484f58", accent: "#79c0ff", selected: "#21303f"}
	lightBackground = colors{alarm: "#c4162a", ask: "#7d2bbf", fault: "#a84300", run: "#116d2b", pack: "#0b6b76", rest: "#795400",
		dim: "#57606a", faint: "#afb8c1", accent: "#0550ae", selected: "#dbe9f9"}
)

func newPalette(color bool, c colors) *palette {
	base := lipgloss.NewStyle()
	p := &palette{}
	if !color {
		for i := range p.plain {
			p.plain[i] = base
		}
		p.plain[strong], p.plain[keycap] = base.Bold(true), base.Bold(true)
		p.selected = p.plain
		return p
	}
	of := func(name string) lipgloss.Style { return base.Foreground(lipgloss.Color(name)) }
	p.plain = [roles]lipgloss.Style{text: base, strong: base.Bold(true), dim: of(c.dim), faint: of(c.faint), accent: of(c.accent).Bold(true),
		alarm: of(c.alarm).Bold(true), ask: of(c.ask).Bold(true), fault: of(c.fault).Bold(true), run: of(c.run), pack: of(c.pack), rest: of(c.rest),
		keycap: of(c.accent)}
	p.selected = p.plain
	if c.selected != "" {
		for i := range p.selected {
			p.selected[i] = p.selected[i].Background(lipgloss.Color(c.selected))
		}
	}
	return p
}

// paint draws text in a role.
func (p *palette) paint(r role, s string, selected bool) string {
	switch {
	case s == "":
		return ""
	case selected:
		return p.selected[r].Render(s)
	case r == text:
		return s
	}
	return p.plain[r].Render(s)
}
