package card

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// rowWidth is how many characters a notification shows in a row.
const rowWidth = 40

// Brief returns a card as text for a notification of that many rows: the request, and where it
// would happen. whole reports whether it shows the whole card; otherwise the text ends in "…",
// or says why not.
func (c *Card) Brief(rows int) (text string, whole bool) {
	where := c.Dir
	if c.Branch != "" {
		where += " (" + c.Branch + ")"
	}
	if c.Host != "" {
		where += " on " + c.Host
	}
	if c.Agent != "" {
		where += ", asked by its subagent " + c.Agent
	}
	lines := []string{c.Title}
	for _, l := range c.Lines {
		lines = append(lines, l.Text)
	}
	rows -= rowsOf("in " + where)
	whole = c.Whole
	var b strings.Builder
	for _, l := range lines {
		if rows -= rowsOf(l); rows < 0 {
			whole = false
			b.WriteString("…\n")
			break
		}
		b.WriteString(l + "\n")
	}
	if !c.Whole {
		b.WriteString("(" + Line1(c.Why) + ")\n")
	}
	return b.String() + "in " + where, whole
}

// rowsOf returns the most rows that a line takes: broken at its spaces, with long words in
// rows of their own.
func rowsOf(line string) (rows int) {
	rows, left := 1, rowWidth
	for word := range strings.SplitAfterSeq(line, " ") {
		n := ansi.StringWidth(word)
		if n > left && left < rowWidth {
			rows, left = rows+1, rowWidth
		}
		rows, left = rows+max(0, n-1)/rowWidth, left-n
		if n > rowWidth {
			left = rowWidth - (n-1)%rowWidth - 1
		}
	}
	return rows
}
