package web

import (
	"strings"
	"testing"
)

const curlSessionStart = `curl -X POST http://localhost:5055/hook/session-start \
  -H "Content-Type: application/json" \
  -d '{"session_id": "test-123", "cwd": "/tmp", "timestamp": 1234567890}'`

const curlStatus = `curl http://localhost:5055/hook/status`

// The verification of the tracker hooks, as in their document.
func TestCurlVerificationOfTheTracker(t *testing.T) {
	x := serve(t, Options{})
	r := response{Body: x.curl(curlSessionStart, "http://localhost:5055")}
	for name, want := range map[string]string{"status": "ok", "state": "idle", "is_new_agent": "true", "correlation_method": "created"} {
		if got := r.Field(t, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if !strings.Contains(x.Get("/api/sessions/test-123").Body, `"seat_id":"`+r.Field(t, "agent_id")+`"`) {
		t.Errorf("agent_id %s is not the session's seat", r.Field(t, "agent_id"))
	}
	x.Until("the event is counted", func() bool {
		s := response{Body: x.curl(curlStatus, "http://localhost:5055")}
		return s.Field(t, "last_event_type") == "SessionStart" && s.Field(t, "mode") == modeHooks && s.Field(t, "events_received") == "1"
	})
}

// The eight endpoints in the order of a task, with the members of their responses that each sender expects.
func TestTrackedHooks(t *testing.T) {
	x := serve(t, Options{})
	agent := ""
	for _, c := range []struct{ name, more, want string }{
		{"session-start", `,"working_directory":"/tmp","transcript_path":"/nowhere.jsonl"`, `"is_new_agent":true,"correlation_method":"created","state":"idle"`},
		{"session-start", `,"cwd":"/tmp"`, `"is_new_agent":false,"correlation_method":"session_id","state":"idle"`},
		{"user-prompt-submit", `,"prompt":"build it"`, `"state":"processing","state_changed":true`},
		{"pre-tool-use", `,"tool_name":"AskUserQuestion","tool_use_id":"1","tool_input":{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]}`, `"state_changed":true,"new_state":"awaiting_input"`},
		{"post-tool-use", `,"tool_name":"AskUserQuestion","tool_use_id":"1"`, `"state_changed":true,"new_state":"processing"`},
		{"pre-tool-use", `,"tool_name":"Bash","tool_use_id":"2","tool_input":{"command":"make"}`, `"state_changed":false,"new_state":"processing"`},
		{"permission-request", `,"tool_name":"Bash","tool_input":{"command":"make"}`, `"state_changed":true,"new_state":"awaiting_input"`},
		{"notification", `,"message":"Claude needs your permission","notification_type":"permission_prompt"`, `"state_changed":false,"new_state":"awaiting_input"`},
		{"post-tool-use", `,"tool_name":"Bash","tool_use_id":"2"`, `"state_changed":true,"new_state":"processing"`},
		{"stop", ``, `"state":"idle","state_changed":true`},
		{"session-end", ``, `"state":"complete"`},
	} {
		r := x.post("/hook/"+c.name, `{"session_id":"s"`+c.more+`}`)
		if agent == "" {
			agent = r.Field(t, "agent_id")
		}
		for member := range strings.SplitSeq(`"status":"ok","agent_id":"`+agent+`",`+c.want, ",") {
			if !strings.Contains(r.Body, member) {
				t.Errorf("%s: %s\nlacks %s", c.name, r.Body, member)
			}
		}
	}
}

// Each fault of a tracked hook is reported with a code of its own.
func TestTrackedHookFaults(t *testing.T) {
	x := serve(t, Options{})
	for _, c := range []struct {
		path, body, contentType string
		status                  int
		message                 string
	}{
		{"/hook/stop", `{}`, "text/plain", 400, "Content-Type must be application/json"},
		{"/hook/stop", `session_id=1`, "application/x-www-form-urlencoded", 400, "Content-Type must be application/json"},
		{"/hook/stop", `{"session_id":`, "application/json", 400, "Invalid JSON payload"},
		{"/hook/stop", ``, "application/json", 400, "Invalid JSON payload"},
		{"/hook/stop", `null`, "application/json", 400, "Invalid JSON payload"},
		{"/hook/stop", `[]`, "application/json", 400, "Invalid JSON payload"},
		{"/hook/stop", `7`, "application/json", 400, "Invalid JSON payload"},
		{"/hook/stop", `{}`, "application/json", 400, "Missing required fields: session_id"},
		{"/hook/stop", `{"session_id":""}`, "application/json", 400, "Missing required fields: session_id"},
		{"/hook/stop", `{"session_id":7}`, "application/json", 400, "Missing required fields: session_id"},
		{"/hook/stop", `{"session_id":"s","hook_event_name":"SessionEnd"}`, "application/json", 400, "hook_event_name says otherwise than the path"},
		{"/hook/sotp", `{"session_id":"s"}`, "application/json", 404, "No such hook"},
		{"/hook", `{"nothing":1}`, "application/json", 400, "Missing required fields: event"},
		{"/hook", `{"event":"Stop"}`, "application/json", 400, "Missing required fields: session_id"},
		{"/hook", `{{`, "application/json", 400, "Invalid JSON"},
	} {
		r := x.Do("POST", c.path, c.body, "Content-Type: "+c.contentType)
		if r.Status != c.status || r.Field(t, "status") != "error" || r.Field(t, "message") != c.message {
			t.Errorf("%s %q as %s: %d %s", c.path, c.body, c.contentType, r.Status, r.Body)
		}
	}
	if list := x.s.feed.list(); len(list.Sessions) != 0 {
		t.Errorf("sessions were made: %+v", list.Sessions)
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/no/such/directory", ""} { // none is refused
		x.post("/hook/session-start", `{"session_id":"in `+dir+`","working_directory":"`+dir+`"}`)
	}
}

func TestHooksDisabled(t *testing.T) {
	x := serve(t, Options{Closed: true})
	for _, path := range []string{"/hook", "/hook/stop"} {
		if r := x.post(path, `{"session_id":"s","event":"Stop"}`); r.Body != `{"status":"ignored","reason":"hooks_disabled"}`+"\n" {
			t.Errorf("%s: %s", path, r.Body)
		}
	}
	if got := x.Get("/hook/status").Field(t, "enabled"); got != "false" {
		t.Errorf("enabled is %s", got)
	}
}
