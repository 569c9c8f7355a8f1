package state

import (
	"strings"
	"testing"

	"beckon/event"
)

// TestOtherAgentsCases plays payloads as the agents send them, one a line: the event's name,
// then the payload.
func TestOtherAgentsCases(t *testing.T) {
	const codexChild = `{"session_id":"s","agent_id":"kid","agent_type":"worker",`
	for _, c := range []struct {
		name, agent, script string
		want                State
		actor               string
	}{
		{"a child's prompt is not the user's, and ends with the child", "codex", `
			UserPromptSubmit {"session_id":"s","prompt":"go"}
			SubagentStart ` + codexChild + `"x":1}
			Stop {"session_id":"s","last_assistant_message":"The subagent works. Done."}
			UserPromptSubmit ` + codexChild + `"prompt":"look"}
			SubagentStop ` + codexChild + `"x":1}`, Working, "kid"},
		{"a child's permission is shown after the parent's end", "codex", `
			UserPromptSubmit {"session_id":"s","prompt":"go"}
			Stop {"session_id":"s"}
			PreToolUse ` + codexChild + `"tool_name":"Bash","tool_input":{"command":"rm x"},"tool_use_id":"c1"}
			PermissionRequest ` + codexChild + `"tool_name":"Bash","tool_input":{"command":"rm x","description":"May I?"}}`, Permission, "kid"},
		{"a request with a reason belongs to its call", "codex", `
			UserPromptSubmit {"session_id":"s","prompt":"go"}
			PreToolUse {"session_id":"s","tool_name":"Bash","tool_input":{"command":"a"},"tool_use_id":"c1"}
			PreToolUse {"session_id":"s","tool_name":"Bash","tool_input":{"command":"b"},"tool_use_id":"c2"}
			PermissionRequest {"session_id":"s","tool_name":"Bash","tool_input":{"command":"a","description":"May I?"}}
			PostToolUse {"session_id":"s","tool_name":"Bash","tool_input":{"command":"b"},"tool_use_id":"c2"}`, Permission, ""},
		{"a form waits until it is answered", "qwen", `
			UserPromptSubmit {"session_id":"s","prompt":"go"}
			PermissionRequest {"session_id":"s","tool_name":"ask_user_question","tool_input":{"questions":[{"question":"Which?"}]}}
			Notification {"session_id":"s","notification_type":"permission_prompt"}`, Question, ""},
		{"the call behind an answered form runs", "qwen", `
			UserPromptSubmit {"session_id":"s","prompt":"go"}
			PermissionRequest {"session_id":"s","tool_name":"ask_user_question","tool_input":{"questions":[{"question":"Which?"}]}}
			PreToolUse {"session_id":"s","tool_name":"ask_user_question","tool_input":{"questions":[{"question":"Which?"}]},"tool_use_id":"t1"}`, Working, ""},
		{"the client's empty prompt is not the user's", "qwen", `
			UserPromptSubmit {"session_id":"s","prompt":"go"}
			PermissionRequest {"session_id":"s","tool_name":"x","tool_input":{}}
			UserPromptSubmit {"session_id":"s","prompt":""}`, Permission, ""},
		{"a batch of calls that was over before the turn", "qwen", `
			UserPromptSubmit {"session_id":"s","prompt":"go"}
			PreToolUse {"session_id":"s","tool_name":"x","tool_input":{},"tool_use_id":"t1"}
			Notification {"session_id":"s","notification_type":"idle_prompt"}
			PostToolUseFailure {"session_id":"s","tool_name":"x","tool_input":{},"tool_use_id":"t1"}
			PostToolBatch {"session_id":"s","tool_calls":[]}`, Idle, ""},
		{"a form of questions", "gemini", `
			BeforeAgent {"session_id":"s","prompt":"go"}
			BeforeTool {"session_id":"s","tool_name":"ask_user","tool_input":{"questions":[{"question":"Which?"}]}}
			Notification {"session_id":"s","notification_type":"ToolPermission","details":{"type":"ask_user"}}`, Question, ""},
		{"a question in one text", "copilot", `
			userPromptSubmitted {"sessionId":"s","prompt":"go"}
			preToolUse {"sessionId":"s","toolName":"ask_user","toolArgs":{"message":"Which?","requestedSchema":{}}}
			notification {"sessionId":"s","notification_type":"elicitation_dialog","message":"Which?"}`, Question, ""},
		{"that is answered", "copilot", `
			userPromptSubmitted {"sessionId":"s","prompt":"go"}
			preToolUse {"sessionId":"s","toolName":"ask_user","toolArgs":{"message":"Which?"}}
			notification {"sessionId":"s","notification_type":"elicitation_dialog","message":"Which?"}
			postToolUse {"sessionId":"s","toolName":"ask_user","toolArgs":{"message":"Which?"}}`, Working, ""},
		{"a child's dialog, by a notice that does not name the child", "copilot", `
			userPromptSubmitted {"sessionId":"s","prompt":"go"}
			preToolUse {"sessionId":"s","toolName":"task","toolArgs":{"prompt":"look"}}
			userPromptSubmitted {"sessionId":"kid","agentId":"kid","parentAgentId":"s","prompt":"look"}
			preToolUse {"sessionId":"kid","agentId":"kid","parentAgentId":"s","toolName":"bash","toolArgs":{"command":"ls"}}
			permissionRequest {"sessionId":"s","agentId":"kid","toolName":"bash","toolInput":{"command":"ls"}}
			notification {"sessionId":"s","notification_type":"permission_prompt","message":"Run command: ls"}`, Permission, "kid"},
		{"a child's dialog, which its own session asks", "opencode", `
			session.created {"properties":{"sessionID":"s","info":{"id":"s"}}}
			chat.message {"properties":{"sessionID":"s","prompt":"go"}}
			session.created {"properties":{"sessionID":"kid","info":{"id":"kid","parentID":"s"}}}
			permission.asked {"properties":{"id":"p1","sessionID":"kid","parentID":"s","permission":"bash","metadata":{"command":"ls"},"tool":{"callID":"c1"}}}
			session.status.busy {"properties":{"sessionID":"s"}}`, Permission, "kid"},
		{"one of two dialogs is answered", "opencode", `
			chat.message {"properties":{"sessionID":"s","prompt":"go"}}
			permission.asked {"properties":{"id":"p1","sessionID":"s","permission":"bash","tool":{"callID":"c1"}}}
			permission.asked {"properties":{"id":"p2","sessionID":"s","permission":"bash","tool":{"callID":"c2"}}}
			permission.replied {"properties":{"sessionID":"s","requestID":"p1","callID":"c1","reply":"once"}}`, Permission, ""},
		{"the other one too", "opencode", `
			chat.message {"properties":{"sessionID":"s","prompt":"go"}}
			permission.asked {"properties":{"id":"p1","sessionID":"s","permission":"bash","tool":{"callID":"c1"}}}
			permission.asked {"properties":{"id":"p2","sessionID":"s","permission":"bash","tool":{"callID":"c2"}}}
			permission.replied {"properties":{"sessionID":"s","requestID":"p1","callID":"c1","reply":"once"}}
			permission.replied {"properties":{"sessionID":"s","requestID":"p2","callID":"c2","reply":"reject"}}`, Working, ""},
		{"a question", "opencode", `
			chat.message {"properties":{"sessionID":"s","prompt":"go"}}
			question.asked {"properties":{"id":"q1","sessionID":"s","questions":[{"question":"Which?"}],"tool":{"callID":"c1"}}}`, Question, ""},
		{"that is answered", "opencode", `
			chat.message {"properties":{"sessionID":"s","prompt":"go"}}
			question.asked {"properties":{"id":"q1","sessionID":"s","questions":[{"question":"Which?"}],"tool":{"callID":"c1"}}}
			question.replied {"properties":{"sessionID":"s","requestID":"q1"}}`, Working, ""},
		{"idle takes no failure back", "opencode", `
			chat.message {"properties":{"sessionID":"s","prompt":"go"}}
			session.error {"properties":{"sessionID":"s","error":{"name":"APIError"}}}
			session.status.idle {"properties":{"sessionID":"s"}}
			session.idle {"properties":{"sessionID":"s"}}`, Failed, ""},
		{"nor does idle with what was said so far", "opencode", `
			chat.message {"properties":{"sessionID":"s","prompt":"go"}}
			session.error {"properties":{"sessionID":"s","error":{"name":"APIError"}}}
			session.idle {"properties":{"sessionID":"s","text":"I began to"}}`, Failed, ""},
		{"a failure is told after idle", "opencode", `
			chat.message {"properties":{"sessionID":"s","prompt":"go"}}
			session.idle {"properties":{"sessionID":"s"}}
			session.error {"properties":{"sessionID":"s","error":{"name":"APIError"}}}`, Failed, ""},
	} {
		var s Session
		for line := range strings.Lines(strings.TrimSpace(c.script)) {
			name, payload, _ := strings.Cut(strings.TrimSpace(line), " ")
			e, err := event.Parse(c.agent, name, []byte(payload))
			if err != nil {
				t.Fatalf("%s: %s: %v", c.name, payload, err)
			}
			if e.SessionID != "s" {
				t.Errorf("%s: %s: session %q", c.name, payload, e.SessionID)
			}
			e.At = recorded + event.Millis(s.Seq*1000)
			s = Apply(s, Change{Seq: s.Seq + 1, At: e.At, Event: &e})
		}
		st := Resolve(s, Evidence{}, s.Updated)
		if st.State != c.want || st.Actor != c.actor {
			t.Errorf("%s (%s): %s of %q (%s), want %s of %q", c.name, c.agent, st.State, st.Actor, st.Rule, c.want, c.actor)
		}
	}
}

