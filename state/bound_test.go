package state

import (
	"strconv"
	"strings"
	"testing"

	"beckon/event"
)

// However many subagents run, the one that waits for a permission is kept.
func TestBoundKeepsWhoWaits(t *testing.T) {
	at := t0
	var s Session
	apply := func(e event.Event) {
		at++
		e.At, e.Name, e.SessionID = at, string(e.Kind), "s"
		s = Apply(s, Change{Seq: s.Seq + 1, At: at, Event: &e})
	}
	apply(event.Event{Kind: event.UserPromptSubmit, Prompt: "all at once"})
	asks := event.Tool{Name: "Bash", UseID: "u", Hash: "h"}
	for i := range 2 * maxActors {
		id := "sub" + strconv.Itoa(i)
		apply(event.Event{Kind: event.SubagentStart, AgentID: id})
		if i == 0 {
			apply(event.Event{Kind: event.PreToolUse, AgentID: id, Tool: asks})
			apply(event.Event{Kind: event.PermissionRequest, AgentID: id, Tool: asks})
		}
	}
	if st := s.ByHooks(at + 1000); st.State != Permission || len(s.Actors) != maxActors {
		t.Errorf("%s with %d actors", st.State, len(s.Actors))
	}
}

// Thousands of events that came late, whose names the session keeps for a moment, cut none of its texts.
func TestBoundKeepsTextsOfLateSession(t *testing.T) {
	names := strings.Repeat("1750000000000-1-x.json ", 4000)
	s := Session{Schema: Schema, ID: "s", Seq: 1, Cwd: "/home/u/projects/a-rather-long-name", Late: names}
	var got Session
	if err := got.DecodeJSON(AppendJSON(nil, &s)); err != nil || got.Cwd != s.Cwd || got.Late != s.Late {
		t.Errorf("%q, %d bytes of names, %v", got.Cwd, len(got.Late), err)
	}
}
