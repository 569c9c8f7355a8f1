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

// A rule that refuses a tool under one of its names refuses it. A rule that allows must allow
// it under every name.
func TestRulesOfNames(t *testing.T) {
	for _, c := range []struct{ matcher, rule, want string }{
		{"mcp__my_db__.*", `"decision":"deny","reason":"no"`, "deny"},
		{"mcp__my__db_drop", `"decision":"deny","reason":"no"`, "deny"},
		{"my_db_drop", `"decision":"deny","reason":"no"`, "deny"},
		{"mcp__db__.*", `"decision":"deny","reason":"no"`, ""},
		{"mcp__my_db__.*", `"decision":"ask","reason":"sure?"`, "ask"},
		{"mcp__my_db__.*", `"decision":"allow"`, ""},
		{"my_db_drop", `"decision":"allow"`, ""},
		{"mcp__my_db__.*|mcp__my__.*|my_db_drop", `"decision":"allow"`, "allow"},
		{"mcp__my_db__.*", `"decision":"deny","reason":"no","paths":["*.env"]`, "deny"},
		{"mcp__my_db__.*", `"decision":"deny","reason":"no","paths":["*.pem"]`, ""},
		{"mcp__my_db__.*", `"decision":"deny","reason":"no","if":"mcp__my_db"`, "deny"},
		{"", `"decision":"allow","if":"mcp__my_db"`, ""},
	} {
		text := `{"hooks":{"PreToolUse":[{"matcher":"` + c.matcher + `","hooks":[{"type":"rule",` + c.rule + `}]}]}}`
		f, err := config.Decode("policy.json", config.Global, []byte(text))
		if err != nil {
			t.Fatal(text, err)
		}
		r := trigger(t, NewEngine(f.Hooks), event.PreToolUse, named)
		if got := gjson.GetBytes(r.Answer.Stdout, "hookSpecificOutput.permissionDecision").Str; got != c.want {
			t.Errorf("%s %s: %q, want %q", c.matcher, c.rule, got, c.want)
		}
	}
}

// A handler runs for each name that its matcher matches, and its strictest answer counts.
func TestHandlersOfNames(t *testing.T) {
	const first, last = "my_db_drop", "mcp__my_db__drop"
	in := func(text string) wire.Outcome { return wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(text)} }
	for _, c := range []struct {
		name, matcher string
		says          map[string]wire.Outcome // by the tool's name
		want          wire.Decision
		fails         bool
	}{
		{"a refusal of one", "", map[string]wire.Outcome{last: {Decision: wire.Deny, Reason: "no"}}, wire.Deny, false},
		{"a question about one", "", map[string]wire.Outcome{first: {Decision: wire.Ask, Reason: "sure?"}}, wire.Ask, false},
		{"an approval of one", "", map[string]wire.Outcome{last: {Decision: wire.Allow}}, wire.Silence, false},
		{"an approval of each", "", map[string]wire.Outcome{first: {Decision: wire.Allow}, last: {Decision: wire.Allow}, "mcp__my__db_drop": {Decision: wire.Allow}}, wire.Allow, false},
		{"an approval of all that it is asked about", "mcp__my_db__.*", map[string]wire.Outcome{last: {Decision: wire.Allow}}, wire.Silence, false},
		{"a fault in one", "", map[string]wire.Outcome{last: {Err: errors.New("broken")}}, wire.Silence, true},
		{"a rewrite of one", "", map[string]wire.Outcome{last: in(`{"path":"/y"}`)}, wire.Silence, false},
		{"two rewrites", "", map[string]wire.Outcome{first: in(`{"path":"/z"}`), last: in(`{"path":"/y"}`)}, wire.Silence, true},
	} {
		e := NewEngine(nil)
		m, err := rule.NewMatcher(event.PreToolUse, c.matcher)
		if err != nil {
			t.Fatal(err)
		}
		e.Register(event.PreToolUse, does(func(_ context.Context, call wire.Call) wire.Outcome {
			if got := gjson.GetBytes(call.Payload, "tool_name").Str; got != call.ToolName || !m.Match(got) {
				t.Errorf("%s: asked about %s, the payload says %s", c.name, call.ToolName, got)
			}
			return c.says[call.ToolName]
		}), only(m), func(h *config.Hook) { h.Grant = true })
		r := trigger(t, e, event.PreToolUse, named)
		if failed := r.Results[0].Failed != nil; r.Verdict.Decision != c.want || failed != c.fails || !failed && (c.says[last].UpdatedInput != nil) != (r.Verdict.Input != nil) {
			t.Errorf("%s: %q %v, input %s", c.name, r.Verdict.Decision, r.Results[0].Failed, r.Verdict.Input)
		}
	}
}
