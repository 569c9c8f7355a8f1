package web

import (
	"encoding/json"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
)

// notices returns the alerts that a stream has received.
func (s *stream) notices() (list []notice) {
	for _, h := range s.events() {
		if h.name == "notification" {
			var n notice
			_ = json.Unmarshal([]byte(h.data), &n)
			list = append(list, n)
		}
	}
	return list
}

// settled waits until everything folded so far has been looked at.
func (x *site) settled(s *stream) {
	x.fold(prompt("mark", "mark"))
	s.await("turn_created", func(m map[string]any) bool { return m["session_id"] == "mark" })
}

// A change of a session is reported once, with the alert of state.AlertOf, however many of its
// events one look covers.
func TestNotices(t *testing.T) {
	ask := event.Event{Kind: event.PermissionRequest, Tool: event.Tool{Name: "Bash", UseID: "t", Hash: "h", Summary: "Bash: make"}}
	failed := event.Event{Kind: event.StopFailure, Reason: "overloaded"}
	of := func(e event.Event, id string) event.Event { e.SessionID = id; return e }
	robot := prompt("robot", "go")
	robot.Origin = &event.Origin{Entry: "sdk-cli"}
	for _, c := range []struct {
		name   string
		events []event.Event
		want   string
		edge   state.AlertKind
	}{
		{"came and was done", []event.Event{prompt("done", "go"), stop("done", "It is done.")}, "done", state.AlertDone},
		{"came and asks", []event.Event{prompt("asks", "go"), of(ask, "asks")}, "needs_you", state.AlertPermission},
		{"came and failed", []event.Event{prompt("failed", "go"), of(failed, "failed")}, "needs_you", state.AlertFailed},
		{"asks in words", []event.Event{prompt("words", "go"), stop("words", "Shall I delete it?")}, "needs_you", state.AlertQuestion},
		{"works", []event.Event{prompt("works", "go")}, "", ""},
		{"stopped without a turn", []event.Event{{Kind: event.SessionStart, SessionID: "shell"}, stop("shell", "")}, "", ""},
		{"nobody sits before it", []event.Event{robot, of(ask, "robot")}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := serve(t, Options{})
			s := x.stream("/events")
			s.await("snapshot", nil)
			for i, e := range c.events {
				e.At = event.MillisOf(time.Now()) + event.Millis(i)
				x.fold(e)
			}
			x.settled(s)
			list := s.notices()
			if c.want == "" && len(list) == 0 {
				return
			}
			if len(list) != 1 || list[0].Kind != c.want || list[0].Alert != c.edge || list[0].SessionID != c.events[0].SessionID {
				t.Fatalf("told %+v, want one of %s", list, c.edge)
			}
			if list[0].Timestamp.IsZero() || list[0].Text == "" {
				t.Errorf("told %+v", list[0])
			}
		})
	}
}

// What was so before the server started is not reported, nor is what is set aside; a second
// dialog after the first is.
func TestNoticesOnce(t *testing.T) {
	st := storeIn(t.TempDir())
	ask := func(use string) event.Event {
		return event.Event{Kind: event.PermissionRequest, SessionID: "old", Tool: event.Tool{Name: "Bash", UseID: use, Hash: use, Summary: "Bash: " + use}}
	}
	(&site{client: client{T: t}, st: st}).fold(ask("one"))
	x := serve(t, Options{Store: st, Timing: Timing{Recheck: 20 * time.Millisecond}})
	s := x.stream("/events")
	x.settled(s)
	time.Sleep(100 * time.Millisecond)
	if list := s.notices(); len(list) != 0 {
		t.Fatalf("told of what stood before: %+v", list)
	}
	later := ask("two")
	later.At = event.MillisOf(time.Now()) + 2000
	x.fold(later)
	s.await("notification", func(m map[string]any) bool { return m["session_id"] == "old" })
	x.post("/hook/user-prompt-submit", `{"session_id":"aside","prompt":"go"}`)
	if r := x.Do("POST", "/api/sessions/aside/backburner", ""); r.Status != 200 {
		t.Fatal(r.Body)
	}
	x.post("/hook/stop", `{"session_id":"aside","last_assistant_message":"Done."}`)
	s.await("turn_created", func(m map[string]any) bool { return m["session_id"] == "aside" && m["actor"] == "agent" })
	time.Sleep(100 * time.Millisecond)
	if list := s.notices(); len(list) != 1 {
		t.Errorf("told %+v", list)
	}
}
