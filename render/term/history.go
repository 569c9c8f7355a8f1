package term

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/event/intent"
	"beckon/render"
	"beckon/state"
	"beckon/state/stats"
)

// Turns returns one line per turn: when (in zone), which project if of is set, who, what. The
// text takes the remaining width.
func Turns(lines []render.TurnLine, of bool, zone *time.Location, st Style) string {
	var b strings.Builder
	project := columnOf(len(lines), 20, func(i int) string { return clean(lines[i].Project) })
	day := ""
	for i := range lines {
		t := &lines[i]
		at := t.Timestamp.In(zone)
		if d := at.Format(time.DateOnly); d != day {
			day = d
			b.WriteString(st.Paint("1", d) + "\n")
		}
		head := "  " + at.Format("15:04:05") + "  "
		if of {
			head += Fit(clean(t.Project), project, false) + "  "
		}
		look, plain := turnLook(t), ""
		if look.sgr == "1" || look.sgr == "2" { // colours are not readable on every background
			plain = look.sgr
		}
		text := cmp.Or(t.Line(), "("+string(t.Intent)+")")
		if room := st.Width - Width(head) - 2; st.Width > 0 {
			text = truncate(text, max(room, 8), "…")
		}
		b.WriteString(head + st.Paint(look.sgr, look.glyph) + " " + st.Paint(plain, text) + "\n")
	}
	return b.String()
}

// turnLook draws a turn: > the user, ? a question, ! a permission, x an error, - the end of a
// turn, . progress.
func turnLook(t *render.TurnLine) look {
	switch {
	case t.Actor == state.SpeakerUser:
		return look{">", "1"}
	case t.Rule == string(state.WaitPermission):
		return lookOf(state.Permission)
	case t.Rule == state.TurnFailure:
		return lookOf(state.Failed)
	case t.Intent == intent.IntentQuestion:
		return lookOf(state.Question)
	case t.Intent == intent.IntentProgress:
		return look{".", "2"}
	}
	return look{"-", "33"}
}

// kindLooks are how the kinds of time are drawn, the most important first. Each can be
// identified without colour.
var kindLooks = []struct {
	kind stats.Kind
	look look
	word string
}{
	{stats.Failed, look{"x", "31"}, "failed"},
	{stats.Waiting, look{"!", "35"}, "waiting for you"},
	{stats.Busy, look{"█", "32"}, "working"},
	{stats.Idle, look{"·", "2"}, "idle"},
}

const labelWidth = 24

// DrawTimeline returns a line for each track. A column is a part of the day, and shows what was
// most urgent in it. The hours are those of zone.
func DrawTimeline(t render.Timeline, zone *time.Location, st Style) string {
	label := columnOf(len(t.Tracks), labelWidth, func(i int) string { return trackLabel(&t.Tracks[i]) })
	columns := max(12, cmp.Or(st.Width, 100)-label-2)
	step := max(t.To.Sub(t.From)/time.Duration(columns), time.Second)

	var b strings.Builder
	b.WriteString(strings.Repeat(" ", label+2) + hours(t, step, columns, zone) + "\n")
	for i := range t.Tracks {
		l := &t.Tracks[i]
		b.WriteString(Fit(trackLabel(l), label, false) + "  " + strings.TrimRight(st.track(l, t.From, step, columns), " ") +
			"\n")
	}
	var legend []string
	for _, k := range kindLooks {
		legend = append(legend, st.Paint(k.look.sgr, k.look.glyph)+" "+k.word)
	}
	b.WriteString("\n" + strings.Join(legend, "  ") + "\n")
	return b.String()
}

func trackLabel(l *render.Track) string {
	return place{clean(l.Label()), clean(l.Branch)}.String()
}

// hours returns the line above the tracks: round times, as close as they fit, or else the time
// at which it begins.
func hours(t render.Timeline, step time.Duration, columns int, zone *time.Location) string {
	const width = len("15:04")
	tick := 15 * time.Minute
	for int(tick/step) <= width {
		tick *= 2
	}
	line := []byte(strings.Repeat(" ", columns))
	from := t.From.In(zone)
	for at := time.Date(from.Year(), from.Month(), from.Day(), 0, 0, 0, 0, zone); at.Before(t.To); at = at.Add(tick) {
		if column := int(at.Sub(from) / step); !at.Before(from) && column+width <= columns {
			copy(line[column:], at.Format("15:04"))
		}
	}
	if len(bytes.TrimSpace(line)) == 0 {
		copy(line, from.Format("15:04"))
	}
	return strings.TrimRight(string(line), " ")
}

