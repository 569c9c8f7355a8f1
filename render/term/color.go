package term

import "strings"

// The 16 basic colours are the terminal's own, and only its owner knows what they look like: a
// light background makes yellow unreadable, and Solarized has grey for half of them. The 256
// colours are the same in every terminal, and some of middle brightness can be read on black,
// on white and on everything between. A test checks the contrasts.

// Midtones are colours of middle brightness, by the SGR parameter that each replaces.
var Midtones = map[string]string{"31": "196", "32": "28", "33": "136", "34": "32", "35": "134", "36": "30", "2": "244"}

// Safe are the basic colours that can be read on black and on white, with terminals' default
// values, and on Solarized's backgrounds; also in bold, where that is brighter. Everything
// else is written in the terminal's own colour: glyphs and words say the same.
var Safe = []string{"31", "35"}

// Paint draws text with an SGR attribute or colour, as far as this terminal supports it.
func (st Style) Paint(sgr, text string) string {
	if sgr = st.sgr(sgr); !st.Color || sgr == "" || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

func (st Style) sgr(sgr string) string {
	color, bold := strings.CutPrefix(sgr, "1;")
	mid := Midtones[color]
	switch {
	case mid == "":
		return sgr
	case st.Rich:
		color = "38;5;" + mid
	case color != Safe[0] && color != Safe[1]:
		color = ""
	}
	if bold {
		return strings.TrimSuffix("1;"+color, ";")
	}
	return color
}
