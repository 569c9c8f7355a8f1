package term

import (
	"strconv"
	"strings"
	"time"

	"beckon/render"
)

// maxName is the most columns for a session's name in a line with others.
const maxName = 24

// Waiting returns the rows that need the user, in the order of rows.
func Waiting(rows []render.Row) (waiting []render.Row) {
	for i := range rows {
		if rows[i].NeedsYou {
			waiting = append(waiting, rows[i])
		}
	}
	return waiting
}

// names returns a name for each row: the user's, else its project, after the machine's name
// for a row of another machine. Equal names get their branch, and if that is equal too, the
// beginning of the session's id.
func names(rows []render.Row) []string {
	out := make([]string, len(rows))
	for i := range rows {
		out[i] = where(&rows[i]).name
	}
	out = apart(out, func(i int) string {
		if g := rows[i].Git; g != nil && g.Branch != "" {
			return " " + clean(g.Branch)
		}
		return ""
	})
	out = apart(out, func(i int) string { return " " + truncate(clean(rows[i].SessionID), 4, "") })
	for i := range out {
		out[i] = truncate(out[i], maxName, "…")
	}
	return out
}

// apart appends more(i) to every name that is not unique, or empty.
func apart(names []string, more func(i int) string) []string {
	count := map[string]int{}
	for _, n := range names {
		count[n]++
	}
	out := make([]string, len(names))
	for i, n := range names {
		if count[n] > 1 || n == "" {
			n = strings.TrimSpace(n + more(i))
		}
		out[i] = n
	}
	return out
}

// answerWidth is the width from which a NeedList says how to answer.
const answerWidth = 60

// NeedList lists the sessions that wait for the user, the first of rows first: "2 need you:
// api permission 3m, web question". It takes at most width columns (0: unlimited) and is empty
// if none waits.
func NeedList(rows []render.Row, st Style) string {
	waiting := Waiting(rows)
	if len(waiting) == 0 {
		return ""
	}
	head := "1 needs you"
	if len(waiting) > 1 {
		head = strconv.Itoa(len(waiting)) + " need you"
	}
	if st.Answer != "" && (st.Width == 0 || st.Width >= answerWidth) {
		head += " (" + st.Answer + ")"
	}
	head += ": "
	named := names(waiting)
	var b strings.Builder
	b.WriteString(st.Paint("1;31", strings.TrimRight(head, " ")) + " ")
	column := len(head)
	for i := range waiting {
		entry := st.entry(named[i], &waiting[i])
		width := Width(entry)
		if rest := len(waiting) - i; st.Width > 0 && i > 0 && column+2+width+restWidth(rest-1) > st.Width {
			b.WriteString(", +" + strconv.Itoa(rest))
			break
		}
		if i > 0 {
			b.WriteString(", ")
			column += 2
		}
		b.WriteString(entry)
		column += width
	}
	if st.Width > 0 {
		return truncate(b.String(), st.Width, "…")
	}
	return b.String()
}

// restWidth is the width of ", +N" for n entries left out.
func restWidth(n int) int {
	if n == 0 {
		return 0
	}
	return len(", +") + len(strconv.Itoa(n))
}

// entry returns one session of a NeedList: name, what it needs, for how long. An age under a
// minute is left out, since it says little and changes all the time.
func (st Style) entry(name string, r *render.Row) string {
	text := name + " " + st.Paint(lookOf(r.State).sgr, string(r.State))
	if age := st.Now.Sub(r.Since); age >= time.Minute {
		text += st.Paint("2", " "+Age(age))
	}
	return text
}

// clean makes foreign text safe for a terminal.
func clean(s string) string { return render.OneLine(s) }

// count returns how many rows a field of a template counts, "" for none.
func count(rows []render.Row, field string) string {
	n := 0
	for i := range rows {
		r := &rows[i]
		if field == string(r.State) || field == "total" || field == "need" && r.NeedsYou || field == "unseen" && r.Unseen {
			n++
		}
	}
	return strings.TrimPrefix(strconv.Itoa(n), "0")
}
