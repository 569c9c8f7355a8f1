package wire

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/agents"

	"github.com/tidwall/gjson"
)

func dialect(t *testing.T, agent string) Dialect {
	t.Helper()
	d, ok := DialectOf(agent)
	if !ok {
		t.Fatalf("%s hears nothing", agent)
	}
	return d
}

func inClaude(t *testing.T, agent, name, payload string) string {
	t.Helper()
	e, err := event.Parse(agent, name, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	out, err := dialect(t, agent).Payload(&e, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A policy sees every shell call in the recordings of the real programs as a call of Bash,
// with its exact command and directory.
func TestRecordedCallsAreBash(t *testing.T) {
	shells := map[string]string{"codex": "Bash", "opencode": "bash", "gemini": "run_shell_command", "copilot": "bash", "qwen": "run_shell_command"}
	for agent, shell := range shells {
		files, err := filepath.Glob("../../../testdata/agents/" + agent + "-*/*.jsonl")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		d, calls := dialect(t, agent), 0
		for _, file := range files {
			for _, line := range recorded(t, file) {
				name, raw := line.Get("event").Str, line.Get("stdin").Raw
				if raw == "" || event.KindOf(agent, name) != event.PreToolUse {
					continue
				}
				given := gjson.Parse(raw)
				if d.members(given).Text("tool_name").Str != shell {
					continue
				}
				calls++
				got := gjson.Parse(inClaude(t, agent, name, raw))
				command := d.members(given).Input().Get("command").Str
				if got.Get("tool_name").Str != "Bash" || got.Get("tool_input.command").Str != command || command == "" ||
					got.Get("hook_event_name").Str != "PreToolUse" || got.Get("session_id").Str == "" || agent != "opencode" && got.Get("cwd").Str == "" {
					t.Errorf("%s: %s\nis %s", file, raw, got.Raw)
				}
			}
		}
		if calls == 0 {
			t.Errorf("%s: no call of %s is recorded", agent, shell)
		}
	}
}

func recorded(t *testing.T, file string) (lines []gjson.Result) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		lines = append(lines, gjson.Parse(s.Text()))
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// A tool's input gets Claude Code's member names. Members that a model adds to mislead are
// ignored.
func TestInputsAreNamed(t *testing.T) {
	for _, c := range []struct{ name, agent, event, payload, path, want string }{
		{"a file", "opencode", "tool.execute.before", `{"type":"tool.execute.before","properties":{"sessionID":"s","tool":"read","args":{"filePath":".env"}}}`, "tool_input.file_path", ".env"},
		{"a file under another name, too", "copilot", "preToolUse", `{"sessionId":"s","cwd":"/w","toolName":"view","toolArgs":{"path":".env","file_path":"README.md"}}`, "tool_input.file_path", ".env"},
		{"the tool", "copilot", "preToolUse", `{"sessionId":"s","cwd":"/w","toolName":"view","toolArgs":{"path":".env"}}`, "tool_name", "Read"},
		{"an input that is a text", "copilot", "preToolUse", `{"sessionId":"s","cwd":"/w","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`, "tool_input.command", "ls"},
		{"a member twice", "gemini", "BeforeTool", `{"session_id":"s","cwd":"/w","tool_name":"run_shell_command","tool_input":{"command":"ls","command":"rm x"}}`, "tool_input.command", "rm x"},
		{"a directory", "gemini", "BeforeTool", `{"session_id":"s","cwd":"/w","tool_name":"run_shell_command","tool_input":{"command":"ls","dir_path":"sub"}}`, "cwd", "/w/sub"},
		{"a directory elsewhere", "qwen", "PreToolUse", `{"session_id":"s","cwd":"/w","tool_name":"run_shell_command","tool_input":{"command":"ls","directory":"/x"}}`, "cwd", "/x"},
		{"a patch", "codex", "PreToolUse", `{"session_id":"s","cwd":"/w","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a.go\n*** Move to: .env\n*** End Patch"}}`, "tool_input.file_path.1", ".env"},
		{"a patch that is all of the input", "copilot", "preToolUse", `{"sessionId":"s","cwd":"/w","toolName":"apply_patch","toolArgs":"*** Begin Patch\n*** Delete File: .env\n*** End Patch"}`, "tool_input.file_path.0", ".env"},
		{"a permission for several files", "opencode", "permission.asked", `{"type":"permission.asked","properties":{"id":"p","sessionID":"s","permission":"edit","metadata":{"filepath":"src/a, .env","files":[{"filePath":"/w/src/a","type":"update"},{"filePath":"/w/.env","type":"move","movePath":"/w/b"}]}}}`, "tool_input.file_path", `["src/a, .env","/w/src/a","/w/.env","/w/b"]`},
		{"an edit with a list that a model adds", "opencode", "tool.execute.before", `{"type":"tool.execute.before","properties":{"sessionID":"s","tool":"edit","args":{"filePath":".env","files":[]}}}`, "tool_input.file_path.0", ".env"},
		{"a server's tool", "gemini", "BeforeTool", `{"session_id":"s","cwd":"/w","tool_name":"mcp_db_drop","mcp_context":{"server_name":"db","tool_name":"drop"},"tool_input":{}}`, "tool_name", "mcp__db__drop"},
		{"a server's tool whose name does not tell the server", "opencode", "tool.execute.before", `{"type":"tool.execute.before","properties":{"sessionID":"s","tool":"my_db_drop","args":{}}}`,
			"tool_names", `["my_db_drop","mcp__my__db_drop","mcp__my_db__drop"]`},
		{"its own name stays", "opencode", "tool.execute.before", `{"type":"tool.execute.before","properties":{"sessionID":"s","tool":"my_db_drop","args":{}}}`, "tool_name", "my_db_drop"},
		{"a permission for it", "opencode", "permission.asked", `{"type":"permission.asked","properties":{"id":"p","sessionID":"s","permission":"db_drop","metadata":{}}}`, "tool_names", `["db_drop","mcp__db__drop"]`},
		{"a name that begins and ends so", "opencode", "tool.execute.before", `{"type":"tool.execute.before","properties":{"sessionID":"s","tool":"_a_","args":{}}}`, "tool_names", ""},
		{"a tool of its own", "opencode", "permission.asked", `{"type":"permission.asked","properties":{"id":"p","sessionID":"s","permission":"external_directory","metadata":{}}}`, "tool_names", ""},
		{"names that a payload brings along", "opencode", "tool.execute.before", `{"type":"tool.execute.before","tool_names":["x"],"properties":{"sessionID":"s","tool":"bash","args":{}}}`, "tool_names", ""},
		{"a server's tool, joined otherwise", "copilot", "preToolUse", `{"sessionId":"s","cwd":"/w","toolName":"my-db-drop_all","toolArgs":{}}`,
			"tool_names", `["my-db-drop_all","mcp__my__db-drop_all","mcp__my-db__drop_all"]`},
		{"a name that tells", "gemini", "BeforeTool", `{"session_id":"s","cwd":"/w","tool_name":"mcp_db_drop","mcp_context":{"server_name":"db","tool_name":"drop"},"tool_input":{}}`, "tool_names", ""},
		{"a tool without a row", "codex", "PreToolUse", `{"session_id":"s","cwd":"/w","tool_name":"mcp__a__b","tool_input":{"path":"x"}}`, "tool_input.path", "x"},
		{"a subagent", "copilot", "preToolUse", `{"sessionId":"child","parentAgentId":"s","agentId":"child","cwd":"/w","toolName":"bash","toolArgs":{"command":"ls"}}`, "session_id", "s"},
		{"the prompt", "gemini", "BeforeAgent", `{"session_id":"s","cwd":"/w","prompt":"hello"}`, "prompt", "hello"},
		{"a permission", "opencode", "permission.asked", `{"type":"permission.asked","properties":{"id":"p","sessionID":"s","permission":"edit","metadata":{"filepath":"a.go"}}}`, "tool_input.file_path", "a.go"},
	} {
		if got := gjson.Get(inClaude(t, c.agent, c.event, c.payload), c.path).String(); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.name, c.path, got, c.want)
		}
	}
}

// An answer is written in the agent's own form, or left out if the agent has no form for it.
func TestDialectsSayWhatTheyCan(t *testing.T) {
	const call = `{"session_id":"s","cwd":"/w","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`
	copilot := `{"sessionId":"s","cwd":"/w","toolName":"create","toolArgs":{"path":"a","file_text":"x"}}`
	for _, c := range []struct {
		name, agent string
		kind        event.Kind
		payload     string
		v           Verdict
		want        string
	}{
		{"a refusal", "gemini", event.PreToolUse, call, Verdict{Decision: Deny, Reason: "no"}, `{"decision":"deny","reason":"no"}`},
		{"a refusal has no rewrite", "gemini", event.PreToolUse, call, Verdict{Decision: Deny, Reason: "no", Input: []byte(`{"command":"x"}`)}, `{"decision":"deny","reason":"no"}`},
		{"a question, and a text", "gemini", event.PreToolUse, call, Verdict{Decision: Ask, Reason: "sure?", System: []string{"told"}}, `{"decision":"ask","systemMessage":"sure?\ntold"}`},
		{"no approval", "gemini", event.PreToolUse, call, Verdict{Decision: Allow, Reason: "fine"}, ``},
		{"a rewrite", "gemini", event.PreToolUse, call, Verdict{Input: []byte(`{"command":"x"}`)}, `{"hookSpecificOutput":{"tool_input":{"command":"x"}}}`},
		{"an end", "gemini", event.PreToolUse, call, Verdict{Halt: true, HaltReason: "enough"}, `{"continue":false,"stopReason":"enough"}`},
		{"Claude Code's form", "qwen", event.PreToolUse, call, Verdict{Decision: Deny, Reason: "no"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`},
		{"no approval after the dialog", "qwen", event.PreToolUse, call, Verdict{Decision: Allow}, ``},
		{"an approval", "qwen", event.PermissionRequest, call, Verdict{Decision: Allow}, `{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}`},
		{"a rewrite without an approval", "qwen", event.PermissionRequest, call, Verdict{Input: []byte(`{"command":"x"}`)}, ``},
		{"codex has no rewrite there", "codex", event.PermissionRequest, call, Verdict{Decision: Allow, Input: []byte(`{"command":"x"}`)},
			`{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}`},
		{"members by their own names", "copilot", event.PreToolUse, copilot, Verdict{Input: []byte(`{"file_path":"b","content":"y"}`)}, `{"modifiedArgs":{"file_text":"y","path":"b"}}`},
		{"an approval", "copilot", event.PreToolUse, copilot, Verdict{Decision: Allow, Reason: "fine"}, `{"permissionDecision":"allow","permissionDecisionReason":"fine"}`},
		{"no members of Claude Code's", "copilot", event.PreToolUse, copilot, Verdict{Terminal: "x", Extra: map[string]json.RawMessage{"retry": []byte("true")}}, ``},
		{"beckon's plugin", "opencode", event.PreToolUse, `{"properties":{"tool":"bash","args":{"command":"ls"}}}`, Verdict{Input: []byte(`{"command":"x"}`)}, `{"args":{"command":"x"}}`},
		{"no question", "opencode", event.PreToolUse, `{"properties":{"tool":"bash","args":{"command":"ls"}}}`, Verdict{Decision: Ask, Reason: "sure?"}, ``},
		{"an event at which nobody listens", "opencode", event.Stop, `{}`, Verdict{Decision: Deny, Reason: "no"}, ``},
	} {
		got := dialect(t, c.agent).Translate(c.kind, c.v, false, []byte(c.payload))
		if strings.TrimSpace(string(got.Stdout)) != c.want || got.ExitCode != 0 || len(got.Stderr) != 0 {
			t.Errorf("%s, %s: %s %d", c.agent, c.name, got.Stdout, got.ExitCode)
		}
	}
}

// An unknown agent gets no answer.
func TestStrangersHearNothing(t *testing.T) {
	for _, name := range []string{"cursor", "amp", "nobody"} {
		if _, ok := DialectOf(name); ok {
			t.Errorf("%s is told something", name)
		}
	}
}

// Each row names an event of Claude Code that its agent has too, and parts of an answer that
// the event can have.
func TestRowsAreSound(t *testing.T) {
	for _, a := range event.Agents() {
		for _, row := range a.Answers {
			rules := RulesOf(event.Kind(row.Means))
			names := slices.Clone(a.Install.Events)
			for _, e := range a.Events {
				names = append(names, e.Name)
			}
			means := func(name string) bool { return event.KindOf(a.Name, name) == event.Kind(row.Means) }
			if len(names) > 0 && a.Name != "pi" && !slices.ContainsFunc(names, means) {
				t.Errorf("%s: no event means %s", a.Name, row.Means)
			}
			can := map[agents.When]bool{
				agents.Deny: rules.Refuse != NoWay, agents.Ask: rules.Ask, agents.Allow: rules.Allow,
				agents.Rewrite: rules.Rewrite, agents.Context: rules.Context,
				agents.System: rules.System, agents.Halt: rules.Halt,
			}
			for _, s := range row.Says {
				if !can[s.When] || s.Value != agents.Text && !json.Valid([]byte(s.Value)) {
					t.Errorf("%s at %s: %+v", a.Name, row.Means, s)
				}
			}
		}
	}
}

// A rewritten call's payload has the new input in the old one's place, by the agent's names.
func TestRewrittenPayloads(t *testing.T) {
	for _, c := range []struct{ agent, payload, input, want string }{
		{"opencode", `{"type":"tool.execute.before","properties":{"sessionID":"s","tool":"bash","args":{"command":"ls"}}}`, `{"command":"x"}`,
			`{"type":"tool.execute.before","properties":{"sessionID":"s","tool":"bash","args":{"command":"x"}}}`},
		{"copilot", `{"sessionId":"s","toolName":"view","toolArgs":{"path":"a"},"cwd":"/w"}`, `{"file_path":"b"}`,
			`{"sessionId":"s","toolName":"view","toolArgs":{"path":"b"},"cwd":"/w"}`},
	} {
		got, err := dialect(t, c.agent).Rewritten([]byte(c.payload), []byte(c.input))
		if string(got) != c.want+"\n" && string(got) != c.want {
			t.Errorf("%s: %s, %v", c.agent, got, err)
		}
	}
}
