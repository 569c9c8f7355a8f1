package manual

import (
	"path"
	"regexp"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/x/ansi"
)

// Widest is the number of columns up to which a text is easy to read.
const Widest = 110

// Fit formats a page for a terminal of width columns: it wraps paragraphs, lists and tables
// between words, writes out where links lead, and leaves pictures out.
func Fit(page string, width int) string {
	var out []string
	for _, block := range strings.Split(strings.TrimSpace(page), "\n\n") {
		switch {
		case strings.HasPrefix(block, "!["):
			continue
		case strings.HasPrefix(block, "|"):
			block = fitTable(unlink(block), width)
		case !strings.HasPrefix(block, "    ") && !strings.HasPrefix(block, "#"):
			block = fitText(unlink(block), width)
		}
		out = append(out, block)
	}
	return strings.Join(out, "\n\n") + "\n"
}

var leads = regexp.MustCompile(`\[([^][]*)\]\(([^)]*)\)`)

// unlink writes links out: another page as the command that prints it, an address as it is. A
// link to a source file is dropped, since the file is not at hand.
func unlink(text string) string {
	return leads.ReplaceAllStringFunc(text, func(l string) string {
		m := leads.FindStringSubmatch(l)
		topic, isPage := strings.CutSuffix(m[2], ".md")
		switch {
		case isPage && path.Base(topic) == topic:
			return m[1] + " (beckon help " + topic + ")"
		case strings.Contains(m[2], "://"):
			return m[1] + " (" + m[2] + ")"
		}
		return m[1]
	})
}

// whole replaces the characters at which the library breaks a word, as in --dry-run, or a table
// ends a cell; back puts them back.
var (
	whole = strings.NewReplacer("-", "\u2011", `\|`, "\u2016")
	back  = strings.NewReplacer("\u2011", "-", "\u2016", "|")
)

// fitText wraps a paragraph, or the items of a list.
func fitText(block string, width int) string {
	var out []string
	for i, text := range strings.Split("\n"+block, "\n- ") {
		text = whole.Replace(strings.Join(strings.Fields(text), " "))
		switch {
		case i > 0:
			out = append(out, "- "+strings.ReplaceAll(ansi.Wordwrap(text, width-2, ""), "\n", "\n  "))
		case text != "": // before the first item
			out = append(out, ansi.Wordwrap(text, width, ""))
		}
	}
	return back.Replace(strings.Join(out, "\n"))
}

// fitTable draws a table, and wraps its cells if the whole would be too wide.
func fitTable(block string, width int) string {
	t := table.New().BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).
		StyleFunc(func(int, int) lipgloss.Style { return lipgloss.NewStyle().PaddingRight(2) })
	for line := range strings.SplitSeq(block, "\n") { // the header as a row, since a table's own does not wrap
		cells := strings.Split(whole.Replace(line), "|")
		cells = cells[1 : len(cells)-1]
		for j, cell := range cells {
			cells[j] = strings.TrimSpace(cell)
		}
		t.Row(cells...)
	}
	if lipgloss.Width(t.Render()) > width {
		t.Width(width)
	}
	lines := strings.Split(back.Replace(ansi.Strip(t.Render())), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
