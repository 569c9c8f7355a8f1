package term

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// terminal measures text as terminals draw it, with the colours in it. Package ansi does the
// same, but its initialization costs a prompt a tenth of its time.
var terminal = displaywidth.Options{ControlSequences: true}

// Width returns how many columns s takes. Nearly all that a list shows is ASCII, whose width
// is its length: without this a list of 1,000 sessions would take a tenth longer.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return terminal.String(s)
		}
	}
	return len(s)
}

// Cut cuts s down to width columns, one at least, with an ellipsis.
func Cut(s string, width int) string { return truncate(s, max(1, width), "…") }

// Fit cuts or fills s to width columns; right puts the blanks before it.
func Fit(s string, width int, right bool) string {
	if width <= 0 {
		return ""
	}
	s = Cut(s, width)
	pad := strings.Repeat(" ", max(0, width-Width(s)))
	if right {
		return pad + s
	}
	return s + pad
}

// truncate shortens s to width columns, including tail if it is cut.
func truncate(s string, width int, tail string) string {
	return terminal.TruncateString(s, width, tail)
}

// Middle cuts s down to width columns, in its middle.
func Middle(s string, width int) string {
	n := Width(s)
	if n <= width {
		return s
	}
	head := width / 2
	left := n - (width - head - 1) // columns to leave out before the end
	g, rest := terminal.StringGraphemes(s), s
	for left > 0 && g.Next() {
		left -= g.Width()
		rest = strings.TrimPrefix(rest, g.Value())
	}
	return truncate(s, head, "") + "…" + rest
}

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
	color := strings.TrimPrefix(sgr, "1;")
	bold := strings.TrimSuffix(sgr, color)
	switch mid := Midtones[color]; {
	case mid == "" || !st.Rich && slices.Contains(Safe, color):
		return sgr
	case st.Rich:
		return bold + "38;5;" + mid
	}
	return strings.TrimSuffix(bold, ";")
}
