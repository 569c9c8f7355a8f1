package state

import (
	"cmp"
	"testing"

	"beckon/event"
)

// What the client sends once counts once, even if the same entry sends it twice; what it may send
// twice counts twice.
func TestCopiesOfOneEntry(t *testing.T) {
	tool := func(use string) event.Tool {
		return event.Tool{Name: "Bash", UseID: use, Hash: "h", Summary: "Bash: make"}
	}
	fold := func(events ...event.Event) Counts {
		var s Session
		for i, e := range events {
			e.Via = cmp.Or(e.Via, "one")
			e.Name, e.At, e.Agent, e.SessionID = string(e.Kind), event.Millis(1000+10*i), event.ClaudeCode, "s"
			s = Apply(s, Change{At: e.At, Event: &e})
		}
		return s.Counts
	}
	prompt := event.Event{Kind: event.UserPromptSubmit, Prompt: "go", PromptID: "p"}
	first, second := event.Event{Kind: event.PreToolUse, Tool: tool("a")}, event.Event{Kind: event.PreToolUse, Tool: tool("b")}
	ask := event.Event{Kind: event.PermissionRequest, Tool: tool("")}
	other := ask
	other.Via = "other"
	for name, c := range map[string]struct {
		events                    []event.Event
		turns, calls, permissions int64
	}{
		"a prompt with an id":             {[]event.Event{prompt, prompt}, 1, 0, 0},
		"a call and its request":          {[]event.Event{first, first, ask, ask}, 0, 1, 1},
		"two calls, then their requests":  {[]event.Event{first, second, ask, ask}, 0, 2, 2},
		"two calls, each with its copies": {[]event.Event{first, first, ask, ask, second, second, ask, ask}, 0, 2, 2},
		"requests of unknown calls":       {[]event.Event{ask, ask}, 0, 0, 2},
		"one of another entry":            {[]event.Event{ask, other}, 0, 0, 1},
	} {
		if got := fold(c.events...); got.Turns != c.turns || got.Tools != c.calls || got.Permissions != c.permissions {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
