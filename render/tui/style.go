package tui

import "beckon/render/term"

// role is the meaning of a piece of text: the SGR parameters that show it (term.Style.Paint).
type role = string

const (
	text   role = ""
	strong role = "1"
	dim    role = "2"
	picked role = "1;7" // the name in the selected row
	accent role = "1;34"
	alarm  role = "1;31"
	fault  role = "31"
	run    role = "32"
	rest   role = "33"
	keycap role = "34"
)

// fullness is the role of a percentage.
func fullness(percent float64) role {
	if percent >= term.NearlyFull {
		return fault
	}
	return dim
}

func (m *model) paint(r role, s string) string {
	return m.opt.Style.Paint(r, s)
}
