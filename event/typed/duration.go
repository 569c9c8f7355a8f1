// Package typed reads what people type in settings, policies and commands: durations, and words
// with a typing mistake. It is pure and independent of languages.
package typed

import (
	"errors"
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
