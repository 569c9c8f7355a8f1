package hook

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event/policy/config"
	"beckon/event/policy/rule"
	"beckon/event/policy/run"
	"beckon/state"

	"github.com/tidwall/gjson"
)

// from runs a hook of another agent, with the payload in the agent's form.
func (u *user) from(agent, name, payload string) string {
	u.Helper()
	var out, errs bytes.Buffer
	code := Main([]string{name, "--agent", agent}, strings.NewReader(payload), &out, &errs, func(name string) string { return u.env[name] }, run.Starter{})
	if code != 0 || errs.Len() > 0 {
		u.Errorf("%s: exit code %d, on stderr %q", name, code, errs.String())
	}
	return strings.TrimSpace(out.String())
}

// shells lists what each agent sends before a call of its shell: a recorded payload, where its
// command is, and what a refusal looks like.
var shells = []struct{ agent, event, command, denied, reason string }{
	{"codex", "PreToolUse", "tool_input.command", "hookSpecificOutput.permissionDecision", "hookSpecificOutput.permissionDecisionReason"},
	{"gemini", "BeforeTool", "tool_input.command", "decision", "reason"},
	{"qwen", "PreToolUse", "tool_input.command", "hookSpecificOutput.permissionDecision", "hookSpecificOutput.permissionDecisionReason"},
	{"copilot", "preToolUse", "toolArgs.command", "permissionDecision", "permissionDecisionReason"},
	{"opencode", "tool.execute.before", "properties.args.command", "deny", "deny"},
}

// recordedCall returns the payload of a shell call of that agent, with another command.
func recordedCall(t *testing.T, agent, name, at, command string) string {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/agents/" + agent + "-*/subperm.jsonl")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if v := gjson.Parse(line); v.Get("event").Str == name && v.Get("stdin").Get(at).Exists() {
			raw := v.Get("stdin").Raw
			quoted, err := json.Marshal(command)
			if err != nil {
				t.Fatal(err)
			}
			old := gjson.Get(raw, at)
			return raw[:old.Index] + string(quoted) + raw[old.Index+len(old.Raw):]
		}
	}
	t.Fatalf("%s has no %s with %s", files[0], name, at)
	return ""
}

// Every rule of every pack applies to the shell of every agent as to its own cases.
func TestPacksSpeakOfEveryShell(t *testing.T) {
	for _, s := range shells {
		t.Run(s.agent, func(t *testing.T) {
			policy := `{"packs":["` + strings.Join(config.Packs(), `","`) + `"]}`
			u := newUser(t, policy, "")
			cases := 0
			read, err := config.Decode("policy.json", config.Global, []byte(policy), false)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range read {
				r := h.Spec.Rule
				for _, c := range r.Examples {
					fits := r.Match.Evaluate(rule.Example(c, true)).Result == rule.Yes
					if !fits || r.Decision == "allow" || strings.HasPrefix(c, "read ") || strings.HasPrefix(c, "write ") {
						continue
					}
					cases++
					answer := u.from(s.agent, s.event, recordedCall(t, s.agent, s.event, s.command, c))
					if answer == "" || !json.Valid([]byte(answer)) {
						t.Errorf("%s: %q is answered %q", h.ID, c, answer)
					}
					break // one of each rule: the packs' own tests run them all
				}
			}
			if cases < 10 {
				t.Errorf("%d cases", cases)
			}
		})
	}
}

// A refusal is in the agent's own form, with the reason, and the session goes on.
func TestOtherAgentsAreRefused(t *testing.T) {
	for _, s := range shells {
		u := newUser(t, on("PreToolUse", `{"type":"rule","id":"r","decision":"deny","reason":"not here","commands":["touch"]}`), titles)
		payload := recordedCall(t, s.agent, s.event, s.command, "touch a")
		answer := gjson.Parse(u.from(s.agent, s.event, payload))
		if word := answer.Get(s.denied).Str; s.agent != "opencode" && word != "deny" || !strings.Contains(answer.Get(s.reason).Str, "not here (policy global/r)") {
			t.Errorf("%s: %s", s.agent, answer.Raw)
		}
		if answer.Get("terminalSequence").Exists() {
			t.Errorf("%s is sent a terminal sequence", s.agent)
		}
		if got := u.from(s.agent, s.event, recordedCall(t, s.agent, s.event, s.command, "ls")); got != "" {
			t.Errorf("%s: of a call that no rule speaks of it is told %s", s.agent, got)
		}
	}
}

