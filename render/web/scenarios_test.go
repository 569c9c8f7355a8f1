package web

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/state"
)

// Every scenario of the tracker's specification, by its title.
func TestScenariosOfTheSpecification(t *testing.T) {
	for _, c := range []struct {
		title string
		run   func(*testing.T)
	}{
		{"Session start event", scenarioStart},
		{"User prompt submit event", scenarioPrompt},
		{"Stop (turn complete) event", scenarioStop},
		{"Session end event", scenarioEnd},
		{"Notification event", scenarioNotification},
		{"Status query", scenarioStatus},
		{"Known session ID", scenarioKnown},
		{"New session in known directory", scenarioKnownDirectory},
		{"New session in unknown directory", scenarioUnknownDirectory},
		{"Hook routes pass tmux_session", scenarioTmux},
		{"Hook-originated update", scenarioConfidence},
		{"Turn created from hook with SSE broadcast", scenarioTurn},
		{"JSONL timestamps used for progress capture", scenarioProgress},
		{"Broadcast includes timestamp", scenarioTimestamp},
		{"Hooks active", scenarioActive},
		{"Hooks silent", scenarioSilent},
		{"Hooks resume", scenarioResume},
		{"Successful notification", scenarioScript},
		{"Application unavailable", scenarioUnavailable},
		{"Tmux session name forwarded", scenarioTmuxForwarded},
		{"Tmux session name absent", scenarioTmuxAbsent},
		{"Clean installation", scenarioInstall},
		{"Status display", scenarioStatusDisplay},
		{"Last active display", scenarioLastActive},
	} {
		t.Run(c.title, c.run)
	}
}

func (x *site) row(id string) (r render.Row) {
	x.T.Helper()
	x.Get("/api/sessions/"+id).Into(x.T, &r)
	return r
}

func scenarioStart(t *testing.T) {
	x := serve(t, Options{})
	r := x.post("/hook/session-start", `{"session_id":"s","working_directory":"/tmp"}`)
	if r.Field(t, "state") != "idle" || r.Field(t, "is_new_agent") != "true" || x.row("s").State != state.Idle {
		t.Errorf("%s, %+v", r.Body, x.row("s"))
	}
	x.post("/hook/session-end", `{"session_id":"s"}`)
	if r = x.post("/hook/session-start", `{"session_id":"s","source":"resume"}`); r.Field(t, "state") != "idle" || r.Field(t, "is_new_agent") != "false" || x.row("s").State != state.Idle {
		t.Errorf("activated again: %s, %+v", r.Body, x.row("s"))
	}
}

func scenarioPrompt(t *testing.T) {
	x := serve(t, Options{})
	x.post("/hook/session-start", `{"session_id":"s"}`)
	r := x.post("/hook/user-prompt-submit", `{"session_id":"s","prompt":"build it"}`)
	if r.Field(t, "state") != "processing" || r.Field(t, "state_changed") != "true" || x.row("s").State != state.Working {
		t.Errorf("%s, %+v", r.Body, x.row("s"))
	}
}

func scenarioStop(t *testing.T) {
	x := serve(t, Options{})
	x.post("/hook/user-prompt-submit", `{"session_id":"s","prompt":"build it"}`)
	r := x.post("/hook/stop", `{"session_id":"s"}`)
	if r.Field(t, "state") != "idle" || x.row("s").State != state.Idle {
		t.Errorf("%s, %+v", r.Body, x.row("s"))
	}
}

func scenarioEnd(t *testing.T) {
	x := serve(t, Options{})
	s := x.stream("/events")
	x.post("/hook/session-start", `{"session_id":"s"}`)
	s.await("session_created", sessionIs("s"))
	x.post("/hook/session-end", `{"session_id":"s"}`)
	s.await("session_ended", sessionIs("s"))
	if x.row("s").State != state.Ended || x.Get("/api/sessions").Body == "" || strings.Contains(x.Get("/api/sessions").Body, `"s"`) {
		t.Errorf("still active: %s", x.Get("/api/sessions").Body)
	}
}

func scenarioNotification(t *testing.T) {
	x := serve(t, Options{})
	x.post("/hook/session-start", `{"session_id":"s"}`)
	before := x.row("s").UpdatedAt
	time.Sleep(2 * time.Millisecond)
	x.post("/hook/notification", `{"session_id":"s","message":"hello"}`)
	if after := x.row("s"); !after.UpdatedAt.After(before) || after.State != state.Idle {
		t.Errorf("updated at %v, before %v", after.UpdatedAt, before)
	}
}

