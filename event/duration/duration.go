// Package duration parses durations that people write in settings, policies and commands: one
// parser, with one error.
package duration

import (
	"errors"
	"time"

	"github.com/xhit/go-str2duration/v2"
)

// longest is more than any setting or wait makes sense for: a longer time is a typing mistake.
const longest = 366 * 24 * time.Hour

// ErrSyntax shows the syntax of a duration.
var ErrSyntax = errors.New(`a duration looks like "90s", "1h30m", "3d" or "2w" and is at most a year`)

// Parse parses a duration: the syntax of time.ParseDuration, and days of 24 hours and weeks. A
// negative one, or one of more than a year, is ErrSyntax.
func Parse(s string) (time.Duration, error) {
	d, err := str2duration.ParseDuration(s)
	if err != nil || d < 0 || d > longest {
		return 0, ErrSyntax
	}
	return d, nil
}
