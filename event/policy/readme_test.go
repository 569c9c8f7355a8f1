package policy

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// abilities are what the README's table says of an event.
func (r rules) abilities() string {
	if r.never != "" {
		return "| never answered | " + r.never + " |"
	}
	refuse := "yes"
	switch {
	case r.refuse == noRefusal:
		refuse = "no"
	case r.loops:
		refuse = "yes: the agent goes on"
	case r.refuse == byAction:
		refuse = "yes: declined"
	}
	var more []string
	for _, m := range []struct {
		can  bool
		word string
	}{{r.ask, "ask you"}, {r.allow, "approve"}, {r.rewrite, "rewrite the input"}, {r.context, "text for the agent"},
		{r.system, "text for you"}, {r.halt, "end the work"}} {
		if m.can {
			more = append(more, m.word)
		}
	}
	for _, x := range r.extra {
		more = append(more, "`"+x.name+"`")
	}
	if more == nil {
		more = []string{"nothing"}
	}
	return "| " + refuse + " | " + strings.Join(more, ", ") + " |"
}

// The README's table of what each event can decide is the contract.
func TestReadmeTable(t *testing.T) {
	var order []string
	events := map[string][]string{}
	for _, r := range contract {
		a := r.abilities()
		if !slices.Contains(order, a) {
			order = append(order, a)
		}
		events[a] = append(events[a], string(r.kind))
	}
	var want strings.Builder
	for _, a := range order {
		want.WriteString("| " + strings.Join(events[a], ", ") + " " + a + "\n")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), want.String()) {
		t.Errorf("README.md lacks\n%s", want.String())
	}
}