// If a rule asks and the agent cannot ask, the call is refused, and the user can allow it
// once.
func TestVainQuestionsRefuse(t *testing.T) {
	u := newUser(t, on("PreToolUse", `{"type":"rule","id":"r","decision":"ask","reason":"sure?","commands":["touch"]}`), "")
	payload := recordedCall(t, "codex", "PreToolUse", "tool_input.command", "touch a")
	reason := gjson.Get(u.from("codex", "PreToolUse", payload), "hookSpecificOutput.permissionDecisionReason").Str
	_, code, found := strings.Cut(reason, "beckon policy allow ")
	if !found || !strings.Contains(reason, "codex cannot") {
		t.Fatalf("the reason is %q", reason)
	}
	if _, err := Sources(func(n string) string { return u.env[n] }, u.env["BECKON_STATE_DIR"]).State.Allow(strings.Fields(code)[0], time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := u.from("codex", "PreToolUse", payload); got != "" {
		t.Errorf("allowed once, it is told %s", got)
	}
	again := strings.Replace(payload, `"tool_use_id":"`, `"tool_use_id":"another-`, 1)
	if got := u.from("codex", "PreToolUse", again); !strings.Contains(got, `"deny"`) {
		t.Errorf("the second time it is told %q", got)
	}
}

// A rewrite that an agent does not support never passes unnoticed: if the hook fails closed,
// the call is refused.
func TestRewritesInVainFail(t *testing.T) {
	hook := say(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"}}}`)
	payload := recordedCall(t, "qwen", "PreToolUse", "tool_input.command", "rm x")
	u := newUser(t, on("PreToolUse", strings.Replace(hook, `"type"`, `"fail":"closed","type"`, 1)), "")
	if got := u.from("qwen", "PreToolUse", payload); !strings.Contains(got, "which qwen cannot at PreToolUse") {
		t.Errorf("it is told %q", got)
	}
	u = newUser(t, on("PreToolUse", hook), "")
	if got := u.from("gemini", "BeforeTool", recordedCall(t, "gemini", "BeforeTool", "tool_input.command", "rm x")); gjson.Get(got, "hookSpecificOutput.tool_input.command").Str != "ls" {
		t.Errorf("gemini is told %q", got)
	}
}

// A rule for one agent's file tools applies to those of the others.
func TestFilesOfOtherAgents(t *testing.T) {
	policy := on("PreToolUse", `{"type":"rule","id":"r","decision":"deny","reason":"secret","paths":[".env"]}`)
	for _, c := range []struct{ agent, event, payload string }{
		{"gemini", "BeforeTool", `{"session_id":"s1","cwd":"/w","tool_name":"read_file","tool_input":{"file_path":".env"}}`},
		{"gemini", "BeforeTool", `{"session_id":"s1","cwd":"/w","tool_name":"replace","tool_input":{"file_path":"/w/.env","old_string":"a","new_string":"b"}}`},
		{"gemini", "BeforeTool", `{"session_id":"s1","cwd":"/w","tool_name":"run_shell_command","tool_input":{"command":"cat .env","dir_path":"sub"}}`},
		{"qwen", "PreToolUse", `{"session_id":"s1","cwd":"/w","tool_name":"write_file","tool_input":{"file_path":"sub/.env","content":""}}`},
		{"copilot", "preToolUse", `{"sessionId":"s1","cwd":"/w","toolName":"view","toolArgs":{"path":".env","file_path":"README.md"}}`},
		{"copilot", "preToolUse", `{"sessionId":"s1","cwd":"/w","toolName":"grep","toolArgs":{"pattern":"KEY","paths":["a",".env"]}}`},
		{"codex", "PreToolUse", `{"session_id":"s1","cwd":"/w","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: a\n+x\n*** Update File: sub/.env\n@@\n-a\n+b\n*** End Patch\n"}}`},
		{"opencode", "tool.execute.before", `{"type":"tool.execute.before","properties":{"sessionID":"s1","directory":"/w","tool":"edit","args":{"filePath":"/w/.env"}}}`},
	} {
		u := newUser(t, policy, "")
		if got := u.from(c.agent, c.event, c.payload); !strings.Contains(got, "secret") {
			t.Errorf("%s: %s is answered %q", c.agent, c.payload, got)
		}
	}
}

// An unknown agent gets no answer, nor does an event at which an agent does not listen, nor a
// client that began a prompt itself.
func TestNothingIsSaidToWhoDoesNotListen(t *testing.T) {
	deny := `{"type":"rule","id":"r","decision":"deny","reason":"no"}`
	policy := `{"hooks":{"PreToolUse":[{"hooks":[` + deny + `]}],"UserPromptSubmit":[{"hooks":[` + deny + `]}],"PreCompact":[{"hooks":[` + deny + `]}],"PermissionRequest":[{"hooks":[` + deny + `]}]}}`
	for _, c := range []struct{ agent, event, payload string }{
		{"cursor", "preToolUse", `{"conversation_id":"s1","tool_name":"Bash","tool_input":{"command":"ls"}}`},
		{"nobody", "PreToolUse", `{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"ls"}}`},
		{"gemini", "PreCompress", `{"session_id":"s1","trigger":"manual"}`},
		{"gemini", "Notification", `{"session_id":"s1","notification_type":"ToolPermission"}`},
		{"opencode", "session.created", `{"properties":{"sessionID":"s1"}}`},
		{"opencode", "chat.message", `{"properties":{"sessionID":"s1","prompt":"x"}}`},
		{"copilot", "permissionRequest", `{"sessionId":"s1","toolName":"bash","toolInput":{"command":"ls"}}`},
		{"qwen", "UserPromptSubmit", `{"session_id":"s1","prompt":""}`},
	} {
		u := newUser(t, policy, "")
		if got := u.from(c.agent, c.event, c.payload); got != "" {
			t.Errorf("%s at %s is told %s", c.agent, c.event, got)
		}
	}
}

// An unreadable call is refused in the agent's own form, if a rule could have refused it.
func TestUnreadableCallsOfOtherAgents(t *testing.T) {
	for _, s := range shells {
		u := newUser(t, on("PreToolUse", `{"type":"rule","id":"r","decision":"deny","reason":"no","commands":["touch"]}`), "")
		got := u.from(s.agent, s.event, `{"session_id":"s1",`)
		if !strings.Contains(gjson.Get(got, s.reason).Str, "beckon cannot read this event") {
			t.Errorf("%s: %s", s.agent, got)
		}
	}
}

// Codex's request has more than its call: an approval closes that call.
func TestApprovalOfCodexIsSeen(t *testing.T) {
	u := newUser(t, on("PermissionRequest", `{"type":"rule","decision":"allow","reason":"fine","commands":["touch a"]}`), "")
	u.from("codex", "UserPromptSubmit", `{"session_id":"s1","cwd":"/w","prompt":"do it"}`)
	u.from("codex", "PreToolUse", `{"session_id":"s1","cwd":"/w","tool_name":"Bash","tool_input":{"command":"touch a"},"tool_use_id":"c1"}`)
	got := u.from("codex", "PermissionRequest", `{"session_id":"s1","cwd":"/w","tool_name":"Bash","tool_input":{"command":"touch a","description":"May I?"}}`)
	if gjson.Get(got, "hookSpecificOutput.decision.behavior").Str != "allow" {
		t.Fatalf("it is told %s", got)
	}
	if st := u.state(); st != state.Working {
		t.Errorf("the session is %s", st)
	}
}
