package transcript

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// fileLine returns a line of a file, with the time of that second of the test's hour.
func fileLine(second int, member, rest string) string {
	return `{"timestamp":"2026-11-22T10:00:` + strconv.Itoa(second+10) + `.500Z",` + member + `,` + rest + "}\n"
}

func copilotLine(second int, kind, data string) string {
	return fileLine(second, `"type":"`+kind+`"`, `"data":`+data)
}

func copilotChild(second int, kind, data string) string {
	return fileLine(second, `"type":"`+kind+`","agentId":"kid"`, `"data":`+data)
}

func codexLine(second int, kind, more string) string {
	return fileLine(second, `"type":"event_msg"`, `"payload":{"type":"`+kind+`"`+more+`}`)
}

func geminiLine(second int, kind, text string) string {
	return fileLine(second, `"type":"`+kind+`"`, `"content":`+strconv.Quote(text))
}

func TestFile(t *testing.T) {
	const call = `{"requestId":"r1","permissionRequest":{"toolCallId":"c1"}}`
	working := copilotLine(1, "user.message", `{"content":"go"}`) + copilotLine(2, "assistant.turn_start", `{}`) + copilotLine(3, "tool.execution_start", `{"toolName":"bash"}`)
	asked := working + copilotLine(4, "permission.requested", call)
	for _, c := range []struct {
		name, agent, text string
		status            string
		second            int
		detail            string
	}{
		{"nothing", "copilot", "", "", 0, ""},
		{"nothing known", "copilot", `{"type":"new"}` + "\n[1]\nnot JSON\n", "", 0, ""},
		{"a call runs", "copilot", working, Busy, 3, ""},
		{"a permission is asked for", "copilot", asked, Waiting, 4, ""},
		{"a line half written", "copilot", asked + `{"type":"permission.completed","timestamp":"2026-11-22T10:00:30.500Z","data":{"requestId":"r1"}}`, Waiting, 4, ""},
		{"it is given", "copilot", asked + copilotLine(5, "permission.completed", `{"requestId":"r1","result":{"kind":"approved"}}`), Busy, 5, ""},
		{"one of two is given", "copilot", asked + copilotLine(4, "permission.requested", `{"requestId":"r2"}`) + copilotLine(5, "permission.completed", `{"requestId":"r1"}`), Waiting, 4, ""},
		{"another call ends meanwhile", "copilot", asked + copilotLine(5, "tool.execution_complete", `{}`), Waiting, 4, ""},
		{"a call that is asked about before it is begun", "copilot", asked + copilotLine(5, "tool.execution_start", `{"toolName":"bash"}`), Waiting, 4, ""},
		{"another subagent goes on meanwhile", "copilot", asked + copilotChild(5, "user.message", `{}`) + copilotChild(6, "assistant.turn_start", `{}`), Waiting, 4, ""},
		{"the user writes", "copilot", asked + copilotLine(5, "user.message", `{}`), Busy, 5, ""},
		{"a subagent ends", "copilot", working + copilotChild(5, "hook.start", `{"hookType":"agentStop"}`), Busy, 3, ""},
		{"Esc at the dialog", "copilot", asked + copilotLine(5, "permission.completed", `{"requestId":"r1","result":{"kind":"cancelled"}}`) +
			copilotLine(5, "assistant.turn_end", `{}`) + copilotLine(6, "abort", `{"reason":"user_initiated"}`), Idle, 6, ""},
		{"a form", "copilot", working + copilotLine(4, "tool.execution_start", `{"toolName":"ask_user"}`), Asking, 4, ""},
		{"Esc, and then the dialog is done", "copilot", asked + copilotLine(5, "abort", `{"reason":"user_initiated"}`) +
			copilotLine(6, "permission.completed", `{"requestId":"r1","result":{"kind":"cancelled"}}`), Idle, 5, ""},
		{"Esc, and then the call is done", "copilot", working + copilotLine(4, "abort", `{}`) + copilotLine(5, "tool.execution_complete", `{}`), Idle, 4, ""},
		{"Esc, and then the form is done", "copilot", working + copilotLine(4, "abort", `{}`) + copilotLine(5, "human_response.recorded", `{}`), Idle, 4, ""},
		{"Esc, and then a compaction is done", "copilot", working + copilotLine(4, "session.compaction_start", `{}`) + copilotLine(5, "abort", `{}`) +
			copilotLine(6, "session.compaction_complete", `{}`), Idle, 5, ""},
		{"an API error, and then a call is done", "copilot", working + copilotLine(4, "session.error", `{"message":"400 bad"}`) + copilotLine(5, "tool.execution_complete", `{}`), Failed, 4, "400 bad"},
		{"the end of a turn, and then a call is done", "copilot", working + copilotLine(4, "hook.start", `{"hookType":"agentStop"}`) + copilotLine(5, "tool.execution_complete", `{}`), Idle, 4, ""},
		{"the next turn after Esc", "copilot", working + copilotLine(4, "abort", `{}`) + copilotLine(5, "user.message", `{}`) + copilotLine(6, "tool.execution_complete", `{}`), Busy, 6, ""},
		{"a turn's end that a hook held off", "copilot", working + copilotLine(4, "hook.start", `{"hookType":"agentStop"}`) + copilotLine(5, "assistant.turn_start", `{}`), Busy, 5, ""},
		{"a subagent asks after Esc, and is answered", "copilot", working + copilotLine(4, "abort", `{}`) + copilotChild(5, "permission.requested", call) +
			copilotChild(6, "permission.completed", `{"requestId":"r1"}`), Busy, 6, ""},
		{"a subagent's API error, and then its call is done", "copilot", working + copilotChild(4, "session.error", `{"message":"400 bad"}`) +
			copilotLine(5, "tool.execution_complete", `{}`), Busy, 5, ""},
		{"an API error", "copilot", working + copilotLine(4, "assistant.turn_end", `{}`) + copilotLine(5, "session.error", `{"message":"400 bad"}`), Failed, 5, "400 bad"},
		{"its next prompt", "copilot", working + copilotLine(5, "session.error", `{"message":"400 bad"}`) + copilotLine(6, "user.message", `{}`), Busy, 6, ""},
		{"the end of a turn", "copilot", working + copilotLine(4, "hook.start", `{"hookType":"agentStop"}`), Idle, 4, ""},
		{"a compaction between turns", "copilot", working + copilotLine(4, "abort", `{}`) + copilotLine(5, "session.compaction_start", `{}`), Busy, 5, ""},
		{"that is over", "copilot", working + copilotLine(4, "abort", `{}`) + copilotLine(5, "session.compaction_start", `{}`) + copilotLine(6, "session.compaction_complete", `{}`), Idle, 6, ""},

		{"a turn", "codex", codexLine(1, "task_started", ""), Busy, 1, ""},
		{"its end", "codex", codexLine(1, "task_started", "") + codexLine(2, "task_complete", `,"last_agent_message":"Done."`), Idle, 2, ""},
		{"Esc", "codex", codexLine(1, "task_started", "") + codexLine(2, "turn_aborted", `,"reason":"interrupted"`), Idle, 2, ""},
		{"an API error", "codex", codexLine(1, "task_started", "") + codexLine(2, "task_complete", `,"error":{"message":"{\"error\":{\"message\":\"no such model\"}}"}`), Failed, 2, "no such model"},

		{"a turn", "gemini", geminiLine(1, "user", "go"), "", 0, ""},
		{"Esc", "gemini", geminiLine(1, "user", "go") + geminiLine(2, "info", "Request cancelled.") + `{"$set":{"lastUpdated":"x"}}` + "\n", Idle, 2, ""},
		{"an API error", "gemini", geminiLine(1, "user", "go") + geminiLine(2, "error", "[API Error: x]"), Failed, 2, "[API Error: x]"},
		{"Esc, and then the call is done", "gemini", geminiLine(1, "user", "go") + geminiLine(2, "info", "Request cancelled.") +
			fileLine(3, `"type":"gemini"`, `"content":"","toolCalls":[{"status":"cancelled"}]`), Idle, 2, ""},
		{"Esc, and then what was said so far", "gemini", geminiLine(1, "user", "go") + geminiLine(2, "info", "Request cancelled.") + geminiLine(3, "gemini", "Word"), Idle, 2, ""},
		{"an API error, and then the call is done", "gemini", geminiLine(1, "user", "go") + geminiLine(2, "error", "[API Error: x]") +
			fileLine(3, `"type":"gemini"`, `"content":"","toolCalls":[{"status":"success"}]`), Failed, 2, "[API Error: x]"},
		{"an error after which it goes on", "gemini", geminiLine(2, "error", "x") + geminiLine(3, "gemini", "Word"), "", 0, ""},
		{"a turn after it", "gemini", geminiLine(2, "error", "[API Error: x]") + geminiLine(3, "user", "go on"), "", 0, ""},

		{"an agent whose files are not known", "opencode", asked, "", 0, ""},
	} {
		path := filepath.Join(t.TempDir(), "events.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := StatusOf(c.agent, path)
		second := 0
		if got.At != 0 {
			second = int(got.At/1000%60) - 10
		}
		if got.Status != c.status || second != c.second || got.Detail != c.detail {
			t.Errorf("%s: %s: %q at %d (%q), want %q at %d (%q)", c.agent, c.name, got.Status, second, got.Detail, c.status, c.second, c.detail)
		}
	}
}

// What Droid 0.215.0 writes when a turn ends.
func TestDroid(t *testing.T) {
	const at = `,"timestamp":"2026-11-28T03:54:1`
	user := `{"type":"message"` + at + `0Z","message":{"role":"user","content":[{"type":"text","text":"go"}]}}` + "\n"
	stop := `{"type":"message"` + at + `4Z","message":{"role":"user","content":[],"visibility":"user_only","hookEventName":"Stop"}}` + "\n"
	says := `{"type":"message"` + at + `2Z","message":{"role":"assistant","content":[{"type":"text","text":"Which one?"}]}}` + "\n"
	for _, c := range []struct{ name, text, status, detail, words string }{
		{"done", user + says + stop + `{"type":"agent_turn_outcome","reason":"completed"}`, "", "", "Which one?"},
		{"broken off", user + says + stop + `{"type":"agent_turn_outcome","reason":"cancelled"}`, Idle, "", "Which one?"},
		{"refused", user + `{"type":"message"` + at + `2Z","message":{"role":"user","content":[{"type":"tool_result","is_error":true,"content":"Tool execution cancelled by user"}]}}` + "\n" + stop, Idle, "", ""},
		{"failed", user + `{"type":"message"` + at + `2Z","message":{"role":"user","content":[{"type":"text","text":"BYOK Error: 400"}],"visibility":"user_only"}}` + "\n" + stop, Failed, "BYOK Error: 400", ""},
		{"goes on", user, "", "", ""},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, []byte(c.text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := StatusOf("droid", path)
		words, err := LastWords(path, MaxText)
		if got.Status != c.status || got.Detail != c.detail || words.Text != c.words || err != nil {
			t.Errorf("%s: %+v, words %q, %v", c.name, got, words.Text, err)
		}
	}
}

// The beginning of a long file is not read, nor is half a line.
func TestLongFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	long := copilotLine(1, "system.message", strconv.Quote(strings.Repeat("x", tail)))
	if err := os.WriteFile(path, []byte(copilotLine(0, "user.message", "{}")+long), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := StatusOf("copilot", path); got != (Reading{}) {
		t.Errorf("of a file cut off: %+v", got)
	}
	said := copilotLine(1, "assistant.message", `{"content":"All done."}`) + copilotLine(2, "assistant.message", `{"content":""}`)
	if err := os.WriteFile(path, []byte(long+said), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := LastWords(path, MaxText); got.Text != "All done." || got.At == 0 {
		t.Errorf("last words %+v", got)
	}
	if got := StatusOf("copilot", filepath.Dir(path)); got != (Reading{}) {
		t.Errorf("of a directory: %+v", got)
	}
}

func TestTitle(t *testing.T) {
	for _, c := range []struct{ agent, title, want string }{
		{"codex", "proj", Idle}, {"codex", "⠧ proj", Busy}, {"codex", "[ ! ] Action Required | proj", Waiting},
		{"codex", "[ . ] Action Required | proj", Waiting}, {"codex", "vm", ""}, {"codex", "", ""}, {"codex", "⠧ other", ""},
		{"gemini", "◇  Ready (proj)      ", Idle}, {"gemini", "✦  Working… (proj)", Busy}, {"gemini", "✋  Action Required (proj)", Waiting}, {"gemini", "vm", ""},
		{"codex", "⠸ list the files | proj", Busy}, {"codex", "list the files | proj", Idle}, // since 0.171.0
		{"codex", "[ ! ] Action Required | list the files | proj", Waiting}, {"codex", "list | other", ""}, {"codex", "vim proj", ""},
		{"copilot", "proj", ""},
	} {
		if got := TitleStatus(c.agent, c.title, "/home/you/proj"); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.agent, c.title, got, c.want)
		}
	}
}

func TestPath(t *testing.T) {
	env := func(string) string { return "" }
	for _, c := range []struct{ agent, session, transcript, want string }{
		{"copilot", "s1", "", "/h/.copilot/session-state/s1/events.jsonl"},
		{"copilot", "../../x", "", ""},
		{"copilot", "s1", "/t/events.jsonl", "/t/events.jsonl"},
		{"codex", "s1", "", ""},
		{"codex", "s1", "/t/rollout.jsonl", "/t/rollout.jsonl"},
	} {
		if got := filepath.ToSlash(PathOf(c.agent, c.session, c.transcript, "/h", env)); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
