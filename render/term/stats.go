package term

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"beckon/state/stats"
)

// barWidth is how many columns the longest bar of a chart takes.
const barWidth = 32

// Stats writes a chart of the days and a table of the projects, which names
// gives in the order to show.
func Stats(w io.Writer, days []stats.Day, names []string, projects map[string]stats.Day, st Style) error {
	var b strings.Builder
	longest := time.Duration(1)
	for _, d := range days {
		longest = max(longest, d.Busy)
	}
	fmt.Fprintf(&b, "%-12s %-7s %-7s %5s %5s  %s\n", "DAY", "BUSY", "WAITED", "TURNS", "TOOLS", "")
	for _, d := range days {
		bar := strings.Repeat("█", int(barWidth*d.Busy/longest))
		fmt.Fprintf(&b, "%-12s %-7s %-7s %5d %5d  %s\n", d.Date, span(d.Busy), span(d.Waiting), d.Turns, d.Tools, st.paint("32", bar))
	}
	fmt.Fprintf(&b, "\n%-24s %-7s %-7s %5s %5s %6s\n", "PROJECT", "BUSY", "WAITED", "TURNS", "TOOLS", "ERRORS")
	for _, n := range names {
		d := projects[n]
		fmt.Fprintf(&b, "%-24s %-7s %-7s %5d %5d %6d\n", filepath.Base(n), span(d.Busy), span(d.Waiting), d.Turns, d.Tools, d.Errors)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// span writes a duration in hours and minutes, or seconds below one minute.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%dh%02d", d/time.Hour, d%time.Hour/time.Minute)
}
