package policy

import (
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/wire"
)

// A line that cannot be read is never approved. Where it has the program of a rule that refuses, the
// user is asked.
func TestWhatTheLineDoesNotTell(t *testing.T) {
	unknown := strings.Replace(bash, `"ls"`, `"rm x 'unclosed"`, 1)
	for policy, want := range map[string]wire.Decision{
		one(`{"type":"rule","decision":"deny","reason":"r","commands":["rm x"]}`):                           wire.Ask,
		one(`{"type":"rule","decision":"ask","reason":"r","commands":["rm x"]}`):                            wire.Ask,
		one(`{"type":"rule","decision":"allow","reason":"r","commands":["rm x"]}`):                          wire.Silence,
		one(`{"type":"rule","decision":"deny","reason":"r","commands":["git push"]}`):                       wire.Silence,
		one(`{"type":"rule","decision":"deny","reason":"r","commands":["rm x"],"unless":{"words":["rm"]}}`): wire.Silence,
	} {
		r := trigger(t, NewEngine(decode(t, policy)), event.PreToolUse, unknown).Verdict
		if r.Decision != want && (want != wire.Silence || r.Decision != wire.Continue) {
			t.Errorf("%s: %q, want %q", policy, r.Decision, want)
		}
		if want != wire.Silence && strings.HasPrefix(r.Reason, "r") { // it may not be true
			t.Errorf("%s: the rule's reason is given: %q", policy, r.Reason)
		}
	}
}
