package event

import (
	"strings"
	"unicode/utf8"
)

// Cut returns the head of s that fits in max bytes, ending on a rune boundary.
func Cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return strings.Clone(s[:max])
}

// CutTail returns the tail of s that fits in max bytes, starting on a rune
// boundary.
func CutTail(s string, max int) string {
	if len(s) <= max {
		return s
	}
	start := len(s) - max
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return strings.Clone(s[start:])
}