func scenarioStatus(t *testing.T) {
	x := serve(t, Options{})
	r := x.Get("/hook/status")
	if r.Status != http.StatusOK || r.Field(t, "enabled") != "true" || r.Field(t, "last_event_at") != "<nil>" || r.Field(t, "mode") != modePolling {
		t.Errorf("at first %s", r.Body)
	}
	x.post("/hook/session-start", `{"session_id":"s"}`)
	x.Until("the event is known", func() bool { return x.Get("/hook/status").Field(t, "mode") == modeHooks })
	at, err := time.Parse(time.RFC3339, x.Get("/hook/status").Field(t, "last_event_at"))
	if err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("last event at %v: %v", at, err)
	}
}

func scenarioKnown(t *testing.T) {
	x := serve(t, Options{})
	a := x.post("/hook/session-start", `{"session_id":"a","cwd":"/tmp"}`).Field(t, "agent_id")
	b := x.post("/hook/session-start", `{"session_id":"b","cwd":"/tmp"}`).Field(t, "agent_id")
	if a == b {
		t.Fatal("two sessions of one directory are one agent")
	}
	for _, cwd := range []string{"/tmp", "/usr"} { // the id counts, even if the agent has gone elsewhere
		if got := x.post("/hook/user-prompt-submit", `{"session_id":"a","cwd":"`+cwd+`","prompt":"in `+cwd+`"}`).Field(t, "agent_id"); got != a {
			t.Errorf("in %s the event went to %s, want %s", cwd, got, a)
		}
	}
	if x.row("a").State != state.Working || x.row("b").State != state.Idle {
		t.Errorf("a is %s, b is %s", x.row("a").State, x.row("b").State)
	}
}

// A known agent has a session without an id yet; the session becomes its own.
func scenarioKnownDirectory(t *testing.T) {
	x := serve(t, Options{})
	dir := t.TempDir()
	s := x.stream("/events")
	x.post("/hook", `{"agent":"claude-code","event":"SessionStart","terminal":{"cwd":"`+dir+`"}}`)
	created := s.await("session_created", nil)
	var first struct {
		AgentID string `json:"agent_id"`
	}
	_ = json.Unmarshal([]byte(created.data), &first)
	r := x.post("/hook/session-start", `{"session_id":"s","working_directory":"`+dir+`"}`)
	if r.Field(t, "correlation_method") != "working_directory" || r.Field(t, "is_new_agent") != "false" || r.Field(t, "agent_id") != first.AgentID {
		t.Errorf("%s, want agent %s", r.Body, first.AgentID)
	}
	x.Until("one row is left", func() bool { return len(s.list()) == 1 && s.list()[0].SessionID == "s" })
	// It is taken: the next session there belongs to another agent.
	if r = x.post("/hook/session-start", `{"session_id":"t","working_directory":"`+dir+`"}`); r.Field(t, "correlation_method") != "created" {
		t.Errorf("the second: %s", r.Body)
	}
	// Its stand-in does not return when it ends.
	x.post("/hook/session-end", `{"session_id":"s"}`)
	x.Until("only the other is left", func() bool { return len(s.list()) == 1 && s.list()[0].SessionID == "t" })
	time.Sleep(50 * time.Millisecond)
	if rows := s.list(); len(rows) != 1 {
		t.Errorf("shown %+v", rows)
	}
}

func scenarioUnknownDirectory(t *testing.T) {
	x := serve(t, Options{})
	r := x.post("/hook/session-start", `{"session_id":"s","working_directory":"`+t.TempDir()+`"}`)
	if r.Field(t, "correlation_method") != "created" || r.Field(t, "is_new_agent") != "true" {
		t.Error(r.Body)
	}
}

func scenarioTmux(t *testing.T) {
	x := serve(t, Options{})
	for i, hook := range []string{"session-start", "user-prompt-submit", "pre-tool-use", "post-tool-use", "permission-request", "notification", "stop", "session-end"} {
		id := "s-" + hook
		x.post("/hook/"+hook, `{"session_id":"`+id+`","tool_name":"Bash","tmux_pane":"%`+string(rune('0'+i))+`","tmux_session":"first"}`)
		x.post("/hook/notification", `{"session_id":"`+id+`","tmux_session":"second"}`)
		if row := x.row(id); row.Tmux == nil || row.Tmux.Session != "first" || row.Tmux.Pane != "%"+string(rune('0'+i)) {
			t.Errorf("%s: %+v", hook, row.Tmux)
		}
	}
	// It is filled in if it was not set, and a resumed session moves.
	x.post("/hook/session-start", `{"session_id":"late"}`)
	x.post("/hook/notification", `{"session_id":"late","tmux_pane":"%77","tmux_session":"later"}`)
	if row := x.row("late"); row.Tmux == nil || row.Tmux.Session != "later" || row.Tmux.Pane != "%77" {
		t.Errorf("late: %+v", row.Tmux)
	}
	x.post("/hook/session-start", `{"session_id":"late","tmux_pane":"%78","tmux_session":"other"}`)
	if row := x.row("late"); row.Tmux == nil || row.Tmux.Session != "later" || row.Tmux.Pane != "%78" {
		t.Errorf("moved: %+v", row.Tmux)
	}
}

