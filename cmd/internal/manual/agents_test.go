package manual

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/agents"
)

// The page lists the answers that agents accept as their rows do.
func TestAnswersOfAgents(t *testing.T) {
	page, err := Page("agents")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{answersTable()} {
		if !strings.Contains(page, want) {
			t.Errorf("the page on agents lacks, or has otherwise:\n%s", want)
		}
	}
}

// answersTable has a line for each agent that accepts anything and a column for each of Claude Code's
// events.
func answersTable() string {
	var b strings.Builder
	line := func(cells ...string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	var kinds []string
	for _, a := range event.Agents() {
		for _, r := range a.Answers {
			if !slices.Contains(kinds, r.Means) {
				kinds = append(kinds, r.Means)
			}
		}
	}
	line(append([]string{"agent"}, kinds...)...)
	fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(kinds)+1))
	for _, a := range event.Agents() {
		if len(a.Answers) == 0 {
			continue
		}
		cells := []string{a.Name}
		for _, k := range kinds {
			var list []string
			if r := a.AnswerTo(k); r != nil {
				for i, word := range []string{"deny", "ask", "allow", "rewrite", "context", "message", "end the turn"} {
					if r.Hears(agents.Deny + agents.When(i)) {
						list = append(list, word)
					}
				}
			}
			cells = append(cells, strings.Join(list, ", "))
		}
		line(cells...)
	}
	return b.String()
}
