package store

import (
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/jsonenc"
)

// With "off" no text and no name that somebody chose is left in an event.
func TestTextsOff(t *testing.T) {
	for _, e := range []event.Event{
		{Kind: event.SessionStart, Title: "secret", Model: "secret", AgentType: "secret", Prompt: "secret", Meter: &event.Meter{Model: "secret"}},
		{Kind: event.PreToolUse, Tool: event.Tool{Name: "mcp__secret__secret", Summary: "secret"}},
		{Kind: event.Elicitation, Tool: event.Tool{Name: "secret"}, Message: "secret"},
		{Kind: event.Stop, Message: "secret", Reason: "secret", Details: "secret", Answer: "secret"},
	} {
		e.Cwd = "/kept"
		TextsOff.event(&e)
		if out := string(jsonenc.Append(nil, &e)); strings.Contains(out, "secret") || !strings.Contains(out, "/kept") {
			t.Errorf("%s: %s", e.Kind, out)
		}
	}
}
