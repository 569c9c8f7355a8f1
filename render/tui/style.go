package tui

import (
	"cmp"

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

// stateRole is the colour of a state; its glyph shows the same without colour.
func stateRole(s state.State) role {
	return cmp.Or(map[state.State]role{
		state.Permission: alarm, state.Question: ask, state.Failed: fault, state.Working: run,
		state.Compacting: pack, state.Idle: rest,
	}[s], dim)
}

// fullness is the role of a percentage.
func fullness(percent float64) role {
	if percent >= term.NearlyFull {
		return fault
	}
	return dim
}

// background is what is known about a terminal's background.
type background uint8

const (
	unknown background = iota
	dark
	light
)

// colors are a colour for each background; "" is the terminal's own.
type colors [3]string

// looks is the table of styles: the colours of terminals with 256 or more, and of those with 16,
// which look as only the terminal's owner knows. A test checks the contrasts.
var looks = [roles]struct {
	many, few colors
	bold      bool
}{
	strong: {bold: true},
	dim:    {many: colors{mid("2"), "#8b949e", "#57606a"}},
	faint:  {many: colors{mid("2"), "#484f58", "#afb8c1"}},
	accent: {many: colors{mid("34"), "#79c0ff", "#0550ae"}, few: colors{"", "6", "5"}, bold: true},
	alarm:  {many: colors{mid("31"), "#ff6b6b", "#c4162a"}, few: colors{"1", "1", "1"}, bold: true},
	ask:    {many: colors{mid("35"), "#d7a6ff", "#7d2bbf"}, few: colors{"5", "5", "5"}, bold: true},
	fault:  {many: colors{"166", "#f0883e", "#a84300"}, few: colors{"1", "1", "1"}, bold: true},
	run:    {many: colors{mid("32"), "#7ee787", "#116d2b"}, few: colors{"", "2", ""}},
	pack:   {many: colors{mid("36"), "#76e3ea", "#0b6b76"}, few: colors{"", "6", ""}},
	rest:   {many: colors{mid("33"), "#e3c567", "#795400"}, few: colors{"", "3", ""}},
	keycap: {many: colors{mid("34"), "#79c0ff", "#0550ae"}, few: colors{"", "6", "5"}},
}

func mid(sgr string) string { return term.Midtones[sgr] }

// colorOf returns a role's colour in a terminal.
func colorOf(r role, p colorprofile.Profile, b background) string {
	if p == colorprofile.ANSI {
		return looks[r].few[b]
	}
	return looks[r].many[b]
}

func selectedColor(p colorprofile.Profile, b background) string {
	switch {
	case p == colorprofile.ANSI:
		return ""
	case p == colorprofile.ANSI256 && b == dark:
		return "236" // the nearest of 256 is too bright
	}
	return colors{"", "#21303f", "#dbe9f9"}[b]
}

// palette is the styles of all roles, for rows and for the selected row.
type palette struct {
	plain, selected [roles]lipgloss.Style
}

func newPalette(color bool, profile colorprofile.Profile, b background) *palette {
	p := &palette{}
	for r := range roles {
		style := lipgloss.NewStyle().Bold(looks[r].bold)
		if !color {
			style = lipgloss.NewStyle().Bold(r == strong || r == keycap)
		} else if name := colorOf(r, profile, b); name != "" {
			style = style.Foreground(lipgloss.Color(name))
		}
		p.plain[r], p.selected[r] = style, style
		if back := selectedColor(profile, b); color && back != "" {
			p.selected[r] = style.Background(lipgloss.Color(back))
		}
	}
	return p
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
