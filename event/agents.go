package event

import (
	"cmp"
	"slices"
	"strings"

	"beckon/event/agents"

	"github.com/tidwall/gjson"
)

// ClaudeCode is the agent whose names this package uses; every other agent's table
// maps onto them.
const ClaudeCode = "claude-code"

// AgentOf returns the agent of that name ("" is Claude Code), ignoring letter case and the
// separators "-" and "_"; nil for one without a table.
func AgentOf(name string) *agents.Agent {
	if name == "" {
		return agents.Known[0]
	}
	same := func(other string) bool { return sameName(other, name) }
	for _, a := range agents.Known {
		if same(a.Name) || slices.ContainsFunc(a.Aliases, same) {
			return a
		}
	}
	return nil
}

// Agent returns the canonical form of an agent's name: its table's, or the name
// itself if it has no table.
func Agent(name string) string {
	if a := AgentOf(name); a != nil {
		return a.Name
	}
	return Cut(strings.ToValidUTF8(name, "\ufffd"), MaxID)
}

// wordsOf returns the table by which an agent's payloads are read: Claude Code's for an agent
// without one.
func wordsOf(agent string) *agents.Agent { return cmp.Or(AgentOf(agent), agents.Known[0]) }

// Agents returns the agents that have a table, Claude Code first. Callers must not change the
// list or what it points to.
func Agents() []*agents.Agent { return agents.Known[:] }

// means returns the kind of a's event of that name, and what it says beyond its kind.
func means(a *agents.Agent, name string, payload gjson.Result) (k Kind, says string) {
	for i := range a.Events {
		e := &a.Events[i]
		if e.Name == name && (e.Where == "" || payload.Get(e.Where).String() == e.Is) {
			return Kind(e.Means), e.Says
		}
	}
	return ByName(name), ""
}

// KindOf returns the kind of the agent's event of that name, whatever its payload says.
func KindOf(agent, name string) Kind {
	a := wordsOf(agent)
	for i := range a.Events {
		if e := &a.Events[i]; e.Name == name && e.Where == "" {
			return Kind(e.Means)
		}
	}
	return ByName(name)
}

func notice(a *agents.Agent, name string) string {
	i := slices.IndexFunc(a.Notices, func(n agents.Notice) bool { return n.Type == name })
	if i < 0 {
		return name
	}
	return a.Notices[i].Means
}

// match finds the row for the member key inside the object at prefix ("" or "a.b."). It
// returns the field, or agents.None, and the prefix for rows about members of that member, ""
// if there are none.
func match(a *agents.Agent, prefix, key string) (agents.Field, string) {
	var f agents.Field
	var inside string
	if a != agents.Known[0] {
		f, inside = matchRows(a.Fields, prefix, key)
	}
	g, deeper := matchRows(agents.Known[0].Fields, prefix, key)
	if f == agents.None {
		f = g
	}
	if inside == "" {
		inside = deeper
	}
	return f, inside
}

func matchRows(rows []agents.Member, prefix, key string) (found agents.Field, inside string) {
	for i := range rows {
		rest, ok := strings.CutPrefix(rows[i].Path, prefix)
		if !ok || !strings.HasPrefix(rest, key) {
			continue
		}
		switch {
		case len(rest) == len(key):
			found = rows[i].Is
		case rest[len(key)] == '.':
			inside = rows[i].Path[:len(prefix)+len(key)+1]
		}
	}
	return found, inside
}
