package tui

import (
	"slices"
	"strings"

	"beckon/render/term"
	"beckon/state"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// role is the meaning of a piece of text, which determines its style.
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

// stateRoles are the colours of states, the rest dim; their glyphs show the same without
// colour.
var stateRoles = map[state.State]role{
	state.Permission: alarm, state.Question: ask, state.Failed: fault, state.Working: run, state.Compacting: pack,
	state.Idle: rest,
}

func stateRole(s state.State) role {
	if r, ok := stateRoles[s]; ok {
		return r
	}
	return dim
}

// fullness is the role of a percentage.
func fullness(percent float64) role {
	if percent >= term.NearlyFull {
		return fault
	}
	return dim
}

// palette is the styles of all roles, for rows and for the selected row.
type palette struct {
	plain, selected [roles]lipgloss.Style
	none            bool // without colours
	rich            bool // more than sixteen
}

// colors are the colours of a palette; a text without one has the terminal's own.
type colors struct {
	alarm, ask, fault, run, pack, rest, dim, faint, accent, selected string
}

// The right colours depend on a terminal's background, if known, and on how many colours it
// has. A test checks the contrasts.
var (
	unknownBackground = colors{alarm: mid("31"), ask: mid("35"), fault: "166", run: mid("32"), pack: mid("36"),
		rest: mid("33"),
		dim:  mid("2"), faint: mid("2"), accent: mid("34")}
	darkBackground = colors{alarm: "#ff6b6b", ask: "#d7a6ff", fault: "#f0883e", run: "#7ee787", pack: "#76e3ea",
		rest: "#e3c567",
		dim:  "#8b949e", faint: "#484f58", accent: "#79c0ff", selected: "#21303f"}
	lightBackground = colors{alarm: "#c4162a", ask: "#7d2bbf", fault: "#a84300", run: "#116d2b", pack: "#0b6b76",
		rest: "#795400",
		dim:  "#57606a", faint: "#afb8c1", accent: "#0550ae", selected: "#dbe9f9"}

	// Only the terminal's owner knows what the sixteen basic colours look like.
	unknownOf16 = colors{alarm: "1", ask: "5", fault: "1"}
	darkOf16    = colors{alarm: "1", ask: "5", fault: "1", run: "2", pack: "6", rest: "3", accent: "6"}
	lightOf16   = colors{alarm: "1", ask: "5", fault: "1", accent: "5"}
)

// mid returns the colour of middle brightness that replaces a basic one.
func mid(sgr string) string { return term.Midtones[sgr] }

// background is what is known about a terminal's background.
type background uint8

const (
	unknown background = iota
	dark
	light
)

func colorsFor(p colorprofile.Profile, b background) colors {
	if p == colorprofile.ANSI {
		return [...]colors{unknown: unknownOf16, dark: darkOf16, light: lightOf16}[b]
	}
	c := [...]colors{unknown: unknownBackground, dark: darkBackground, light: lightBackground}[b]
	if p == colorprofile.ANSI256 && b == dark {
		c.selected = "236" // the nearest of 256 is too bright
	}
	return c
}

func newPalette(color bool, c colors) *palette {
	base := lipgloss.NewStyle()
	p := &palette{none: !color, rich: c.dim != ""}
	if !color {
		for i := range p.plain {
			p.plain[i] = base
		}
		p.plain[strong], p.plain[keycap] = base.Bold(true), base.Bold(true)
		p.selected = p.plain
		return p
	}
	of := func(name string) lipgloss.Style {
		if name == "" {
			return base
		}
		return base.Foreground(lipgloss.Color(name))
	}
	p.plain = [roles]lipgloss.Style{text: base, strong: base.Bold(true), dim: of(c.dim), faint: of(c.faint),
		accent: of(c.accent).Bold(true),
		alarm:  of(c.alarm).Bold(true), ask: of(c.ask).Bold(true), fault: of(c.fault).Bold(true), run: of(c.run),
		pack: of(c.pack), rest: of(c.rest),
		keycap: of(c.accent)}
	p.selected = p.plain
	if c.selected != "" {
		for i := range p.selected {
			p.selected[i] = p.selected[i].Background(lipgloss.Color(c.selected))
		}
	}
	return p
}

// named draws text in a role, but in the colour that the user gave a project, unless that
// colour is not readable on every background.
func (p *palette) named(color string, r role, s string, selected bool) string {
	style := p.plain[r]
	if selected {
		style = p.selected[r]
	}
	if c := p.project(term.Colors[color]); c != "" && r != dim {
		style = style.Foreground(lipgloss.Color(c))
	}
	return style.Render(s)
}

// project returns the palette's colour for an SGR parameter.
func (p *palette) project(sgr string) string {
	switch {
	case p.none || sgr == "":
		return ""
	case p.rich:
		return mid(sgr)
	case slices.Contains(term.Safe, sgr):
		return strings.TrimPrefix(sgr, "3")
	}
	return ""
}

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
