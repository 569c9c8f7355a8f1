package tui

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"beckon/render"
	"beckon/render/term"
)

// orderMeans describes an order of the rows of one group.
var orderMeans = map[render.Mode]string{
	render.Fair: "the longest waiting first", render.Prio: "the newest first",
	render.Static: "as they were first seen", render.Grouped: "as first seen, by terminal window",
}

// Grouping is the criterion of the screen's headings.
type Grouping string

// The groupings.
const (
	ByNeed    Grouping = "need"
	ByProject Grouping = "project"
	byHost    Grouping = "host"
	noGroups  Grouping = "none"
)

var groupings = []Grouping{ByNeed, ByProject, byHost, noGroups}

// next returns the value after v, the first after the last.
func next[T comparable](all []T, v T) T { return all[(slices.Index(all, v)+1)%len(all)] }

func heading(r *render.Row, by Grouping) string {
	switch by {
	case ByNeed:
		return string(r.Group)
	case ByProject:
		return cmp.Or(r.Project, "no project")
	case byHost:
		return cmp.Or(r.Host, "this machine")
	}
	return ""
}

func wordsOf(filter string) []string { return strings.Fields(strings.ToLower(filter)) }

// matches reports whether a row's visible text contains every word of the filter.
func matches(r *render.Row, words []string) bool {
	parts := []string{string(r.State), term.Word(r), r.Reason, r.Name, r.Project, r.Title, r.What(), r.Cwd, r.Host,
		r.SessionID, r.Agent}
	if r.Git != nil {
		parts = append(parts, r.Git.Branch, r.Git.Worktree)
	}
	text := strings.ToLower(strings.Join(parts, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// best returns the index of the row whose name fits the words of a filter best, the first of
// several: a name that begins with a word is better than one with a word in it that does, and
// that is better than any other text.
func best(rows []render.Row, words []string) (at int) {
	least := -1
	for i := range rows {
		rank, whole := 0, strings.ToLower(name(&rows[i]))
		parts := " " + strings.Join(strings.FieldsFunc(whole+" "+strings.ToLower(branch(&rows[i])), separates), " ")
		for _, w := range words {
			switch {
			case strings.HasPrefix(whole, w):
			case strings.Contains(parts, " "+w):
				rank++
			default:
				rank += 2
			}
		}
		if least < 0 || rank < least {
			at, least = i, rank
		}
	}
	return at
}

func separates(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// entry is one line of the list: a heading, a row, or a gap between groups.
type entry struct {
	heading string
	count   int
	row     int // index into the rows; -1 for a heading or gap
	folded  bool
}

// arrange sorts and filters rows and inserts headings: rows in the queue's order, those under
// one heading together. Rows that need the user come first, except in the orders that keep
// places, where there are no groups by need. With fold the ended ones are no more than a heading,
// unless there are no others or the filter looks for one.
func arrange(rows []*render.Row, by render.Queue, grouping Grouping, filter string, fold bool) ([]render.Row, []entry) {
	if words := wordsOf(filter); len(words) > 0 {
		fold = false
		rows = slices.DeleteFunc(rows, func(r *render.Row) bool { return !matches(r, words) })
	}
	var groups func(a, b *render.Row) int
	if grouping == ByProject || grouping == byHost {
		groups = func(a, b *render.Row) int { return strings.Compare(heading(a, grouping), heading(b, grouping)) }
	}
	shown := by.Grouped(rows, groups, grouping == ByNeed || by.Mode == render.Fair || by.Mode == render.Prio)
	folded := 0
	for fold && grouping == ByNeed && folded < len(shown) && shown[len(shown)-1-folded].Group == render.GroupOver {
		folded++
	}
	if folded == len(shown) {
		folded = 0
	}
	shown = shown[:len(shown)-folded]
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
		name := heading(&shown[i], grouping)
		if grouping != noGroups && (under < 0 || entries[under].heading != name) {
			head(entry{heading: name, row: -1})
		}
		if under >= 0 {
			entries[under].count++
		}
		entries = append(entries, entry{row: i})
	}
	if folded > 0 {
		head(entry{heading: string(render.GroupOver), count: folded, row: -1, folded: true})
	}
	return shown, entries
}
