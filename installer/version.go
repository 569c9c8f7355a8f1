package installer

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"

	"beckon/event"
)

// Version is a version of Claude Code. The zero Version is unknown.
type Version struct{ Major, Minor, Patch int }

// rewakeSince is the first client on which a hook in the background was seen to wake a
// session, rewakeWordsSince the first that was seen to take words around its text.
var (
	rewakeSince      = Version{2, 1, 197}
	rewakeWordsSince = Version{2, 1, 330}
)

// ParseVersion reads the text that "claude --version" prints, such as
// "2.1.329 (Claude Code)". It gives the zero Version for anything else.
func ParseVersion(s string) Version {
	m := regexp.MustCompile(`(?m)^\s*v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})\b`).FindStringSubmatch(s)
	if m == nil {
		return Version{}
	}
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1]) // at most six digits
	}
	return Version{n[0], n[1], n[2]}
}

// Known reports whether the version was found out.
func (v Version) Known() bool { return v != Version{} }

// Compare is negative when v is older than w, 0 when equal, positive when newer. The
// unknown version is the oldest.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

// String is the version with dots, or "unknown".
func (v Version) String() string {
	if !v.Known() {
		return "unknown"
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// Set is a choice of events.
type Set string

// The sets of events. Neither ever holds an event that takes work away from the
// client or slows its display (event.Never).
const (
	CoreEvents Set = "core" // what the states need
	AllEvents  Set = "all"  // everything else the client can tell as well
)

// Events names the events to register, in the order of event.Kinds. An event that the
// client does not know makes it open a warning at start, so an unknown version gets
// only those that every client of the last year knows, whatever the set.
func Events(v Version, set Set) []string {
	var names []string
	for _, k := range event.Kinds {
		switch {
		case k.Register == event.Never:
		case !v.Known() && k.Register != event.Core:
		case v.Known() && v.Compare(ParseVersion(k.Since)) < 0:
		case k.Register != event.All || set == AllEvents:
			names = append(names, string(k.Kind))
		}
	}
	return names
}
