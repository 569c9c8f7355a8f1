package event

import (
	"errors"
	"reflect"
	"testing"
)

func TestAgentNames(t *testing.T) {
	for name, want := range map[string]string{
		"": "claude-code", "claude": "claude-code", "Claude_Code": "claude-code", "claude-code-cli": "claude-code", "claude-code": "claude-code",
		"codex": "codex", "Codex-CLI": "codex", "gemini": "gemini", "gemini-cli": "gemini", "opencode": "opencode", "OpenCode": "opencode",
		"copilot": "copilot", "Qwen-Code": "qwen", "newcomer": "newcomer",
	} {
		if got := Agent(name); got != want {
			t.Errorf("Agent(%q) = %q, want %q", name, got, want)
		}
	}
}

// Every table maps to existing kinds, and no name or alias occurs twice.
func TestAgentTables(t *testing.T) {
	seen := map[string]string{}
	for _, a := range Agents() {
		for _, name := range append([]string{a.Name}, a.Aliases...) {
			if AgentOf(name) != a {
				t.Errorf("%s is %s", name, Agent(name))
			}
			if seen[name] != "" {
				t.Errorf("%s is in %s and %s", name, seen[name], a.Name)
			}
			seen[name] = a.Name
		}
		for _, row := range a.Events {
			if _, ok := Lookup(Kind(row.Means)); !ok && row.Means != "" {
				t.Errorf("%s: %s is a %q", a.Name, row.Name, row.Means)
			}
		}
	}
}

