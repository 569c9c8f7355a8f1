// Package typed reads what people type in settings, policies and commands: durations, and words
// with a typing mistake; an error can carry advice. It is pure and independent of languages.
package typed

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// longest is more than any setting or wait makes sense for: a longer time is a typing mistake.
const longest = 366 * 24 * time.Hour

// ErrDuration shows the syntax of a duration.
var ErrDuration = errors.New(`a duration looks like "90s", "1h30m", "3d" or "2w" and is at most a year`)

// Duration parses a duration: the syntax of time.ParseDuration, and days of 24 hours and weeks. A
// negative one, or one of more than a year, is ErrDuration.
func Duration(s string) (sum time.Duration, err error) {
	rest := strings.TrimPrefix(s, "+")
	if rest == "0" {
		return 0, nil
	}
	for more := true; more; more = rest != "" {
		unit := strings.TrimLeft(rest, "0123456789.")
		number := rest[:len(rest)-len(unit)]
		if next := strings.IndexAny(unit, "0123456789."); next >= 0 {
			unit = unit[:next]
		}
		rest = rest[len(number)+len(unit):]
		hours := time.Duration(1)
		switch unit {
		case "d":
			unit, hours = "h", 24
		case "w":
			unit, hours = "h", 7*24
		}
		d, err := time.ParseDuration(number + unit)
		if err != nil || number == "" || unit == "" || d > longest/hours || sum+d*hours > longest {
			return 0, ErrDuration
		}
		sum += d * hours
	}
	return sum, nil
}

// maxEdits is how many edits a typing mistake may take, at most one for each two bytes; more
// make another word.
const maxEdits = 2

// Nearest returns the first of words that takes the fewest single-byte edits to make from name,
// ignoring letter case; "" if all take too many.
func Nearest(name string, words []string) string {
	best, least := "", min(maxEdits, len(name)/2)+1
	for _, w := range words {
		if d := distance(strings.ToLower(name), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// DidYouMean returns advice for a word that is not among words, "" if none is near.
func DidYouMean(name string, words []string) string {
	if word := Nearest(name, words); word != "" {
		return "did you mean " + strconv.Quote(word) + "?"
	}
	return ""
}

// distance returns the Levenshtein distance of a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// HintOf returns the advice that an error carries, "" for none.
func HintOf(err error) string {
	var advised interface{ Hint() string }
	if errors.As(err, &advised) {
		return advised.Hint()
	}
	return ""
}

// Advise returns err with a hint for HintOf.
func Advise(err error, hint string) error { return advised{err, hint} }

type advised struct {
	error
	hint string
}

func (e advised) Unwrap() error { return e.error }
func (e advised) Hint() string  { return e.hint }