func scenarioConfidence(t *testing.T) {
	x := serve(t, Options{})
	s := x.stream("/events")
	x.post("/hook/user-prompt-submit", `{"session_id":"s","prompt":"build it"}`)
	s.await("session_created", func(m map[string]any) bool {
		row, _ := m["session"].(map[string]any)
		return row["confidence"] == "high" && row["source"] == "hook"
	})
}

func scenarioTurn(t *testing.T) {
	x := serve(t, Options{})
	s := x.stream("/events")
	began := time.Now().Truncate(time.Millisecond)
	x.post("/hook/user-prompt-submit", `{"session_id":"s","cwd":"/tmp","prompt":"build it"}`)
	x.post("/hook/pre-tool-use", `{"session_id":"s","tool_name":"AskUserQuestion","tool_use_id":"1","tool_input":{"questions":[{"question":"Which one?","options":[]}]}}`)
	x.post("/hook/post-tool-use", `{"session_id":"s","tool_name":"AskUserQuestion","tool_use_id":"1","tool_response":{"answers":{"Which one?":"A"}}}`)
	x.post("/hook/stop", `{"session_id":"s","last_assistant_message":"Everything is done."}`)
	for _, want := range []struct{ actor, intent, text string }{
		{"user", "command", "build it"}, {"agent", "question", "Which one?"}, {"user", "answer", ""}, {"agent", "completion", "Everything is done."},
	} {
		h := s.await("turn_created", func(m map[string]any) bool {
			text, _ := m["text"].(string)
			return m["actor"] == want.actor && m["intent"] == want.intent && (want.text == "" || text == want.text)
		})
		var turn map[string]any
		_ = json.Unmarshal([]byte(h.data), &turn)
		for _, name := range []string{"agent_id", "project_id", "command_id", "turn_id"} {
			if v, _ := turn[name].(string); v == "" {
				t.Errorf("%s: no %s in %s", want.intent, name, h.data)
			}
		}
		at, err := time.Parse(time.RFC3339, turn["timestamp"].(string))
		if err != nil || at.Before(began) || at.After(time.Now()) || turn["timestamp_source"] != "server" {
			t.Errorf("%s at %v (%v), from %v to now", want.intent, turn["timestamp"], turn["timestamp_source"], began)
		}
	}
	x.Until("the API tells the same", func() bool { return strings.Count(x.Get("/api/sessions/s/turns").Body, `"turn_id"`) == 4 })
}

func scenarioProgress(t *testing.T) {
	often := Timing{Recheck: 20 * time.Millisecond, Hooks: 20 * time.Millisecond}
	x := serve(t, Options{Timing: often})
	s := x.stream("/events")
	path := filepath.Join(t.TempDir(), "t.jsonl")
	x.post("/hook/user-prompt-submit", `{"session_id":"s","cwd":"/tmp","transcript_path":"`+path+`","prompt":"build it"}`)
	at := time.Now().UTC().Add(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
	lines := `{"type":"assistant","uuid":"1","timestamp":"` + at + `","message":{"role":"assistant","content":[{"type":"text","text":"I am looking at the Makefile first."},{"type":"tool_use","id":"1","name":"Bash","input":{}}]}}` + "\n" +
		`{"type":"user","uuid":"2","timestamp":"` + at + `","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"ok"}]}}` + "\n"
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	x.post("/hook/post-tool-use", `{"session_id":"s","tool_name":"Bash","tool_use_id":"1"}`)
	h := s.await("turn_created", func(m map[string]any) bool { return m["intent"] == "progress" })
	var turn map[string]any
	_ = json.Unmarshal([]byte(h.data), &turn)
	said, err := time.Parse(time.RFC3339, turn["timestamp"].(string))
	if err != nil || said.Format("2006-01-02T15:04:05.000Z") != at || turn["timestamp_source"] != "jsonl" || turn["text"] != "I am looking at the Makefile first." {
		t.Errorf("turn %s, want its time to be %s", h.data, at)
	}
}

func scenarioTimestamp(t *testing.T) {
	x := serve(t, Options{})
	s := x.stream("/events")
	x.post("/hook/user-prompt-submit", `{"session_id":"s","prompt":"build it"}`)
	s.await("session_created", sessionIs("s"))
	x.post("/hook/stop", `{"session_id":"s","last_assistant_message":"Done."}`)
	s.await("session_updated", sessionIs("s"))
	s.await("notification", nil)
	for _, h := range s.events()[1:] {
		var m map[string]any
		_ = json.Unmarshal([]byte(h.data), &m)
		text, _ := m["timestamp"].(string)
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			t.Errorf("%s has the timestamp %q", h.name, text)
		}
	}
}