func TestOtherAgents(t *testing.T) {
	for _, c := range []struct {
		agent, name, payload string
		want                 Event
	}{
		{"codex", "", `{"session_id":"s","turn_id":"t1","transcript_path":null,"cwd":"/p","hook_event_name":"PermissionRequest","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"ls","description":"network"}}`,
			Event{Kind: PermissionRequest, Name: "PermissionRequest", Says: "described", SessionID: "s", PromptID: "t1", Cwd: "/p", Model: "m", PermissionMode: "default",
				Tool: Tool{Name: "Bash", Hash: "*", Summary: "Bash: ls"}}},
		{"codex", "", `{"type":"agent-turn-complete","thread-id":"th","turn-id":"12","cwd":"/p","input-messages":["a"],"last-assistant-message":"Done."}`,
			Event{Kind: Stop, Name: "agent-turn-complete", SessionID: "th", PromptID: "12", Cwd: "/p", Message: "Done."}},
		{"gemini", "", `{"session_id":"s","cwd":"/p","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"npm test"}}`,
			Event{Kind: PreToolUse, Name: "BeforeTool", SessionID: "s", Cwd: "/p", Tool: Tool{Name: "run_shell_command", Hash: "*", Summary: "run_shell_command: npm test"}}},
		{"gemini", "", `{"session_id":"s","hook_event_name":"AfterAgent","prompt":"p","prompt_response":"All done.","stop_hook_active":true}`,
			Event{Kind: Stop, Name: "AfterAgent", SessionID: "s", Message: "All done."}},
		{"gemini", "", `{"session_id":"s","hook_event_name":"BeforeAgent","prompt":"fix it"}`,
			Event{Kind: UserPromptSubmit, Name: "BeforeAgent", SessionID: "s", Prompt: "fix it"}},
		{"gemini", "", `{"session_id":"s","hook_event_name":"Notification","notification_type":"ToolPermission","message":"Confirm","details":{"type":"exec"}}`,
			Event{Kind: Notification, Name: "Notification", SessionID: "s", Notification: "permission_shown", Message: "Confirm"}},
		{"gemini", "", `{"session_id":"s","hook_event_name":"PreCompress","trigger":"auto"}`,
			Event{Kind: PostToolBatch, Name: "PreCompress", SessionID: "s", Source: "auto"}},
		{"gemini", "", `{"session_id":"s","hook_event_name":"PreCompress","trigger":"manual"}`,
			Event{Name: "PreCompress", SessionID: "s", Source: "manual"}},
		{"gemini", "", `{"session_id":"s","hook_event_name":"AfterAgent","prompt":"p","prompt_response":"[no response text]"}`,
			Event{Kind: StopFailure, Name: "AfterAgent", SessionID: "s", Message: "[no response text]"}},
		{"gemini", "", `{"session_id":"s","hook_event_name":"BeforeTool","tool_name":"ask_user","tool_input":{"questions":[{"question":"Which?","header":"DB","options":[{"label":"A"}]}]}}`,
			Event{Kind: PreToolUse, Name: "BeforeTool", SessionID: "s", Tool: Tool{Name: "ask_user", Hash: "*", Summary: "ask_user"},
				Ask: &Ask{Questions: []Question{{Header: "DB", Text: "Which?", Options: []Option{{Label: "A"}}}}}}},
		{"opencode", "", `{"type":"session.created","properties":{"info":{"id":"ses_1","directory":"/p"}}}`,
			Event{Kind: SessionStart, Name: "session.created", SessionID: "ses_1", Cwd: "/p"}},
		{"opencode", "", `{"type":"session.idle","properties":{"sessionID":"ses_1"}}`,
			Event{Kind: Stop, Name: "session.idle", Says: "idle", SessionID: "ses_1"}},
		{"opencode", "session.status.busy", `{"session_id":"ses_1"}`,
			Event{Kind: UserPromptSubmit, Name: "session.status.busy", SessionID: "ses_1", FromClient: true}},
		{"opencode", "", `{"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_1"}}}`,
			Event{Name: "message.updated", SessionID: "ses_1"}},
		{"opencode", "", `{"type":"permission.asked","properties":{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["npm install"],"metadata":{"command":"npm install"},"tool":{"messageID":"m","callID":"call_1"}}}`,
			Event{Kind: PermissionRequest, Name: "permission.asked", SessionID: "ses_1", Tool: Tool{Name: "bash", UseID: "call_1", Hash: "*", Summary: "bash: npm install"}}},
		{"opencode", "", `{"type":"tool.execute.after","properties":{"sessionID":"ses_1","tool":"edit","callID":"call_1","args":{"filePath":"/p/a.go"}}}`,
			Event{Kind: PostToolUse, Name: "tool.execute.after", SessionID: "ses_1", Tool: Tool{Name: "edit", UseID: "call_1", Hash: "*", Summary: "edit: /p/a.go"}}},
		{"opencode", "", `{"type":"question.replied","properties":{"sessionID":"ses_1","requestID":"que_1","answers":[["a"]]}}`,
			Event{Kind: ElicitationResult, Name: "question.replied", SessionID: "ses_1", Tool: Tool{UseID: "que_1"}}},
		{"opencode", "", `{"type":"session.error","properties":{"sessionID":"ses_1","error":{"name":"ProviderAuthError","data":{"message":"no key"}}}}`,
			Event{Kind: StopFailure, Name: "session.error", SessionID: "ses_1", Reason: "ProviderAuthError", Details: "no key"}},
		{"copilot", "userPromptSubmitted", `{"sessionId":"s","timestamp":1,"cwd":"/p","prompt":"go"}`,
			Event{Kind: UserPromptSubmit, Name: "userPromptSubmitted", SessionID: "s", Cwd: "/p", Prompt: "go"}},
		{"copilot", "permissionRequest", `{"sessionId":"s","cwd":"/p","toolName":"bash"}`,
			Event{Name: "permissionRequest", SessionID: "s", Cwd: "/p", Tool: Tool{Name: "bash", Summary: "bash"}}},
		{"copilot", "preToolUse", `{"sessionId":"child","agentId":"child","parentAgentId":"main","cwd":"/p","toolName":"bash","toolArgs":{"command":"ls"}}`,
			Event{Kind: PreToolUse, Name: "preToolUse", SessionID: "main", AgentID: "child", Cwd: "/p", Tool: Tool{Name: "bash", Hash: "*", Summary: "bash: ls"}}},
		{"copilot", "preToolUse", `{"sessionId":"s","toolName":"ask_user","toolArgs":{"message":"Which one?","requestedSchema":{"properties":{"db":{"type":"string"}},"required":["db"]}}}`,
			Event{Kind: PreToolUse, Name: "preToolUse", SessionID: "s", Tool: Tool{Name: "ask_user", Hash: "*", Summary: "ask_user: Which one?"},
				Ask: &Ask{Questions: []Question{{Text: "Which one?"}}, Form: []string{"db*: string"}}}},
		{"copilot", "preCompact", `{"sessionId":"s","trigger":"manual"}`, Event{Name: "preCompact", SessionID: "s", Source: "manual"}},
		{"opencode", "", `{"type":"session.created","properties":{"info":{"id":"ses_2","parentID":"ses_1"},"sessionID":"ses_2"}}`,
			Event{Kind: SubagentStart, Name: "session.created", SessionID: "ses_1", AgentID: "ses_2"}},
		{"opencode", "", `{"type":"permission.replied","properties":{"sessionID":"ses_2","parentID":"ses_1","requestID":"per_1","callID":"call_1","reply":"once"}}`,
			Event{Kind: PostToolBatch, Name: "permission.replied", SessionID: "ses_1", AgentID: "ses_2", Tool: Tool{UseID: "call_1"}}},
		{"opencode", "", `{"type":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","callID":"call_1","reply":"reject"}}`,
			Event{Kind: PermissionDenied, Name: "permission.replied", SessionID: "ses_1", Tool: Tool{UseID: "call_1"}}},
		{"opencode", "", `{"type":"session.error","properties":{"sessionID":"ses_1","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}}`,
			Event{Kind: Stop, Name: "session.error", Says: "interrupted", SessionID: "ses_1", Details: "Aborted"}},
		{"opencode", "", `{"type":"question.asked","properties":{"id":"que_1","sessionID":"ses_1","questions":[{"question":"Which?","header":"DB","options":[{"label":"A"}]}]}}`,
			Event{Kind: Elicitation, Name: "question.asked", SessionID: "ses_1", Tool: Tool{UseID: "que_1"},
				Ask: &Ask{Questions: []Question{{Header: "DB", Text: "Which?", Options: []Option{{Label: "A"}}}}}}},
		{"codex", "", `{"session_id":"s","turn_id":"t","hook_event_name":"Interrupt"}`,
			Event{Kind: Stop, Name: "Interrupt", Says: "interrupted", SessionID: "s", PromptID: "t"}},
		{"qwen", "", `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":""}`,
			Event{Kind: UserPromptSubmit, Name: "UserPromptSubmit", SessionID: "s", FromClient: true}},
		{"qwen", "", `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"go"}`,
			Event{Kind: UserPromptSubmit, Name: "UserPromptSubmit", SessionID: "s", Prompt: "go"}},
		{"droid", "", `{"session_id":"s","hook_event_name":"Notification","message":"needs permission","notification_type":"permission_prompt"}`,
			Event{Kind: Notification, Name: "Notification", SessionID: "s", Message: "needs permission", Notification: "permission_shown"}},
		{"pi", "", `{"session_id":"s","hook_event_name":"Interrupt"}`,
			Event{Kind: Stop, Name: "Interrupt", Says: "interrupted", SessionID: "s"}},
		{"newcomer", "", `{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"x"}`,
			Event{Kind: Stop, Name: "Stop", SessionID: "s", Message: "x"}},
	} {
		c.want.Agent = c.agent
		e, err := Parse(c.agent, c.name, []byte(c.payload))
		if c.want.Tool.Hash == "*" && len(e.Tool.Hash) == 16 {
			e.Tool.Hash = "*"
		}
		if err != nil || !reflect.DeepEqual(e, c.want) {
			t.Errorf("%s %s: %v\n got %+v\nwant %+v", c.agent, c.payload, err, e, c.want)
		}
	}
}

