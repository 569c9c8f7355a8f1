package fleets

import (
	"testing"

	"beckon/render"
)

// --agent accepts every name of an agent; a row without a name is Claude Code's.
func TestOnlyTheseAgents(t *testing.T) {
	for _, c := range []struct {
		agent string
		want  int
	}{{"gemini", 1}, {"gemini-cli", 1}, {"Gemini_CLI", 1}, {"claude", 2}, {"claude-code", 2}, {"codex", 0}, {"nobody", 1}} {
		rows := []render.Row{{Agent: "gemini"}, {Agent: "claude-code"}, {}, {Agent: "nobody"}}
		f := Flags{Agent: []string{c.agent}}
		if got := f.Only(rows); len(got) != c.want {
			t.Errorf("--agent %s: %d rows, want %d", c.agent, len(got), c.want)
		}
	}
}
