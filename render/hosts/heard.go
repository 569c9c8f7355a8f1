package hosts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"beckon/render"
	"beckon/render/term"
)

// few is how many silent hosts are named individually.
const few = 3

// NotHeard returns a line for each silent host; many share one line, with the time when the
// first of them went missing. Hosts that signed off are not included.
func NotHeard(list []render.Host, now time.Time) []string {
	var lines []string
	var silent []render.Host
	for _, st := range list {
		switch {
		case st.Stale && !st.Left:
			silent = append(silent, st)
		case st.Error != "" && !st.Stale:
			lines = append(lines, "host "+render.OneLine(st.Name)+": "+render.OneLine(st.Error))
		}
	}
	if len(silent) > few {
		return append(lines, together(silent))
	}
	for _, st := range silent {
		name := render.OneLine(st.Name)
		switch {
		case st.AsOf == nil:
			lines = append(lines, fmt.Sprintf("asking host %s: %s", name, st.Error))
		case st.Error != "":
			lines = append(lines, fmt.Sprintf("asking host %s: %s; shown is what it said %s ago", name, st.Error,
				term.Age(now.Sub(*st.AsOf))))
		default:
			lines = append(lines, fmt.Sprintf("host %s is not heard; shown is what it said %s ago", name,
				term.Age(now.Sub(*st.AsOf))))
		}
	}
	return lines
}

// together describes many hosts in one line.
func together(silent []render.Host) string {
	slices.SortStableFunc(silent, func(a, b render.Host) int { return strings.Compare(a.Name, b.Name) })
	var names []string
	since := ""
	var first time.Time
	for i, st := range silent {
		if i < few {
			names = append(names, render.OneLine(st.Name))
		}
		if st.AsOf != nil && (first.IsZero() || st.AsOf.Before(first)) {
			first = *st.AsOf
		}
	}
	if !first.IsZero() {
		since = " since " + first.Local().Format("15:04")
	}
	return fmt.Sprintf("%d hosts are not heard%s: %s and %d more", len(silent), since, strings.Join(names, ", "),
		len(silent)-few)
}
