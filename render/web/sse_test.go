package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state"
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
	if len(events) == 0 || events[0].name != "snapshot" || !strings.HasSuffix(events[0].id, "-0") {
		t.Errorf("first %+v", events)
	}
	for i, h := range events[1:] {
		if want := fmt.Sprintf("%s-%d", x.s.hub.epoch, i+1); h.id != want {
			t.Errorf("event %d has id %s, want %s", i, h.id, want)
		}
	}
}

// A client that reconnects gets what it missed, or learns that it cannot.
func TestReplay(t *testing.T) {
	x := serve(t, Options{})
	x.fold(prompt("a", "one"))
	first := x.stream("/events?after=nonsense")
	if h := first.await("gap", nil); h.data != `{"reason":"epoch"}` {
		t.Errorf("gap %s", h.data)
	}
	first.await("snapshot", nil)
	x.Until("the session is shown", func() bool { return len(first.list()) == 1 })
	id := first.events()[len(first.events())-1].id
	first.cancel()
	<-first.ended
	x.fold(stop("a", "One is done."))
	x.fold(prompt("a", "two"))
	x.Until("all was published", func() bool {
		l := x.s.hub.list(filter{})
		return len(l.Sessions) == 1 && l.Sessions[0].Title == "two"
	})
	for name, open := range map[string]func() *stream{
		"header": func() *stream { return x.stream("/events", "Last-Event-ID: "+id) },
		"query":  func() *stream { return x.stream("/events?after=" + id) },
	} {
		s := open()
		s.await("turn_created", func(m map[string]any) bool { return m["text"] == "two" })
		s.await("turn_created", func(m map[string]any) bool { return m["text"] == "One is done." })
		if _, ok := s.find("snapshot", nil); ok {
			t.Errorf("%s: a snapshot came though nothing was missing", name)
		}
	}
	for range window + 1 {
		x.s.hub.update(time.Now(), func(p *publisher) { p.send(message{name: "session_updated", session: "none"}, []byte(`{}`)) })
	}
	old := x.stream("/events", "Last-Event-ID: "+id)
	if h := old.await("gap", nil); h.data != `{"reason":"too_old"}` {
		t.Errorf("gap %s", h.data)
	}
	future := x.stream("/events", "Last-Event-ID: "+x.s.hub.epoch+"-99999999")
	if h := future.await("gap", nil); h.data != `{"reason":"too_old"}` {
		t.Errorf("gap of the future %s", h.data)
	}
}

func TestFilters(t *testing.T) {
	x := serve(t, Options{})
	x.fold(prompt("a", "one"))
	x.fold(prompt("b", "two"))
	x.Until("both are shown", func() bool { l := x.s.hub.list(filter{}); return len(l.Sessions) == 2 })
	onlyA := x.stream("/events?session=a")
	idle := x.stream("/events?state=idle,failed")
	onlyA.await("snapshot", nil)
	idle.await("snapshot", nil)
	if len(onlyA.list()) != 1 || len(idle.list()) != 0 {
		t.Errorf("snapshots show %d and %d sessions", len(onlyA.list()), len(idle.list()))
	}
	x.fold(stop("b", "Done."))
	idle.await("session_updated", sessionIs("b"))
	x.fold(prompt("b", "three")) // it leaves the state, which they must be told
	idle.await("session_updated", func(m map[string]any) bool {
		return sessionIs("b")(m) && strings.Contains(fmt.Sprint(m["session"]), "three")
	})
	x.fold(stop("a", "Done."))
	onlyA.await("session_updated", sessionIs("a"))
	for _, h := range onlyA.events() {
		if strings.Contains(h.data, `"session_id":"b"`) {
			t.Errorf("the stream of a heard %s", h.data)
		}
	}
	if r := x.Get("/events?state=sleepy"); r.Status != http.StatusBadRequest {
		t.Errorf("unknown state: %d %s", r.Status, r.Body)
	}
	var seat struct {
		Sessions []struct {
			SeatID string `json:"seat_id"`
		}
	}
	x.Get("/api/sessions?session=a").Into(t, &seat)
	if len(seat.Sessions) != 1 {
		t.Fatalf("sessions %+v", seat)
	}
	bySeat := x.stream("/events?session=" + seat.Sessions[0].SeatID)
	bySeat.await("snapshot", nil)
	if len(bySeat.list()) != 1 {
		t.Errorf("by seat: %+v", bySeat.list())
	}
}

