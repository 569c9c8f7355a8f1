// Package term draws rows for a terminal: the list, and the texts of show and
// explain. Output goes to stdout; colour is the caller's decision.
package term

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/render"
	"beckon/state"

	"github.com/charmbracelet/x/ansi"
)

// Style says how to draw.
type Style struct {
	Color  bool
	Width  int // columns; 0 means do not cut
	Now    time.Time
	Answer string // the command that answers what sessions ask; empty: there is nothing to answer
}

// look is how a state is drawn: a glyph that tells it without colour, and an
// SGR colour.
type look struct{ glyph, sgr string }

func lookOf(s state.State) look {
	switch s {
	case state.Permission:
		return look{"!", "1;31"}
	case state.Question:
		return look{"?", "1;35"}
	case state.Failed:
		return look{"x", "31"}
	case state.Working:
		return look{"*", "32"}
	case state.Compacting:
		return look{"~", "36"}
	case state.Idle:
		return look{"-", "33"}
	case state.Backburned:
		return look{"z", "2"}
	}
	return look{".", "2"}
}

func (st Style) paint(sgr, text string) string {
	if !st.Color || sgr == "" || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// roomForContext is the least width, in columns, of a list that shows how full
// each context is.
const roomForContext = 100

// List writes one line a row: state, age, where, what, how full the context is
// where that is known and fits, id. The what column takes the room that is left.
func List(w io.Writer, rows []render.Row, st Style) error {
	table := make([][]string, 0, len(rows)+1)
	table = append(table, []string{"  STATE", "FOR", "WHERE", "WHAT", "SESSION"})
	several := severalHosts(rows)
	for i := range rows {
		line := cells(&rows[i], st.Now)
		if r := &rows[i]; several && r.Remote == nil && r.Host != "" {
			line[2] = clean(r.Host) + ": " + line[2]
		}
		table = append(table, line)
	}
	if st.Width == 0 || st.Width >= roomForContext {
		addContext(table, rows)
	}
	width := columns(table)
	if st.Width > 0 {
		rest := st.Width - width[0] - width[1] - 2*(len(width)-1)
		for _, w := range width[4:] {
			rest -= w
		}
		width[2] = min(width[2], max(12, rest/3))
		width[3] = min(width[3], max(8, rest-width[2]))
	}
	var out strings.Builder
	for i, line := range table {
		sgr := "2"
		if i > 0 {
			sgr = lookOf(rows[i-1].State).sgr
		}
		out.WriteString(drawLine(line, width, sgr, i == 0, st))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// severalHosts reports whether the rows of this machine's own state are of
// several machines: some sender reported a session elsewhere.
func severalHosts(rows []render.Row) bool {
	host := ""
	for i := range rows {
		if h := rows[i].Host; rows[i].Remote == nil && h != "" {
			if host != "" && h != host {
				return true
			}
			host = h
		}
	}
	return false
}

func cells(r *render.Row, now time.Time) []string {
	l := lookOf(r.State)
	name := Word(r)
	if r.Unseen {
		name += " (new)"
	}
	what := r.What() + badges(r)
	if r.Remote != nil && r.Remote.Stale {
		what += " [as of " + Age(now.Sub(r.Remote.AsOf)) + " ago]"
	}
	return []string{l.glyph + " " + clean(name), Age(now.Sub(r.Since)), clean(where(r)), clean(what), clean(shortID(r.SessionID))}
}

// addContext puts a column before the last one, if any row has what it shows.
func addContext(table [][]string, rows []render.Row) {
	if !slices.ContainsFunc(rows, func(r render.Row) bool { return r.Context != nil }) {
		return
	}
	table[0] = slices.Insert(table[0], 4, "CTX")
	for i := range rows {
		used := ""
		if c := rows[i].Context; c != nil {
			used = Percent(c.UsedPercentage)
		}
		table[i+1] = slices.Insert(table[i+1], 4, used)
	}
}

func where(r *render.Row) string {
	if r.Remote != nil {
		local := *r
		local.Remote = nil
		return r.Remote.Name + ": " + where(&local)
	}
	if r.Git != nil && r.Git.Branch != "" {
		return r.Label() + " " + r.Git.Branch
	}
	return r.Label()
}

func badges(r *render.Row) string {
	var b strings.Builder
	add := func(n int, one string) {
		if n > 0 {
			b.WriteString(" [" + plural(n, one) + "]")
		}
	}
	add(len(r.Subagents), "subagent")
	if r.Background != nil {
		add(r.Background.Shells, "shell")
		add(r.Background.Crons, "schedule")
	}
	return b.String()
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

func shortID(id string) string {
	if len(id) > 8 {
		return ansi.Truncate(id, 8, "")
	}
	return id
}

func columns(table [][]string) []int {
	width := make([]int, len(table[0]))
	for _, line := range table {
		for i, c := range line {
			width[i] = max(width[i], ansi.StringWidth(c))
		}
	}
	return width
}

func drawLine(line []string, width []int, sgr string, head bool, st Style) string {
	var b strings.Builder
	for i, c := range line {
		c = ansi.Truncate(c, width[i], "…")
		pad := strings.Repeat(" ", width[i]-ansi.StringWidth(c))
		if i == 0 || head {
			c = st.paint(sgr, c)
		}
		b.WriteString(c)
		if i < len(line)-1 {
			b.WriteString(pad + "  ")
		}
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// Age writes a duration as people say it: 12s, 3m, 2h, 5d.
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
