package notify

import (
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/alert"
)

// A dialog that opens, a turn that ends and one that fails are left to the process that notifies, each
// once; what was so at the first look is not, nor Esc, nor an end that the client goes on from.
func TestFollow(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	var s state.Session
	started := 0
	f := &Follower{Dir: dir, Start: func([]string) error { started++; return nil }}
	seen := map[alert.Due]bool{}
	look := func(want string) {
		t.Helper()
		now = now.Add(time.Second)
		if err := f.Look([]state.Seen{{Session: s}}, now); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, d := range alert.Dues(dir) {
			if e, _ := state.ParseAlert(d.Alert); !seen[d] {
				got += string(e.Kind) + " of " + string(d.Key)
			}
			seen[d] = true
		}
		if got != want {
			t.Errorf("left %q, want %q", got, want)
		}
	}
	fold := func(e event.Event) {
		now = now.Add(time.Minute)
		e.At, e.SessionID = event.MillisOf(now), "s1"
		s = state.Apply(s, state.Change{At: e.At, Event: &e})
		s.ID = "s1"
	}
	asks := func(id string) {
		fold(event.Event{Kind: event.PermissionRequest, Name: "PermissionRequest", Tool: event.Tool{Name: "Bash", UseID: id, Hash: "h", Summary: "Bash: make"}})
	}
	asks("t1")
	look("")
	asks("t2")
	look("permission of s1")
	look("")
	fold(event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "go", PromptID: "p1"})
	look("")
	fold(event.Event{Kind: event.Stop, Name: "Stop", Message: "Done.", HasBackground: true})
	look("done of s1")
	fold(event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "again", PromptID: "p2"})
	fold(event.Event{Kind: event.StopFailure, Name: "StopFailure", Reason: "server_error"})
	look("failed of s1")
	fold(event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "again", PromptID: "p3"})
	look("")
	at := event.MillisOf(now)
	esc := state.Observed{Source: state.FromRegistry, What: state.SawHalt, At: at}
	s = state.Apply(s, state.Change{At: at, Observation: &esc})
	look("")
	if started == 0 {
		t.Error("nobody was started to notify")
	}
}
