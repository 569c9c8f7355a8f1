package render

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"beckon/event"
	"beckon/state"
)

const t0 = event.Millis(1_800_000_000_000)

// session makes a session by folding events, the first at t0, a second apart.
func session(id, seat string, kinds ...event.Kind) state.Session {
	var s state.Session
	for i, k := range kinds {
		e := event.Event{Agent: "claude-code", Kind: k, Name: string(k), SessionID: id, At: t0 + event.Millis(i)*1000,
			Cwd: "/home/u/shop", Prompt: "do it\nnow", Reason: "rate_limit", Message: "first\n\nlast line", HasBackground: k == event.Stop,
			Tool: event.Tool{Name: "Bash", UseID: "t1", Hash: "h", Summary: "Bash: make"}}
		if k == event.PermissionRequest {
			e.Tool.UseID = ""
		}
		if i == 0 {
			e.Origin = &event.Origin{Seat: seat, Project: "/home/u/shop"}
		}
		s = state.Apply(s, state.Change{Seq: int64(i + 1), At: e.At, Event: &e})
	}
	return s
}

func seen(sessions ...state.Session) []state.Seen {
	var out []state.Seen
	for _, s := range sessions {
		out = append(out, state.Seen{Session: s, Status: state.Resolve(s, state.Evidence{}, t0+60_000)})
	}
	return out
}

func states(rows []Row) (out []string) {
	for _, r := range rows {
		out = append(out, r.SessionID+" "+string(r.State))
	}
	return out
}

func TestRowsThatNeedYouComeFirst(t *testing.T) {
	rows := Rows(seen(
		session("idle", "1", event.SessionStart),
		session("working", "2", event.SessionStart, event.UserPromptSubmit),
		session("late", "3", event.SessionStart, event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest),
		session("failed", "4", event.SessionStart, event.UserPromptSubmit, event.StopFailure),
		session("done", "5", event.SessionStart, event.UserPromptSubmit, event.Stop),
		session("early", "6", event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest),
	), false)
	want := []string{"early permission", "late permission", "failed failed", "working working", "done idle", "idle idle"}
	if got := states(rows); !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

// After /clear, or a new run in the same pane, the row shows only the newer session.
func TestOneRowASeat(t *testing.T) {
	old := session("old", "seat", event.SessionStart, event.UserPromptSubmit, event.Stop, event.SessionEnd)
	young := session("young", "seat", event.SessionStart)
	young.Start.At, young.Created = t0+10_000, t0+10_000
	for _, order := range [][]state.Session{{old, young}, {young, old}} {
		if got := states(Rows(seen(order...), true)); !slices.Equal(got, []string{"young idle"}) {
			t.Errorf("rows %q, want the younger session alone", got)
		}
	}
	if got := Rows(seen(old), false); len(got) != 0 {
		t.Errorf("rows %q, want an ended session hidden", states(got))
	}
	if got := states(Rows(seen(old), true)); !slices.Equal(got, []string{"old ended"}) {
		t.Errorf("rows %q, want the ended session", got)
	}
}

func TestWhatASessionWantsOrDid(t *testing.T) {
	for want, kinds := range map[string][]event.Kind{
		"do it now":  {event.SessionStart, event.UserPromptSubmit},
		"Bash: make": {event.SessionStart, event.UserPromptSubmit, event.PreToolUse},
		"rate limit": {event.SessionStart, event.UserPromptSubmit, event.StopFailure},
		"last line":  {event.SessionStart, event.UserPromptSubmit, event.Stop},
	} {
		r := Rows(seen(session("s", "1", kinds...)), false)[0]
		if got := r.What(); got != want {
			t.Errorf("after %v: %q, want %q", kinds, got, want)
		}
	}
}

// The JSON form is stable: names and forms do not change.
func TestRowJSON(t *testing.T) {
	r := Rows(seen(session("s", "1", event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest)), false)[0]
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"session_id":"s"`, `"seat_id":"1"`, `"state":"permission"`, `"needs_you":true`, `"since":"2027-01-15T08:00:03Z"`,
		`"tool":{"name":"Bash","summary":"Bash: make"}`, `"turn":{"number":1,"task":"awaiting_input","started_at":"2027-01-15T08:00:01Z"}`, `"source":"hook"`, `"confidence":"high"`, `"project":"shop"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("row %s\nlacks %s", b, want)
		}
	}
}
