package store

import (
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state"
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
		(&Store{NoTexts: true}).strip(&e)
		if out := string(jsonenc.Append(nil, &e)); strings.Contains(out, "secret") || !strings.Contains(out, "/kept") {
			t.Errorf("%s: %s", e.Kind, out)
		}
	}
}

// A reply from elsewhere is kept as a prompt is: as far as the texts go, and without secrets.
func TestReplyTexts(t *testing.T) {
	const secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
	for none, want := range map[bool]string{true: "", false: "go on"} {
		st := Open(t.TempDir())
		st.NoTexts = none
		d := &state.Decided{Word: state.WordReplied, Text: "go on with " + secret}
		if _, err := st.Fold("s1", Update{Change: state.Change{At: 1000, Action: &state.Action{Kind: state.ActDecided, Decided: d}}}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(d.Text, want) || strings.Contains(d.Text, secret) || want == "" && d.Text != "" {
			t.Errorf("none kept %v: %q", none, d.Text)
		}
	}
}