// track draws the spans, each column by the first of kindLooks that occurs in it.
func (st Style) track(l *render.Track, from time.Time, step time.Duration, columns int) string {
	line := slices.Repeat([]string{" "}, columns)
	for _, k := range slices.Backward(kindLooks) {
		for _, span := range l.Spans {
			first, last := int(span.From.Sub(from)/step), int((span.To.Sub(from)-1)/step)
			for c := max(first, 0); k.kind == span.Kind && c <= min(last, columns-1); c++ {
				line[c] = st.Paint(k.look.sgr, k.look.glyph)
			}
		}
	}
	return strings.Join(line, "")
}

// DrawDigest returns a line for each session: where it stands, and what it did.
func DrawDigest(d render.Digest, zone *time.Location, st Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "since %s, %s ago\n", Moment(d.Since, st.Now.In(zone)), Age(st.Now.Sub(d.Since)))
	if len(d.Sessions) == 0 {
		b.WriteString("nothing happened\n")
	}
	label := columnOf(len(d.Sessions), labelWidth, func(i int) string { return where(&d.Sessions[i].Row).String() })
	for i := range d.Sessions {
		r := &d.Sessions[i]
		look := lookOf(r.State)
		head := fmt.Sprintf("%s %s  %-11s %4s  ", look.glyph, Fit(where(&r.Row).String(), label, false), Word(&r.Row),
			Age(st.Now.Sub(r.Since)))
		tail := digestSums(r)
		what := clean(r.What())
		if st.Width > 0 {
			what = truncate(what, max(st.Width-Width(head)-Width(tail), 10), "…")
		}
		b.WriteString(st.Paint(look.sgr, head) + what + st.Paint("2", tail) + "\n")
	}
	return b.String()
}

// digestSums says what a session did, except for what its line shows already.
func digestSums(r *render.DigestRow) string {
	var sums []string
	if r.WorkedS >= 60 {
		sums = append(sums, "worked "+span(time.Duration(r.WorkedS)*time.Second))
	}
	if r.Asked > 1 || r.Asked == 1 && !r.NeedsYou {
		sums = append(sums, fmt.Sprintf("asked %d×", r.Asked))
	}
	if r.Failures > 1 || r.Failures == 1 && !r.NeedsYou {
		sums = append(sums, fmt.Sprintf("failed %d×", r.Failures))
	}
	if len(sums) == 0 {
		return ""
	}
	return "  (" + strings.Join(sums, ", ") + ")"
}

const barWidth = 32

// Stats returns a chart of the days and a table of the projects, in the order of names.
func Stats(days []stats.Day, names []string, projects map[string]*stats.Day, st Style) string {
	var b strings.Builder
	longest := time.Duration(1)
	for _, d := range days {
		longest = max(longest, d.Busy)
	}
	fmt.Fprintf(&b, "%-12s %-7s %-7s %5s %5s %8s\n", "DAY", "BUSY", "WAITED", "TURNS", "TOOLS", "COST")
	for _, d := range days {
		bar := strings.Repeat("█", int(barWidth*d.Busy/longest))
		fmt.Fprintf(&b, "%-12s %-7s %-7s %5d %5d %8s", d.Date, span(d.Busy), span(d.Waiting), d.Turns, d.Tools,
			spent(d.CostUSD))
		if bar != "" {
			b.WriteString("  " + st.Paint("32", bar))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\n%-24s %-7s %-7s %5s %5s %6s %8s\n", "PROJECT", "BUSY", "WAITED", "TURNS", "TOOLS", "ERRORS", "COST")
	for _, n := range names {
		d := projects[n]
		fmt.Fprintf(&b, "%s %-7s %-7s %5d %5d %6d %8s\n", Fit(clean(filepath.Base(n)), 24, false), span(d.Busy),
			span(d.Waiting),
			d.Turns, d.Tools, d.Errors, spent(d.CostUSD))
	}
	return b.String()
}

// spent formats a cost; only a status line reports it.
func spent(usd float64) string {
	if usd == 0 {
		return "-"
	}
	return dollars(usd)
}

func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%dh%02d", d/time.Hour, d%time.Hour/time.Minute)
}

// columnOf returns the width of a column of n texts, at most most.
func columnOf(n, most int, text func(i int) string) (width int) {
	for i := range n {
		width = max(width, Width(text(i)))
	}
	return min(width, most)
}
