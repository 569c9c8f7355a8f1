package event

import (
	"beckon/event/jsonenc"
	"encoding/json"
	"strings"
	"testing"
)

// token is assembled, because scanners of repositories would report it.
const token = "ghp" + "_0123456789abcdefghijABCDEFGHIJ012345"

// A secret is removed before a limit can cut it in two: half a secret would not
// be recognised.
func TestSecretAtACut(t *testing.T) {
	input := func(key, text string) map[string]any { return map[string]any{key: text} }
	for name, payload := range map[string]map[string]any{
		"names":         {"hook_event_name": "Stop", "session_title": token, "model": token, "agent_type": token, "tool_name": token, "reason": token},
		"an answer":     {"hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion", "tool_input": map[string]any{"answers": input("Which?", token)}},
		"prompt":        {"hook_event_name": "UserPromptSubmit", "prompt": strings.Repeat("word ", 100) + token + " and more"},
		"message":       {"hook_event_name": "Stop", "last_assistant_message": token + " " + strings.Repeat("word ", 405) + "end."},
		"command":       {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input("command", "curl -H 'X-Name: "+strings.Repeat("a", 110)+"' -u admin:"+token+" https://example.com")},
		"words":         {"hook_event_name": "PreToolUse", "tool_name": "shell", "tool_input": map[string]any{"command": []string{"tool", "--password", token}}},
		"error":         {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": strings.Repeat("x", 490) + " " + token},
		"failure":       {"hook_event_name": "StopFailure", "error": token, "error_details": strings.Repeat("x ", 250) + token},
		"notice":        {"hook_event_name": "Notification", "message": strings.Repeat("x ", 250) + token},
		"task":          {"hook_event_name": "TaskCreated", "task_subject": strings.Repeat("x ", 250) + token},
		"background":    {"hook_event_name": "Stop", "background_tasks": []any{input("description", strings.Repeat("x ", 75)+token)}},
		"plan":          {"hook_event_name": "PreToolUse", "tool_name": "ExitPlanMode", "tool_input": input("plan", strings.Repeat("x ", 505)+token)},
		"question":      {"hook_event_name": "PreToolUse", "tool_name": "AskUserQuestion", "tool_input": map[string]any{"questions": []any{input("question", strings.Repeat("x ", 145)+token)}}},
		"a rule":        {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "permission_suggestions": []any{map[string]any{"type": "addRules", "rules": []any{input("ruleContent", strings.Repeat("x ", 36)+token)}}}},
		"a cut head":    {"hook_event_name": "UserPromptSubmit", "prompt": "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("aB3x", 16)+"\n", 250) + "-----END PRIVATE KEY----- " + strings.Repeat("k ", 20) + token[:20] + token + strings.Repeat(" word", 4000)},
		"a cut tail":    {"hook_event_name": "Stop", "last_assistant_message": strings.Repeat(token+" ", 500) + strings.Repeat("word ", 100)},
		"a long string": {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": map[string]any{"file_path": "/x", "content": strings.Repeat(token+"\n", 900)}},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := json.Marshal(payload)
			if err != nil {
				t.Fatal(err)
			}
			e, err := Parse("", "", b)
			if err != nil {
				t.Fatal(err)
			}
			out := string(jsonenc.Append(nil, &e))
			for i := 0; i+8 <= len(token); i++ {
				if strings.Contains(out, token[i:i+8]) {
					t.Fatalf("%q is left in %s", token[i:i+8], out)
				}
			}
		})
	}
}

// The names that somebody gave a session, a model, an agent, a tool or a server are redacted,
// too, before they are cut.
func TestNamesAreRedacted(t *testing.T) {
	for _, payload := range []string{
		`{"hook_event_name":"SessionStart","session_title":"deploy with %s","model":"%s","agent_type":"%s"}`,
		`{"hook_event_name":"PreToolUse","tool_name":"mcp__%s__x","tool_input":{}}`,
		`{"hook_event_name":"Elicitation","mcp_server_name":"%s"}`,
		`{"hook_event_name":"PostModelSwitch","new_model":"%s"}`,
	} {
		e, err := Parse("", "", []byte(strings.ReplaceAll(payload, "%s", token)))
		if err != nil {
			t.Fatal(err)
		}
		if out := string(jsonenc.Append(nil, &e)); strings.Contains(out, token[:12]) {
			t.Errorf("a secret is left in %s", out)
		}
	}
}
