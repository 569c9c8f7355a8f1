// Package duration reads durations that a person wrote, in settings, policies and
// commands: one reader, with one error.
package duration

import (
	"errors"
	"time"

	"github.com/xhit/go-str2duration/v2"
)

// longest is more than any setting or wait makes sense for. A longer time is a
// slip of the finger.
const longest = 366 * 24 * time.Hour

// ErrSyntax says what a duration looks like.
var ErrSyntax = errors.New(`a duration looks like "90s", "1h30m", "3d" or "2w" and is at most a year`)

// Parse reads a duration: what time.ParseDuration
// reads, and days of 24 hours and weeks. It refuses negative
// ones, and those of more than a year, with ErrSyntax.
func Parse(s string) (time.Duration, error) {
	d, err := str2duration.ParseDuration(s)
	if err != nil || d < 0 || d > longest {
		return 0, ErrSyntax
	}
	return d, nil
}
