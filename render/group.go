package render

import (
	"slices"
	"strings"

	"beckon/state"
)

// Group is how a row asks for attention: the coarse order of a screen.
type Group string

// The groups: the states, reduced to what one does about a session.
const (
	GroupNeedsYou   Group = "needs_you"
	GroupWorking    Group = "working"
	GroupDone       Group = "done" // a turn ended and nobody has looked yet
	GroupIdle       Group = "idle"
	GroupBackburner Group = "backburner"
	GroupOver       Group = "ended"
)

// Groups lists the groups, the one that needs the user first.
var Groups = [...]Group{GroupNeedsYou, GroupWorking, GroupDone, GroupIdle, GroupBackburner, GroupOver}

// GroupOf returns the group of a row. A session about which nothing is known counts as idle:
// there is nothing to wait for.
func GroupOf(r *Row) Group {
	switch {
	case r.NeedsYou:
		return GroupNeedsYou
	case !r.State.Live():
		return GroupOver
	case r.State == state.Backburned:
		return GroupBackburner
	case r.State.AtWork():
		return GroupWorking
	case r.Unseen:
		return GroupDone
	}
	return GroupIdle
}

// phaseOf returns a state in the words of the Agent Client Protocol; it has none for a session that is
// over.
func phaseOf(s state.State) string {
	switch {
	case !s.Live():
		return ""
	case s == state.Permission, s == state.Question:
		return "requires_action"
	case s.AtWork():
		return "running"
	}
	return "idle"
}

// Place returns the group's index in Groups.
func (g Group) Place() int { return slices.Index(Groups[:], g) }

// Words returns the group's name for people.
func (g Group) Words() string {
	if g == GroupBackburner {
		return "aside" // as the state is called
	}
	return strings.ReplaceAll(string(g), "_", " ")
}