// A client that follows one session learns that its row belongs to another one now (/clear).
func TestFilterHearsOfClear(t *testing.T) {
	x := serve(t, Options{})
	pane := &event.Origin{Terminal: event.Terminal{Kind: "tmux", ID: "%4", Tmux: event.Tmux{Pane: "%4", Socket: "/s"}}}
	start := event.Event{Kind: event.SessionStart, SessionID: "a", Cwd: "/tmp", Origin: pane}
	x.fold(start)
	x.Until("it is shown", func() bool { return x.shows("a") })
	old := x.stream("/events?session=a")
	x.fold(event.Event{Kind: event.SessionEnd, SessionID: "a", Reason: "clear"})
	start.SessionID, start.Source = "b", "clear"
	x.fold(start)
	x.Until("the new one is shown", func() bool { return x.shows("b") && !x.shows("a") })
	x.Until("the old one's stream shows nothing of it", func() bool {
		return !slices.ContainsFunc(old.list(), func(r render.Row) bool { return r.SessionID == "a" })
	})
}

func (x *site) shows(session string) bool {
	l := x.s.hub.list(filter{session: session})
	return len(l.Sessions) > 0
}

// A snapshot is current to the point where its stream continues, and has the server's time,
// even if no row has changed for long.
func TestSnapshotIsNew(t *testing.T) {
	h := newHub()
	begin := time.Now()
	h.update(begin, func(p *publisher) { p.set("a", &shown{}) })
	h.snapshotFrame(filter{})
	later := begin.Add(time.Hour)
	h.update(later, func(p *publisher) { p.send(message{name: "turn_created"}, []byte(`{}`)) })
	b, n := h.snapshotFrame(filter{})
	id, data, _ := strings.Cut(string(b), "\n")
	if want := "id: " + h.id(n); id != want {
		t.Errorf("it says %q, and goes on from %q", id, want)
	}
	if stamp, _ := json.Marshal(later); !strings.Contains(data, string(stamp)) {
		t.Errorf("an hour later it is of another time:\n%s", data)
	}
}

// The limit of streams is reported, and a place that becomes free can be taken.
func TestTooManyClients(t *testing.T) {
	x := serve(t, Options{})
	for range maxClients {
		if !x.s.hub.join() {
			t.Fatal("refused early")
		}
	}
	r := x.Get("/events")
	if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", r.Status, r.Header, r.Body)
	}
	x.s.hub.leave()
	x.stream("/events").await("snapshot", nil)
	for range maxClients - 1 {
		x.s.hub.leave()
	}
}

// A client that reads nothing delays nobody, and gets what it missed when it reads again.
func TestStalledClient(t *testing.T) {
	x := serve(t, Options{})
	f := filter{}
	x.fold(prompt("a", "one"))
	x.Until("it is shown", func() bool { l := x.s.hub.list(f); return len(l.Sessions) == 1 })
	n := x.s.hub.newest()
	for i := range kept + window {
		x.s.hub.update(time.Now(), func(p *publisher) {
			p.send(message{name: "turn_created", session: "a", now: state.Working}, fmt.Appendf(nil, `{"n":%d}`, i))
		})
	}
	if _, _, _, ok := x.s.hub.since(n, f); ok {
		t.Error("a client that fell behind by more than is kept was not told")
	}
	newest := x.s.hub.newest()
	got, at := 0, newest-kept
	for at != newest {
		frames, next, wake, ok := x.s.hub.since(at, f)
		if !ok || next-at > step {
			t.Fatalf("after %d events: %d more, %v", got, next-at, ok)
		}
		if next != newest {
			<-wake // at once
		}
		got, at = got+strings.Count(string(frames), "event: turn_created\n"), next
	}
	if got != kept {
		t.Errorf("it holds %d events", got)
	}
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

// newest returns the number of the newest event.
func (h *hub) newest() uint64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.n
}
