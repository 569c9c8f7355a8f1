package tui

import (
	"strings"
	"time"

	"beckon/render"

	"github.com/charmbracelet/x/ansi"
)

// clean makes text that is not ours fit to be drawn in one line.
func clean(s string) string { return render.OneLine(s) }

// fit cuts s to width columns and fills it up to them.
func fit(s string, width int, right bool) string {
	if width <= 0 {
		return ""
	}
	n := ansi.StringWidth(s)
	if n > width {
		s = ansi.Truncate(s, width, "…")
		n = ansi.StringWidth(s)
	}
	pad := strings.Repeat(" ", max(0, width-n))
	if right {
		return pad + s
	}
	return s + pad
}

// lines are the lines of a text, clean: one at least.
func lines(s string) []string {
	if all := render.Lines(s); len(all) > 0 {
		return all
	}
	return []string{""}
}

// wrap breaks text into lines of at most width columns.
func wrap(s string, width int) []string {
	var out []string
	for _, l := range lines(s) {
		out = append(out, strings.Split(ansi.Wrap(l, max(1, width), ""), "\n")...)
	}
	return out
}

// steps is how long until the text of an age changes: ages are given in
// seconds, minutes, hours, then days (term.Age).
func steps(age time.Duration) time.Duration {
	unit := 24 * time.Hour
	switch {
	case age < 0:
		return -age + time.Second
	case age < time.Minute:
		unit = time.Second
	case age < time.Hour:
		unit = time.Minute
	case age < 48*time.Hour:
		unit = time.Hour
	}
	return unit - age%unit
}
