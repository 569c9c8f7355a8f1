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

// answersTable has a line for each of Claude Code's events and a column for each agent that
// accepts anything.
func answersTable() string {
	var b strings.Builder
	line := func(cells ...string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	var names, kinds []string
	for _, a := range event.Agents() {
		if len(a.Answers) == 0 {
			continue
		}
		names = append(names, a.Name)
		for _, r := range a.Answers {
			if !slices.Contains(kinds, r.Means) {
				kinds = append(kinds, r.Means)
			}
		}
	}
	line(append([]string{"event"}, names...)...)
	fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(names)+1))
	for _, k := range kinds {
		cells := []string{"`" + k + "`"}
		for _, name := range names {
			said := ""
			if r := event.AgentOf(name).AnswerTo(k); r != nil {
				var list []string
				for i, word := range []string{"deny", "ask", "allow", "rewrite", "context", "message", "end the turn"} {
					if r.Hears(agents.Deny + agents.When(i)) {
						list = append(list, word)
					}
				}
				said = strings.Join(list, ", ")
			}
			cells = append(cells, said)
		}
		line(cells...)
	}
	return b.String()
}
