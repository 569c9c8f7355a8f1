package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
)

func prompt(id, text string) event.Event {
	return event.Event{Kind: event.UserPromptSubmit, SessionID: id, Prompt: text, Cwd: "/tmp"}
}

func stop(id, text string) event.Event {
	return event.Event{Kind: event.Stop, SessionID: id, Message: text}
}

// The events of a session's life: which come, in which order, with which content.
func TestEventsOfASession(t *testing.T) {
	x := serve(t, Options{})
	s := x.stream("/events")
	s.await("snapshot", nil)
	x.hook(`{"hook_event_name":"UserPromptSubmit","session_id":"a","cwd":"/tmp","prompt":"build it"}`)
	s.await("session_created", sessionIs("a"))
	turn := s.await("turn_created", func(m map[string]any) bool { return m["text"] == "build it" })
	for _, want := range []string{`"actor":"user"`, `"intent":"command"`, `"timestamp_source":"server"`, `"command_id":"a.`, `"turn_id":"a.`, `"project_id":"`, `"agent_id":"`} {
		if !strings.Contains(turn.data, want) {
			t.Errorf("turn %s\nlacks %s", turn.data, want)
		}
	}
	x.hook(`{"hook_event_name":"PreToolUse","session_id":"a","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"make"}}`)
	x.hook(`{"hook_event_name":"PermissionRequest","session_id":"a","tool_name":"Bash","tool_input":{"command":"make"}}`)
	s.await("notification", func(m map[string]any) bool { return m["kind"] == "needs_you" && m["text"] == "Bash: make" })
	x.hook(`{"hook_event_name":"PostToolUse","session_id":"a","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"make"}}`)
	x.hook(`{"hook_event_name":"Stop","session_id":"a","last_assistant_message":"Built."}`)
	s.await("turn_created", func(m map[string]any) bool { return m["text"] == "Built." && m["actor"] == "agent" })
	s.await("notification", func(m map[string]any) bool { return m["kind"] == "done" })
	x.hook(`{"hook_event_name":"SessionEnd","session_id":"a","reason":"prompt_input_exit"}`)
	s.await("session_ended", func(m map[string]any) bool { return m["reason"] == "ended" })
	if rows := s.list(); len(rows) != 0 {
		t.Errorf("shown in the end: %+v", rows)
	}
	events := s.events()
	if len(events) == 0 || events[0].name != "snapshot" {
		t.Errorf("first %+v", events)
	}
}

// After /clear a row belongs to another session.
func TestClear(t *testing.T) {
	x := serve(t, Options{})
	pane := &event.Origin{Terminal: event.Terminal{Kind: "tmux", ID: "%4", Tmux: event.Tmux{Pane: "%4", Socket: "/s"}}}
	start := event.Event{Kind: event.SessionStart, SessionID: "a", Cwd: "/tmp", Origin: pane}
	x.fold(start)
	x.Until("it is shown", func() bool { return x.shows("a") })
	old := x.stream("/events")
	x.fold(event.Event{Kind: event.SessionEnd, SessionID: "a", Reason: "clear"})
	start.SessionID, start.Source = "b", "clear"
	x.fold(start)
	x.Until("the new one is shown", func() bool { return x.shows("b") && !x.shows("a") })
	x.Until("the old one's stream shows nothing of it", func() bool {
		return !slices.ContainsFunc(old.list(), func(r render.Row) bool { return r.SessionID == "a" })
	})
}

func (x *site) shows(session string) bool {
	return slices.ContainsFunc(x.s.feed.list().Sessions, func(r render.Row) bool { return r.SessionID == session })
}

// What was set aside before serve started, or changed by others, is shown.
func TestActionsOfOthersShow(t *testing.T) {
	x := serve(t, Options{})
	s := x.stream("/events")
	x.fold(prompt("a", "one"))
	s.await("session_created", sessionIs("a"))
	if r := x.Do("POST", "/api/sessions/a/backburner", `{"until":"2h"}`); r.Status != http.StatusOK || r.Field(t, "state") != "backburner" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	s.await("session_updated", func(m map[string]any) bool { return strings.Contains(fmt.Sprint(m["session"]), "backburner") })
	if r := x.Do("POST", "/api/sessions/a/backburner", `{"off":true}`); r.Field(t, "state") != "working" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	x.fold(stop("a", "Done."))
	s.await("notification", func(m map[string]any) bool { return m["kind"] == "done" })
	if r := x.Do("POST", "/api/sessions/a/seen", ""); r.Status != http.StatusOK || r.Field(t, "unseen") != "false" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

func TestHeartbeat(t *testing.T) {
	s := serve(t, Options{Timing: Timing{Beat: 10 * time.Millisecond}}).stream("/events")
	s.await("snapshot", nil)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		beats := s.beats
		s.mu.Unlock()
		if beats > 2 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d heartbeats in 10 s", beats)
		}
	}
}