// Some agents report the end of an interrupted turn twice, the second time with the text so
// far. The turn stays interrupted.
func TestIdleTakesNoInterruptBack(t *testing.T) {
	var s Session
	for _, line := range []string{
		`chat.message {"properties":{"sessionID":"s","prompt":"go"}}`,
		`session.error {"properties":{"sessionID":"s","error":{"name":"MessageAbortedError"}}}`,
		`session.idle {"properties":{"sessionID":"s","text":"I began to"}}`,
	} {
		name, payload, _ := strings.Cut(line, " ")
		e, err := event.Parse("opencode", name, []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		e.At = recorded + event.Millis(s.Seq*1000)
		s = Apply(s, Change{Seq: s.Seq + 1, At: e.At, Event: &e})
	}
	if st := Resolve(s, Evidence{}, s.Updated); st.State != Idle || st.Reason != Interrupted {
		t.Errorf("%s %s, want %s %s", st.State, st.Reason, Idle, Interrupted)
	}
}

// Droid's hook reports a turn that failed like any other. Its file has the error.
func TestTurnThatFailedInSilence(t *testing.T) {
	for noted, want := range map[event.Millis]State{0: Failed, 3: Failed, -60_000: Idle} {
		var s Session
		for _, name := range []string{"UserPromptSubmit", "Stop"} {
			e, err := event.Parse("droid", name, []byte(`{"session_id":"s","prompt":"go"}`))
			if err != nil {
				t.Fatal(err)
			}
			e.At = recorded + event.Millis(s.Seq*1000)
			s = Apply(s, Change{Seq: s.Seq + 1, At: e.At, Event: &e})
		}
		ev := Evidence{Registry: Reported("failed", "400 no such model", s.Stop.At+noted)}
		for _, o := range Observe(s, ev, s.Updated+100) {
			s = Apply(s, Change{Seq: s.Seq + 1, At: o.At, Observation: &o})
		}
		if st := Resolve(s, Evidence{}, s.Updated+100); st.State != want || want == Failed && st.Reason != "400 no such model" {
			t.Errorf("noted %d ms after the end: %s %s, want %s", noted, st.State, st.Reason, want)
		}
	}
}

// Gemini's hook reports an interrupted turn like any other. The interruption is found in
// Gemini's own file, unless it belongs to an earlier turn.
func TestTurnThatWasBrokenOff(t *testing.T) {
	for _, c := range []struct {
		agent, stop string
		noted       event.Millis // relative to the end of the turn, in milliseconds
		want        string
	}{
		{"gemini", "AfterAgent", 3, Interrupted},
		{"gemini", "AfterAgent", -40, Interrupted},
		{"gemini", "AfterAgent", -60_000, Done}, // an earlier turn
		{"claude-code", "Stop", 3, Done},
	} {
		var s Session
		for _, line := range []string{"UserPromptSubmit", c.stop} {
			if line == "UserPromptSubmit" && c.agent == "gemini" {
				line = "BeforeAgent"
			}
			e, err := event.Parse(c.agent, line, []byte(`{"session_id":"s","prompt":"go","prompt_response":"I began","last_assistant_message":"I began"}`))
			if err != nil {
				t.Fatal(err)
			}
			e.At = recorded + event.Millis(s.Seq*1000)
			s = Apply(s, Change{Seq: s.Seq + 1, At: e.At, Event: &e})
		}
		at := s.Stop.At + c.noted
		for _, o := range Observe(s, Evidence{Halted: at}, s.Updated+100) {
			s = Apply(s, Change{Seq: s.Seq + 1, At: o.At, Observation: &o})
		}
		if st := Resolve(s, Evidence{}, s.Updated+100); st.State != Idle || st.Reason != c.want {
			t.Errorf("%s, noted %d ms after the end: %s %s, want %s", c.agent, c.noted, st.State, st.Reason, c.want)
		}
	}
}

// A busy machine draws late: a title that still shows work says nothing of a dialog that has just
// opened, and nothing of a question at the end of a turn.
func TestTitleIsLate(t *testing.T) {
	const form = `BeforeTool {"session_id":"s","tool_name":"ask_user","tool_input":{"questions":[{"question":"Which?"}]}}` + "\n" +
		`Notification {"session_id":"s","notification_type":"ToolPermission","details":{"type":"ask_user"}}`
	for _, c := range []struct {
		name, last string
		status     string
		after      event.Millis
		want       State
	}{
		{"a dialog opens", form, "busy", 2500, Question},
		{"it is answered", form, "busy", 3500, Working},
		{"it is closed", form, "idle", 3500, Idle},
		{"a turn ends with a question", `AfterAgent {"session_id":"s","prompt_response":"Shall I delete it?"}`, "busy", 60_000, Question},
		{"the user breaks a call off", `BeforeTool {"session_id":"s","tool_name":"x","tool_input":{}}`, "idle", 1000, Idle},
	} {
		var s Session
		for line := range strings.Lines(`BeforeAgent {"session_id":"s","prompt":"go"}` + "\n" + c.last) {
			name, payload, _ := strings.Cut(line, " ")
			e, err := event.Parse("gemini", name, []byte(payload))
			if err != nil {
				t.Fatal(err)
			}
			e.At = recorded + event.Millis(s.Seq)
			s = Apply(s, Change{Seq: s.Seq + 1, At: e.At, Event: &e})
		}
		now := s.Activity + c.after
		if st := Resolve(s, Evidence{Process: Alive, Registry: s.Titled(c.status, now)}, now); st.State != c.want {
			t.Errorf("%s: %s %s after %d ms, want %s", c.name, st.State, st.Reason, c.after, c.want)
		}
	}
}
