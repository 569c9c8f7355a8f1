package term

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"beckon/render"
	"beckon/state/stats"
)

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

// DrawTimeline writes a line for each track. A column is a part of the day, and shows what was
// most urgent in it. The hours are those of zone.
func DrawTimeline(w io.Writer, t render.Timeline, zone *time.Location, st Style) error {
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
	_, err := io.WriteString(w, b.String())
	return err
}

func trackLabel(l *render.Track) string {
	return place{clean(l.Label()), clean(l.Branch)}.String()
}

// ticks are the possible distances of the times above the tracks.
var ticks = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour,
	2 * time.Hour, 3 * time.Hour, 6 * time.Hour}

// hours returns the line above the tracks: round times, as close as they fit, or else the time
// at which it begins.
func hours(t render.Timeline, step time.Duration, columns int, zone *time.Location) string {
	const width = len("15:04")
	tick := ticks[len(ticks)-1]
	if i := slices.IndexFunc(ticks, func(d time.Duration) bool { return int(d/step) > width }); i >= 0 {
		tick = ticks[i]
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
	kinds := make([]int, columns) // index of kindLooks, from 1
	for _, span := range l.Spans {
		first, last := int(span.From.Sub(from)/step), int((span.To.Sub(from)-1)/step)
		for i, k := range kindLooks {
			for c := max(first, 0); k.kind == span.Kind && c <= min(last, columns-1); c++ {
				if kinds[c] == 0 || kinds[c] > i+1 {
					kinds[c] = i + 1
				}
			}
		}
	}
	var b strings.Builder
	for _, k := range kinds {
		if k == 0 {
			b.WriteByte(' ')
		} else {
			b.WriteString(st.Paint(kindLooks[k-1].look.sgr, kindLooks[k-1].look.glyph))
		}
	}
	return b.String()
}
