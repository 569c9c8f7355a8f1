package term

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"beckon/state/usage"
)

// LimitName returns the name of a usage limit.
func LimitName(name string) string {
	return cmp.Or(map[string]string{"five_hour": "5h", "seven_day": "7d", "spend_limit": "spend"}[name], clean(name))
}

// Limit returns a usage limit in a line: how much of it is used, and when it resets; short only the
// first of these.
func Limit(w usage.Window, now time.Time, short bool) string {
	text := LimitName(w.Name) + " " + Percent(w.Percent())
	if !short {
		text += " (resets " + Moment(w.Resets.Time(), now) + ")"
	}
	return text
}

// Moment formats a time: the hour, with the day if that is not today; a week from now the date.
func Moment(t, now time.Time) string {
	t = t.In(now.Location())
	switch days := math.Round(math.Abs(day(t).Sub(day(now)).Hours() / 24)); {
	case days == 0:
		return t.Format("15:04")
	case days < 7:
		return t.Format("Mon 15:04")
	}
	return t.Format("Jan 2")
}

func day(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// Limits returns a table of the limits of all accounts.
func Limits(accounts []usage.Account, st Style) string {
	if len(accounts) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-7s %-12s %-10s %s\n", "LIMIT", "USED", "RESETS", "ACCOUNT")
	for _, a := range accounts {
		for _, w := range a.Windows {
			on := min(6, int(w.Percent()*6/100+0.5))
			bar := st.Paint(fullness(w.Percent()), strings.Repeat("█", on)) + strings.Repeat("░", 6-on)
			fmt.Fprintf(&b, "%-7s %s %4s  %-10s %s\n", LimitName(w.Name), bar, Percent(w.Percent()),
				Moment(w.Resets.Time(), st.Now), cmp.Or(clean(a.Name), "default"))
		}
	}
	return b.String()
}
