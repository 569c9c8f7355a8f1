package policy

import (
	"context"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/rule"
	"beckon/event/policy/wire"
)

// A rule that cannot be evaluated because of a fault does not let the call pass.
func TestRuleThatCannotBeJudgedHolds(t *testing.T) {
	for _, d := range []wire.Decision{wire.Deny, wire.Ask} {
		h := &config.Hook{ID: "a", Event: event.PreToolUse, Type: config.BuiltIn,
			Spec: config.Spec{Rule: &config.Rule{Decision: d}}}
		res := hear(h, []*rule.Call{{}}, func(*HookResult) { panic("no memory") })
		judged := run{ev: Event{Kind: event.PreToolUse}, contract: wire.RulesOf(event.PreToolUse)}
		judged.Results = []HookResult{res}
		judged.merge()
		r := judged.Result
		if r.Results[0].Err == nil || r.Verdict.Decision != d || r.Verdict.Reason == "" {
			t.Errorf("%s: got %+v", d, r.Verdict)
		}
	}
}

// A rule that asks about the original call, because that does not show enough, refuses the
// final call if that shows enough.
func TestFinalInputIsRefusedWhereTheFirstWasAsked(t *testing.T) {
	c := decode(t, one(`{"type":"rule","id":"no-rm","decision":"deny","reason":"no rm","commands":["rm x"]}`))
	e := NewEngine(c)
	e.Register(event.PreToolUse, says(wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"command":"rm x"}`)}))
	unsure := strings.Replace(bash, `"ls"`, `"rm x 'unclosed"`, 1)
	if r := trigger(t, NewEngine(c), event.PreToolUse, unsure); r.Verdict.Decision != wire.Ask {
		t.Fatalf("as written: %+v", r.Verdict)
	}
	if r := trigger(t, e, event.PreToolUse, unsure); r.Allowed {
		t.Errorf("got %+v", r.Verdict)
	}
}

// always allows every call once.
type always struct{}

func (always) Take() bool             { return true }
func (always) WithCode(string) string { return "" }

// The user's permission for one call covers only the refusal that they read: a hook that was
// skipped because of that refusal is called then, and its answer counts.
func TestAllowedOnceIsNoWordForOthers(t *testing.T) {
	for _, other := range []wire.Decision{wire.Silence, wire.Ask, wire.Deny} {
		c := decode(t, `{"allow_once":true,"hooks":{"PreToolUse":[{"hooks":[{"type":"rule","id":"no-ls","decision":"deny","reason":"no","commands":["ls"]}]}]}}`)
		e := NewEngine(c)
		asked := false
		e.Register(event.PreToolUse, does(func(context.Context, wire.Call) wire.Outcome {
			asked = true
			return wire.Outcome{Decision: other, Reason: "its own"}
		}))
		r := e.Trigger(t.Context(), Event{Kind: event.PreToolUse, Payload: []byte(bash), Once: always{}})
		if !asked || r.Verdict.Decision != other {
			t.Errorf("another says %q (asked: %v): %+v", other, asked, r.Verdict)
		}
	}
}

// An observer sees the original call, whatever it is rewritten to.
func TestObserverSeesTheCallAsWritten(t *testing.T) {
	c := decode(t, one(`{"type":"command","command":"true","observe":true,"if":"Bash(ls)"}`))
	started := make(chan struct{})
	e := NewEngine(c)
	e.Handle(c[0], does(func(context.Context, wire.Call) wire.Outcome { close(started); return wire.Outcome{} }))
	for range 20 {
		e.Register(event.PreToolUse, says(wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"command":"rm x"}`)}))
	}
	trigger(t, e, event.PreToolUse, bash)
	select {
	case <-started:
	default:
		t.Error("it was judged by another call")
	}
}

// A rewritten input with a duplicate member means one call to the client and another to rules.
func TestRewriteWithAMemberTwice(t *testing.T) {
	for input, good := range map[string]bool{
		`{"command":"ls","command":"rm x"}`:        false,
		`{"command":"ls","\u0063ommand":"rm x"}`:   false,
		`{"command":"ls","a":[{"b":{},"b":1}]}`:    false,
		`{"command":"ls","a":[{"b":1},{"b":1}]}`:   true,
		`{"command":"ls","a":{"command":"ls -l"}}`: true,
	} {
		e := NewEngine(nil)
		e.Register(event.PreToolUse, says(wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(input)}))
		if r := trigger(t, e, event.PreToolUse, bash); (r.Verdict.Input != nil) != good || (len(r.Warnings) == 0) != good {
			t.Errorf("%s: %s, %q", input, r.Answer.Stdout, r.Warnings)
		}
	}
}
