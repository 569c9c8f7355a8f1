package term

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"beckon/state/stats"
)

const barWidth = 32

// Stats writes a chart of the days and a table of the projects, in the order of names.
func Stats(w io.Writer, days []stats.Day, names []string, projects map[string]stats.Day, st Style) error {
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
	_, err := io.WriteString(w, b.String())
	return err
}

// spent formats a cost; only a status line reports it.
func spent(usd float64) string {
	if usd == 0 {
		return "-"
	}
	return dollars(usd)
}

// span formats a duration in hours and minutes, or seconds below one minute.
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
