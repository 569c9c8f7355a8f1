package term

import (
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
