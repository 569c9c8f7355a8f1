package term

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// terminal measures text as terminals draw it, with the colours in it. Package ansi does the
// same, but its initialization costs a prompt a tenth of its time.
var terminal = displaywidth.Options{ControlSequences: true}

// widthOf returns how many columns s takes. Nearly all that a list shows is ASCII, whose width
// is its length: without this a list of 1,000 sessions would take a tenth longer.
func widthOf(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return terminal.String(s)
		}
	}
	return len(s)
}

// truncate shortens s to width columns, including tail if it is cut.
func truncate(s string, width int, tail string) string {
	return terminal.TruncateString(s, width, tail)
}

// Middle cuts s down to width columns, in its middle.
func Middle(s string, width int) string {
	n := widthOf(s)
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
