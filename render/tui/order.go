package tui

import (
	"cmp"
	"slices"
	"strings"

	"beckon/render"
	"beckon/render/term"
)

func wordsOf(filter string) []string { return strings.Fields(strings.ToLower(filter)) }

// best returns the index of the row whose name fits the words of a filter best, the first of several:
// a name that begins with a word is better than one with a word in it that does.
func best(rows []render.Row, words []string) (at int) {
	most := -1
	for i := range rows {
		rank, whole := 0, strings.ToLower(name(&rows[i]))
		for _, w := range words {
			if strings.HasPrefix(whole, w) {
				rank += 2
			} else if strings.Contains(whole, " "+w) {
				rank++
			}
		}
		if rank > most {
			at, most = i, rank
		}
	}
	return at
}

// entry is one line of the list: a heading, a row, or a gap between groups.
type entry struct {
	heading render.Group // or a label, in the order of labels
	count   int
	row     int // index into the rows; -1 for a heading or gap
	folded  bool
}

// unlabelled is the heading of rows without a label.
const unlabelled render.Group = "no label"

// arrange sorts and filters rows and inserts headings. Rows that need the user come first, except in
// the orders that keep places, where only labels are headings. With fold the ended ones are no more than
// a heading, unless there are no others or the filter looks for one.
func arrange(rows []*render.Row, by render.Queue, filter string, fold bool) ([]render.Row, []entry) {
	if words := wordsOf(filter); len(words) > 0 {
		fold = false
		rows = slices.DeleteFunc(rows, func(r *render.Row) bool { return !term.Matches(r, words) })
	}
	grouped := !by.Mode.Keeps()
	shown := by.Grouped(rows, grouped)
	folded := 0
	over := slices.IndexFunc(shown, func(r render.Row) bool { return r.Group == render.GroupOver })
	if fold && grouped && over > 0 {
		folded, shown = len(shown)-over, shown[:over]
	}
	entries := make([]entry, 0, len(shown)+len(render.Groups)*2)
	under := -1 // the heading under way
	head := func(e entry) {
		if under >= 0 {
			entries = append(entries, entry{row: -1})
		}
		under = len(entries)
		entries = append(entries, e)
	}
	for i := range shown {
		g := shown[i].Group
		if by.Mode == render.Labels {
			g = cmp.Or(render.Group(shown[i].Label), unlabelled)
		}
		if (grouped || by.Mode == render.Labels) && (under < 0 || entries[under].heading != g) {
			head(entry{heading: g, row: -1})
		}
		if under >= 0 {
			entries[under].count++
		}
		entries = append(entries, entry{row: i})
	}
	if folded > 0 {
		head(entry{heading: render.GroupOver, count: folded, row: -1, folded: true})
	}
	return shown, entries
}
