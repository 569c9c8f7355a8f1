package installer

import (
	"regexp"

	"beckon/event"
)

// Version is a version of Claude Code; the empty one is unknown, and taken for the newest.
type Version string

// rewakeSince is the first client on which a hook in the background was seen to wake a
// session, rewakeWordsSince the first that was seen to take words around its text.
const rewakeSince, rewakeWordsSince Version = "2.1.197", "2.1.330"

// ParseVersion reads the text that "claude --version" prints, such as
// "2.1.329 (Claude Code)". It gives the unknown one for anything else.
func ParseVersion(s string) Version {
	m := regexp.MustCompile(`(?m)^\s*v?(\d{1,6}\.\d{1,6}\.\d{1,6})\b`).FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	return Version(m[1])
}

// Known reports whether the version was found out.
func (v Version) Known() bool { return v != "" }

// Older reports whether v is known and before w.
func (v Version) Older(w Version) bool { return v.Known() && event.Older(string(v), string(w)) }

// Set is a choice of events.
type Set string

// The sets of events. Neither ever holds an event that takes work away from the
// client or slows its display (event.Never).
const (
	CoreEvents Set = "core" // what the states need
	AllEvents  Set = "all"  // everything else the client can tell as well
)

// Events names the events to register, in the order of event.Kinds. An event that the client does not
// know makes it open a warning at start. An unknown version gets the core set, which every client since
// 2.1.89 knows.
func Events(v Version, set Set) []string {
	var names []string
	for _, k := range event.Kinds {
		switch {
		case k.Register == event.Never:
		case !v.Known() && k.Register != event.Core:
		case v.Older(Version(k.Since)):
		case k.Register != event.All || set == AllEvents:
			names = append(names, string(k.Kind))
		}
	}
	return names
}
