// Package term draws rows for a terminal: the list, and the texts of show and
// explain. Output goes to stdout; colour is the caller's decision.
package term

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/render"
	"beckon/state"
	"beckon/state/store"
)

// Style says how to draw.
type Style struct {
	Color  bool
	Rich   bool // the terminal has 256 colours
	Width  int  // columns; 0 means unlimited
	Now    time.Time
	Answer string // the command that answers requests; empty: there are none
}

// look is how a state is drawn: a glyph that identifies it without colour, and an SGR colour.
type look struct{ glyph, sgr string }

var looks = map[state.State]look{
	state.Permission: {"!", "1;31"}, state.Question: {"?", "1;35"}, state.Failed: {"x", "31"}, state.Working: {"*", "32"},
	state.Compacting: {"~", "36"}, state.Idle: {"-", "33"}, state.Backburned: {"z", "2"},
}

func lookOf(s state.State) look { return cmp.Or(looks[s], look{".", "2"}) }

// Color returns the SGR parameters of a state.
func Color(s state.State) string { return lookOf(s).sgr }

// Glyph returns the sign that identifies a state without colour.
func Glyph(s state.State) string { return lookOf(s).glyph }

// Aside is the name of the state of a session that the user has set aside; the formats for
// programs keep the older name, backburner.
const Aside = "aside"

// Word returns the name of a row's state; for an idle session its reason.
func Word(r *render.Row) string {
	switch {
	case r.State == state.Idle && r.Reason == state.Done && r.Refused > 0:
		return r.Reason + ", " + strconv.Itoa(r.Refused) + " refused"
	case r.State == state.Idle && r.Reason != "":
		return r.Reason
	case r.State == state.Backburned:
		return Aside
	}
	return string(r.State)
}

// Matches reports whether a row contains every word of a filter, in lower case. A word after ! must
// not be in it, and one after label: must be a word of its label.
func Matches(r *render.Row, words []string) bool {
	parts := []string{string(r.State), Word(r), r.Reason, r.Name, r.Project, r.Title, r.What(), r.Cwd, r.Host,
		r.SessionID, r.Agent, "#" + r.Label}
	if r.Git != nil {
		parts = append(parts, r.Git.Branch, r.Git.Worktree)
	}
	text, labels := strings.ToLower(strings.Join(parts, "\n")), strings.Fields(strings.ToLower(r.Label))
	return !slices.ContainsFunc(words, func(w string) bool {
		w, not := strings.CutPrefix(w, "!")
		label, is := strings.CutPrefix(w, "label:")
		has := strings.Contains(text, w)
		if is {
			has = slices.Contains(labels, label) || label == "" && len(labels) > 0
		}
		return w != "" && has == not
	})
}

// The columns of a list.
const (
	colState = iota
	colAge
	colWhere
	colWhat
	colContext
	colID
)

// Least widths of a list that shows how full each context is, and of one that shows the
// sessions' ids; and of its columns.
const (
	roomForContext = 100
	roomForID      = 60
	leastWhere     = 12
	leastWhat      = 8
)

// List returns one line per row: state, age, where, what, how full the context is if known and
// if it fits, id. The what column takes the remaining width.
func List(rows []render.Row, st Style) string {
	table := make([][]string, len(rows)+1)
	table[0] = []string{"  STATE", "FOR", "WHERE", "WHAT", "CTX", "SESSION"}
	hosts := map[string]bool{} // of this machine's own state: some sender may report a session elsewhere
	for i := range rows {
		if rows[i].Remote == nil && rows[i].Host != "" {
			hosts[rows[i].Host] = true
		}
	}
	store.Parallel(len(rows), func(i int) { table[i+1] = cells(&rows[i], len(hosts) > 1, st.Now) })
	width := make([]int, len(table[0]))
	for c := range width {
		width[c] = columnOf(len(table), math.MaxInt, func(i int) string { return table[i][c] })
	}
	if st.Width > 0 && st.Width < roomForID {
		width[colID] = 0
	}
	if st.Width > 0 && st.Width < roomForContext ||
		!slices.ContainsFunc(rows, func(r render.Row) bool { return r.Context != nil }) {
		width[colContext] = 0
	}
	if st.Width > 0 {
		narrow(width, st.Width)
	}
	lines := make([]string, len(table))
	store.Parallel(len(table), func(i int) {
		sgr := "2"
		if i > 0 {
			r := &rows[i-1]
			if r.Remote == nil || !r.Remote.Stale {
				sgr = lookOf(r.State).sgr
			}
		}
		lines[i] = drawLine(table[i], width, sgr, i == 0, st)
	})
	return strings.Join(lines, "")
}

// narrow fits the widths of columns into a line; 0 hides one.
func narrow(width []int, line int) {
	rest := line + 2
	for i, w := range width {
		if i == colWhere || i == colWhat {
			rest -= 2
		} else if w > 0 {
			rest -= w + 2
		}
	}
	if rest < leastWhere+leastWhat { // where it is says more than what it does
		width[colWhere] = min(width[colWhere], max(1, rest+2))
		width[colWhat], width[colContext], width[colID] = 0, 0, 0
		return
	}
	width[colWhere] = min(width[colWhere], max(leastWhere, rest/3))
	width[colWhat] = min(width[colWhat], rest-width[colWhere])
}

func cells(r *render.Row, severalHosts bool, now time.Time) []string {
	l, at := lookOf(r.State), where(r)
	if severalHosts && r.Remote == nil && r.Host != "" {
		at.name = clean(r.Host) + ": " + at.name
	}
	name := Word(r)
	if r.Unseen {
		name += " (new)"
	}
	what := r.What()
	for _, b := range Badges(r) {
		what += " [" + b + "]"
	}
	if r.Remote != nil && r.Remote.Stale {
		what += " [as of " + Age(now.Sub(r.Remote.AsOf)) + " ago]"
	}
	return []string{l.glyph + " " + clean(name), Age(now.Sub(r.Since)), at.String(), clean(what), Used(r),
		clean(truncate(r.SessionID, 8, ""))}
}

// Used returns how full a session's context is, "" if that is not known.
func Used(r *render.Row) string {
	if r.Context == nil {
		return ""
	}
	return Percent(r.Context.UsedPercentage)
}

// place is where a session works, as people name it.
type place struct{ name, branch string }

func where(r *render.Row) place {
	p := place{name: clean(r.ShownName())}
	if r.Git != nil {
		p.branch = clean(r.Git.Branch)
	}
	if r.Remote != nil {
		p.name = clean(r.Remote.Name) + ": " + p.name
	}
	return p
}

func (p place) String() string { return strings.TrimSpace(p.name + " " + p.branch) }

// Plural returns a number with its noun.
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

func drawLine(line []string, width []int, sgr string, head bool, st Style) string {
	var b strings.Builder
	for i, c := range line {
		if width[i] == 0 {
			continue
		}
		if i == colWhere { // its ends distinguish it from others
			c = Middle(c, width[i])
		}
		c = truncate(c, width[i], "…")
		pad := strings.Repeat(" ", width[i]-Width(c)+2)
		if i == colState || head {
			c = st.Paint(sgr, c)
		}
		b.WriteString(c + pad)
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// Age formats a duration as people say it: 12s, 3m, 2h, 5d.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d"
}