func TestParseEnvelope(t *testing.T) {
	for _, c := range []struct {
		payload string
		want    Event
	}{
		{`{"agent":"claude-code","event":"PreToolUse","hookInput":{"session_id":"abc123","transcript_path":"~/s.jsonl","tool_name":"Bash"},"terminal":{"sessionId":"w0t0p0:UUID","cwd":"/Users/name/project"},"git":{"branch":"main","repo":"project-name"}}`,
			Event{Agent: ClaudeCode, Kind: PreToolUse, Name: "PreToolUse", SessionID: "abc123", TranscriptPath: "~/s.jsonl", Cwd: "/Users/name/project",
				Tool:   Tool{Name: "Bash", Summary: "Bash"},
				Origin: &Origin{Terminal: Terminal{Kind: "iterm2", ID: "w0t0p0:UUID"}, Git: Git{Branch: "main", Repo: "project-name"}}}},
		{`{"agent":"claude-code","event":"Stop","terminal":{"sessionId":"test123","cwd":"/tmp"},"hookInput":{"session_id":"abc123"}}`,
			Event{Agent: ClaudeCode, Kind: Stop, Name: "Stop", SessionID: "abc123", Cwd: "/tmp", Origin: &Origin{Terminal: Terminal{ID: "test123"}}}},
		{`{"agent":"opencode","event":"session.status.idle","terminal":{"cwd":"/p","sessionId":"7","terminalType":"kitty","kittyPid":"12"},"hookInput":{"session_id":"ses"},"tmux":{"pane":"%0","sessionName":"work"},"remoteHost":"u@h"}`,
			Event{Agent: "opencode", Kind: Stop, Name: "session.status.idle", Says: "idle", SessionID: "ses", Cwd: "/p",
				Origin: &Origin{Host: "u@h", Terminal: Terminal{Kind: "tmux", ID: "%0", Outer: "kitty", SSH: true, Tmux: Tmux{Pane: "%0", Session: "work"}}}}},
		{`{"agent":"codex","event":"Stop","terminal":{"sessionId":"7","terminalType":"kitty","kittyListenOn":"unix:/tmp/k-12","kittyPid":12}}`,
			Event{Agent: "codex", Kind: Stop, Name: "Stop", Origin: &Origin{Terminal: Terminal{Kind: "kitty", ID: "12,7", Listen: "unix:/tmp/k-12"}}}},
		{`{"agent":"codex","event":"agent-turn-complete","terminal":{"sessionId":"7","terminalType":"kitty","kittyListenOn":"unix:/tmp/k-12","kittyPid":"12"}}`,
			Event{Agent: "codex", Kind: Stop, Name: "agent-turn-complete", Origin: &Origin{Terminal: Terminal{Kind: "kitty", ID: "12,7", Listen: "unix:/tmp/k-12"}}}},
		{`{"event":"SessionEnd","hookInput":[],"terminal":7}`, Event{Agent: ClaudeCode, Kind: SessionEnd, Name: "SessionEnd"}},
	} {
		e, err := ParseEnvelope([]byte(c.payload))
		if err != nil || !reflect.DeepEqual(e, c.want) {
			t.Errorf("%s: %v\n got %+v %+v\nwant %+v %+v", c.payload, err, e, e.Origin, c.want, c.want.Origin)
		}
	}
	for _, bad := range []string{``, `null`, `[]`, `{"event":"Stop"`, `{"hookInput":{"a":}}`} {
		var syntax SyntaxError
		if _, err := ParseEnvelope([]byte(bad)); !errors.As(err, &syntax) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
