package policy

import (
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/wire"
)

// A line that cannot be read is never approved. Where it has the program of a rule that refuses, the
// user is asked, or what the rule sets happens.
func TestWhatTheLineDoesNotTell(t *testing.T) {
	unknown := strings.Replace(bash, `"ls"`, `"rm x 'unclosed"`, 1)
	for policy, want := range map[string]wire.Decision{
		one(`{"type":"rule","decision":"deny","reason":"r","commands":["rm x"]}`):                           wire.Ask,
		one(`{"type":"rule","decision":"ask","reason":"r","commands":["rm x"]}`):                            wire.Ask,
		one(`{"type":"rule","decision":"deny","reason":"r","commands":["rm x"],"unsure":"pass"}`):           wire.Silence,
		one(`{"type":"rule","decision":"deny","reason":"r","commands":["rm x"],"unsure":"deny"}`):           wire.Deny,
		one(`{"type":"rule","decision":"allow","reason":"r","commands":["rm x"]}`):                          wire.Silence,
		one(`{"type":"rule","decision":"deny","reason":"r","commands":["git push"]}`):                       wire.Silence,
		one(`{"type":"rule","decision":"deny","reason":"r","commands":["rm x"],"unless":{"words":["rm"]}}`): wire.Silence,
	} {
		r := trigger(t, NewEngine(decode(t, policy).Hooks), event.PreToolUse, unknown).Verdict
		if r.Decision != want && (want != wire.Silence || r.Decision != wire.Continue) {
			t.Errorf("%s: %q, want %q", policy, r.Decision, want)
		}
		if want != wire.Silence && strings.HasPrefix(r.Reason, "r") { // it may not be true
			t.Errorf("%s: the rule's reason is given: %q", policy, r.Reason)
		}
	}
}

// A rule with a condition on the directory applies only there; a pattern may match several
// directories.
func TestConditionsOnThePlace(t *testing.T) {
	for _, c := range []struct {
		condition string
		at        config.Place
		want      bool
	}{
		{`"branch":["main","release/*"]`, config.Place{Branch: "main"}, true},
		{`"branch":["main","release/*"]`, config.Place{Branch: "release/2"}, true},
		{`"branch":["main","release/*"]`, config.Place{Branch: "feature"}, false},
		{`"branch":["main"]`, config.Place{}, false},
		{`"repository":"shop*"`, config.Place{Repository: "shop-web"}, true},
		{`"repository":"shop*"`, config.Place{Repository: "blog"}, false},
		{`"ci":true`, config.Place{CI: true}, true},
		{`"ci":true`, config.Place{}, false},
		{`"ci":false`, config.Place{CI: true}, false},
		{`"ci":false,"branch":"main"`, config.Place{Branch: "main"}, true},
		{`"ci":false,"branch":"main"`, config.Place{Branch: "main", CI: true}, false},
	} {
		e := NewEngine(decode(t, one(`{"type":"rule","decision":"deny","reason":"r",`+c.condition+`}`)).Hooks)
		r := e.Trigger(t.Context(), Event{Kind: event.PreToolUse, Payload: []byte(bash), Place: func() config.Place { return c.at }})
		if r.Allowed == c.want {
			t.Errorf("%s at %+v: allowed is %v", c.condition, c.at, r.Allowed)
		}
	}
}
