package hosts

import (
	"fmt"
	"time"

	"beckon/render"
	"beckon/render/term"
)

// Silent returns a line for each host with an error, and for each silent one but those that
// signed off.
func Silent(list []render.Host, now time.Time) (lines []string) {
	for _, st := range list {
		name, why, shown := render.OneLine(st.Name), render.OneLine(st.Error), ""
		if st.AsOf != nil {
			shown = "; shown is what it said " + term.Age(now.Sub(*st.AsOf)) + " ago"
		}
		switch {
		case !st.Stale && why != "":
			lines = append(lines, fmt.Sprintf("host %s: %s", name, why))
		case !st.Stale || st.Left:
		case why != "":
			lines = append(lines, fmt.Sprintf("asking host %s: %s%s", name, why, shown))
		default:
			lines = append(lines, fmt.Sprintf("host %s is not heard%s", name, shown))
		}
	}
	return lines
}
