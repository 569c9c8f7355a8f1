package render

import (
	"strings"

	"beckon/event"
)

// OneLine makes text of agents, repositories and other hosts safe for a terminal: valid UTF-8
// in one line, white space folded, without control characters and without marks that change
// the direction of text.
func OneLine(s string) string {
	if s = strings.TrimSpace(s); plain(s) {
		return s
	}
	return strings.Join(strings.Fields(Clean(s)), " ")
}

// Clean is OneLine without folding blanks.
func Clean(s string) string {
	return strings.Map(drawable, strings.ToValidUTF8(s, "\uFFFD"))
}

// Lines returns the lines of a text, each clean, without blank ones at both ends.
func Lines(s string) []string {
	s = strings.TrimLeft(strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), " \t\r\n"), "\n")
	if s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(Clean(strings.ReplaceAll(l, "\t", "    ")), " ")
	}
	return lines
}

// plain reports whether s is printable ASCII in one line, as most texts are.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' || s[i] == ' ' && i > 0 && s[i-1] == ' ' {
			return false
		}
	}
	return s == "" || s[0] != ' ' && s[len(s)-1] != ' '
}

func drawable(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return ' '
	case event.Unsafe(r), r == '\u2028', r == '\u2029':
		return -1
	}
	return r
}

// FirstLine returns the first non-empty line of a program's output.
func FirstLine(out string) string {
	head, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	return OneLine(head)
}
