package wire

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// abilities returns the row of an event in the manual's table.
func (r Rules) abilities() string {
	if r.Never != "" {
		return "| never answered | " + r.Never + " |"
	}
	refuse := "yes"
	switch {
	case r.Refuse == NoWay:
		refuse = "no"
	case r.Loops:
		refuse = "yes: the agent goes on"
	case r.Refuse == ByAction:
		refuse = "yes: declined"
	}
	var more []string
	for _, m := range []struct {
		can  bool
		word string
	}{{r.Ask, "ask you"}, {r.Allow, "approve"}, {r.Rewrite, "rewrite the input"}, {r.Context, "text for the agent"},
		{r.System, "text for you"}, {r.Halt, "end the work"}} {
		if m.can {
			more = append(more, m.word)
		}
	}
	for _, x := range r.Extra {
		more = append(more, "`"+x.Name+"`")
	}
	if more == nil {
		more = []string{"nothing"}
	}
	return "| " + refuse + " | " + strings.Join(more, ", ") + " |"
}

// The manual's table of what each event can decide matches the contract.
func TestReadmeTable(t *testing.T) {
	var order []string
	events := map[string][]string{}
	for _, r := range contract {
		a := r.abilities()
		if !slices.Contains(order, a) {
			order = append(order, a)
		}
		events[a] = append(events[a], string(r.Kind))
	}
	var want strings.Builder
	for _, a := range order {
		want.WriteString("| " + strings.Join(events[a], ", ") + " " + a + "\n")
	}
	readme, err := os.ReadFile("../../../cmd/internal/manual/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), want.String()) {
		t.Errorf("the manual lacks\n%s", want.String())
	}
}
