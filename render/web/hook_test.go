package web

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"beckon/render"
	"beckon/testdata/need"
)

// curl runs a command line of a document against x, in the shell and as written there, except
// for the server's address.
func (x *site) curl(script, from string) string {
	x.T.Helper()
	need.Program(x.T, "curl")
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(script, from, x.URL))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		x.T.Fatalf("curl: %v\n%s", err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

const curlStart = `curl -X POST "http://localhost:7483/hook" \
  -H "Content-Type: application/json" \
  -d '{
    "agent": "claude-code",
    "event": "SessionStart",
    "terminal": {"sessionId": "test123", "cwd": "/tmp"},
    "hookInput": {"session_id": "abc123"}
  }'`

const curlStop = `curl -X POST "http://localhost:7483/hook" \
  -H "Content-Type: application/json" \
  -d '{
    "agent": "claude-code",
    "event": "Stop",
    "terminal": {"sessionId": "test123", "cwd": "/tmp"},
    "hookInput": {"session_id": "abc123"}
  }'`

// Both examples as written, one after the other.
func TestCurlExamplesOfTheHookServer(t *testing.T) {
	x := serve(t, Options{})
	for _, script := range []string{curlStart, curlStop} {
		if got := x.curl(script, "http://localhost:7483"); got != `{"status":"ok"}` {
			t.Errorf("answer %s", got)
		}
		var row render.Row
		x.Until("the session is listed", func() bool { return x.Get("/api/sessions/abc123").Status == http.StatusOK })
		x.Get("/api/sessions/abc123").Into(t, &row)
		if row.State != "idle" || row.Cwd != "/tmp" || row.Agent != "claude-code" {
			t.Errorf("after it the session is %+v", row)
		}
	}
}

// The whole envelope with its later members.
func TestEnvelope(t *testing.T) {
	x := serve(t, Options{})
	x.post("/hook", `{"agent":"claude-code","event":"PreToolUse","remoteHost":"build7",
		"hookInput":{"session_id":"s1","transcript_path":"/nowhere.jsonl","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"make"}},
		"terminal":{"sessionId":"w0t0p0:ABC","cwd":"/srv/shop","terminalType":"kitty","kittyListenOn":"unix:/tmp/k","kittyPid":7},
		"tmux":{"pane":"%4","sessionName":"work"},"git":{"branch":"main","repo":"shop"}}`)
	var row render.Row
	x.Get("/api/sessions/s1").Into(t, &row)
	if row.State != "working" || row.Host != "build7" || row.Git == nil || row.Git.Branch != "main" || row.Project != "shop" ||
		row.Tmux == nil || row.Tmux.Pane != "%4" || row.Tmux.Session != "work" || row.Tool == nil || row.Tool.Summary != "Bash: make" {
		t.Errorf("row %+v", row)
	}
	seat := row.SeatID
	// Members that a later event omits keep their values.
	x.post("/hook", `{"agent":"claude-code","event":"PostToolUse","hookInput":{"session_id":"s1","tool_name":"Bash","tool_use_id":"t1"},"git":{"branch":"fix"}}`)
	x.Get("/api/sessions/s1").Into(t, &row)
	if row.SeatID != seat || row.Git.Branch != "fix" || row.Git.Repo != "shop" || row.Tmux == nil || row.Tmux.Pane != "%4" || row.Host != "build7" {
		t.Errorf("afterwards %+v", row)
	}
}

// Every mapped event, ignored ones, and another agent's own names.
func TestMappedEvents(t *testing.T) {
	x := serve(t, Options{})
	send := func(agent, session, name, more string) string {
		r := x.Do("POST", "/hook", `{"agent":"`+agent+`","event":"`+name+`","hookInput":{"session_id":"`+session+`"`+more+`}}`)
		if r.Status != http.StatusOK || r.Body != "{\"status\":\"ok\"}\n" {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
		var row render.Row
		x.Get("/api/sessions/"+session).Into(t, &row)
		return string(row.State)
	}
	for _, c := range []struct{ name, more, want string }{
		{"SessionStart", "", "idle"},
		{"UserPromptSubmit", `,"prompt":"go"`, "working"},
		{"PreToolUse", `,"tool_name":"Bash","tool_use_id":"1"`, "working"},
		{"PermissionRequest", `,"tool_name":"Bash"`, "permission"},
		{"PostToolUse", `,"tool_name":"Bash","tool_use_id":"1"`, "working"},
		{"PreToolUse", `,"tool_name":"Bash","tool_use_id":"2"`, "working"},
		{"PostToolUseFailure", `,"tool_name":"Bash","tool_use_id":"2"`, "working"},
		{"SubagentStart", `,"agent_id":"a"`, "working"},
		{"SubagentStop", `,"agent_id":"a"`, "working"},
		{"PreCompact", `,"trigger":"auto"`, "compacting"},
		{"SomethingNew", "", "compacting"},
		{"PostCompact", "", "working"},
		{"Stop", "", "idle"},
		{"StopFailure", `,"error":"rate_limit"`, "failed"},
		{"SessionEnd", "", "ended"},
	} {
		if got := send("claude-code", "s", c.name, c.more); got != c.want {
			t.Errorf("after %s the session is %s, want %s", c.name, got, c.want)
		}
	}
	if got := send("gemini", "g", "BeforeAgent", `,"prompt":"go"`); got != "working" {
		t.Errorf("after gemini's BeforeAgent: %s", got)
	}
	if got := send("gemini", "g", "AfterAgent", ""); got != "idle" {
		t.Errorf("after gemini's AfterAgent: %s", got)
	}
}

// The client's own payload, as its http hooks post it: the response is no decision.
func TestRawPayload(t *testing.T) {
	x := serve(t, Options{})
	r := x.post("/hook", `{"session_id":"raw","cwd":"/tmp","hook_event_name":"UserPromptSubmit","prompt":"hello"}`)
	if r.Body != "{}\n" {
		t.Errorf("answer %q", r.Body)
	}
	var row render.Row
	x.Get("/api/sessions/raw").Into(t, &row)
	if row.State != "working" || row.Title != "hello" {
		t.Errorf("row %+v", row)
	}
	x.post("/hook?agent=codex", `{"type":"agent-turn-complete","thread-id":"c1","last-assistant-message":"Done."}`)
	x.Get("/api/sessions/c1").Into(t, &row)
	if row.Agent != "codex" || row.State != "idle" {
		t.Errorf("codex row %+v", row)
	}
}
