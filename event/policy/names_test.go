package policy

import (
	"context"
	"errors"
	"testing"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/rule"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

const named = `{"session_id":"s","hook_event_name":"PreToolUse","cwd":"/w","tool_name":"my_db_drop","tool_names":["my_db_drop","mcp__my__db_drop","mcp__my_db__drop"],"tool_use_id":"t1","tool_input":{"path":"/x/.env"}}`

// A rule that refuses a tool under one of its names refuses it. A rule cannot allow
// it: nobody can tell which tool it is.
func TestRulesOfNames(t *testing.T) {
	for _, c := range []struct{ matcher, rule, want string }{
		{"mcp__my_db__.*", `"decision":"deny","reason":"no"`, "deny"},
		{"mcp__my__db_drop", `"decision":"deny","reason":"no"`, "deny"},
		{"my_db_drop", `"decision":"deny","reason":"no"`, "deny"},
		{"mcp__db__.*", `"decision":"deny","reason":"no"`, ""},
		{"mcp__my_db__.*", `"decision":"ask","reason":"sure?"`, "ask"},
		{"mcp__my_db__.*", `"decision":"allow"`, ""},
		{"my_db_drop", `"decision":"allow"`, ""},
		{"mcp__my_db__.*|mcp__my__.*|my_db_drop", `"decision":"allow"`, ""},
		{"mcp__my_db__.*", `"decision":"deny","reason":"no","paths":["*.env"]`, "deny"},
		{"mcp__my_db__.*", `"decision":"deny","reason":"no","paths":["*.pem"]`, ""},
		{"mcp__my_db__.*", `"decision":"deny","reason":"no","if":"mcp__my_db"`, "deny"},
		{"", `"decision":"allow","if":"mcp__my_db"`, ""},
	} {
		text := `{"hooks":{"PreToolUse":[{"matcher":"` + c.matcher + `","hooks":[{"type":"rule",` + c.rule + `}]}]}}`
		f, err := config.Decode("policy.json", config.Global, []byte(text), false)
		if err != nil {
			t.Fatal(text, err)
		}
		r := trigger(t, NewEngine(f), event.PreToolUse, named)
		if got := gjson.GetBytes(r.Answer.Stdout, "hookSpecificOutput.permissionDecision").Str; got != c.want {
			t.Errorf("%s %s: %q, want %q", c.matcher, c.rule, got, c.want)
		}
	}
}

// A handler whose matcher matches any of the names runs once, and the payload has them all. It cannot approve.
func TestHandlersOfNames(t *testing.T) {
	in := wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"path":"/y"}`)}
	for _, c := range []struct {
		name, matcher string
		says          wire.Outcome
		want          wire.Decision
		fails         bool
	}{
		{"a refusal", "", wire.Outcome{Decision: wire.Deny, Reason: "no"}, wire.Deny, false},
		{"a refusal by another name", "mcp__my_db__.*", wire.Outcome{Decision: wire.Deny, Reason: "no"}, wire.Deny, false},
		{"an approval", "", wire.Outcome{Decision: wire.Allow}, wire.Silence, false},
		{"no name of it", "mcp__db__.*", wire.Outcome{Decision: wire.Deny}, "none", false},
		{"a fault", "", wire.Outcome{Err: errors.New("broken")}, wire.Silence, true},
		{"a rewrite", "mcp__my_db__.*", in, wire.Silence, false},
	} {
		e := NewEngine(nil)
		m, err := rule.NewMatcher(event.PreToolUse, c.matcher)
		if err != nil {
			t.Fatal(err)
		}
		e.Register(event.PreToolUse, does(func(_ context.Context, call wire.Call) wire.Outcome {
			if call.ToolName != "my_db_drop" || len(gjson.GetBytes(call.Payload, "tool_names").Array()) != 3 {
				t.Errorf("%s: asked about %s with %s", c.name, call.ToolName, call.Payload)
			}
			return c.says
		}), only(m), func(h *config.Hook) { h.Grant = true })
		r := trigger(t, e, event.PreToolUse, named)
		if len(r.Results) == 0 {
			if c.want != "none" {
				t.Errorf("%s: it did not run", c.name)
			}
			continue
		}
		failed := r.Results[0].Err != nil
		rewrites := c.says.UpdatedInput != nil
		if r.Verdict.Decision != c.want || failed != c.fails || !failed && rewrites != (r.Verdict.Input != nil) {
			t.Errorf("%s: %q %v, input %s", c.name, r.Verdict.Decision, r.Results[0].Err, r.Verdict.Input)
		}
	}
}
