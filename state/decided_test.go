package state

import (
	"testing"

	"beckon/event"
)

// told folds events and policy answers in order, one second apart.
func told(changes ...any) Session {
	var s Session
	for i, c := range changes {
		at := event.Millis(1000 * (i + 1))
		switch c := c.(type) {
		case event.Event:
			c.At = at
			s = Apply(s, Change{At: at, Event: &c})
		case Decided:
			if c.Of == 0 {
				c.Of = at - 1000
			}
			s = Apply(s, Change{At: at, Action: &Action{Kind: ActDecided, Decided: &c}})
		}
	}
	return s
}

func word(s Session) (State, string) {
	st := Resolve(s, Evidence{}, s.Updated+10)
	return st.State, st.Reason
}

var (
	prompted = event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "do it", PromptID: "p1"}
	called   = event.Event{Kind: event.PreToolUse, Name: "PreToolUse", Tool: event.Tool{Name: "Bash", UseID: "t1", Hash: "h1", Summary: "Bash: a"}}
	wanted   = event.Event{Kind: event.PermissionRequest, Name: "PermissionRequest", Tool: event.Tool{Name: "Bash", Hash: "h1"}}
	stopped  = event.Event{Kind: event.Stop, Name: "Stop"}
)

// No event reports the end of a denied call.
func TestDeniedCallIsNotOpen(t *testing.T) {
	s := told(prompted, called, Decided{Event: event.PreToolUse, Word: WordRefused, UseID: "t1", Tool: "Bash", Hash: "h1"})
	if calls := s.Main().Calls; len(calls) != 0 {
		t.Errorf("calls %+v", calls)
	}
	if w, _ := word(s); w != Working {
		t.Errorf("state %s: the turn goes on", w)
	}
	// A late copy of the event does not open it again.
	if s = Apply(s, Change{At: 9000, Event: &called}); len(s.Main().Calls) != 0 {
		t.Errorf("calls %+v", s.Main().Calls)
	}
}

func TestRefusedPermissionDoesNotWait(t *testing.T) {
	refuse := Decided{Event: event.PermissionRequest, Word: WordRefused, Tool: "Bash", Hash: "h1"}
	if w, _ := word(told(prompted, called, wanted)); w != Permission {
		t.Fatalf("state %s before", w)
	}
	if w, _ := word(told(prompted, called, wanted, refuse)); w != Working {
		t.Errorf("state %s", w)
	}
}

func TestApprovedPermissionRuns(t *testing.T) {
	s := told(prompted, called, wanted, Decided{Event: event.PermissionRequest, Word: WordAllowed, Tool: "Bash", Hash: "h1"})
	if w, _ := word(s); w != Working || len(s.Main().Calls) != 1 {
		t.Errorf("state %s, calls %+v", w, s.Main().Calls)
	}
}

// The PermissionRequest of a rewritten call has the new input. There is one call and one wait,
// whether the request or the rewrite is folded first.
func TestRewrittenCallIsOneCall(t *testing.T) {
	rewrite := Decided{Event: event.PreToolUse, Word: WordRewritten, UseID: "t1", Tool: "Bash", Hash: "h1", NewHash: "h2", Summary: "Bash: b"}
	other := wanted
	other.Tool.Hash = "h2"
	early := rewrite
	early.Of = 2000
	for _, s := range []Session{told(prompted, called, rewrite, other), told(prompted, called, other, early)} {
		calls := s.Main().Calls
		if len(calls) != 1 || calls[0].Summary != "Bash: b" || !calls[0].waiting() || calls[0].UseID != "t1" {
			t.Errorf("calls %+v", calls)
		}
	}
}

func TestBlockedPromptIsNoTurn(t *testing.T) {
	refuse := Decided{Event: event.UserPromptSubmit, Word: WordRefused}
	if w, _ := word(told(prompted, refuse)); w != Idle {
		t.Errorf("state %s", w)
	}
	// A prompt typed into a running turn leaves that turn running.
	if w, _ := word(told(prompted, called, prompted, refuse)); w != Working {
		t.Errorf("state %s in a running turn", w)
	}
}

func TestBlockedStopIsNoEnd(t *testing.T) {
	goes := Decided{Event: event.Stop, Word: WordGoesOn}
	if w, _ := word(told(prompted, stopped)); w != Idle {
		t.Fatalf("state %s before", w)
	}
	if w, _ := word(told(prompted, stopped, goes)); w != Working {
		t.Errorf("state %s", w)
	}
	if w, _ := word(told(prompted, stopped, goes, stopped)); w != Idle {
		t.Errorf("state %s in the end", w)
	}
}

func TestHaltedTurnIsOver(t *testing.T) {
	if w, _ := word(told(prompted, called, Decided{Event: event.PreToolUse, Word: WordHalted, UseID: "t1"})); w != Idle {
		t.Errorf("state %s", w)
	}
}

func TestBlockedCompactionIsNone(t *testing.T) {
	compact := event.Event{Kind: event.PreCompact, Name: "PreCompact", Source: "manual"}
	if w, _ := word(told(prompted, stopped, compact)); w != Compacting {
		t.Fatalf("state %s before", w)
	}
	if w, _ := word(told(prompted, stopped, compact, Decided{Event: event.PreCompact, Word: WordRefused})); w != Idle {
		t.Errorf("state %s", w)
	}
}

// A reply is the user's next prompt, and the turn that it begins is theirs: the client announces
// it as one of its own.
func TestReplyIsAPrompt(t *testing.T) {
	s := told(prompted, stopped, Decided{Event: event.Stop, Word: WordReplied, Text: "and now the tests"},
		event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "<task-notification>", PromptID: "p2", FromClient: true})
	if w, _ := word(s); w != Working || s.Prompt.Text != "and now the tests" || s.Prompt.ID != "p2" || s.OwnTurn() || s.Counts.Turns != 2 {
		t.Errorf("state %s, own %t, %+v", w, s.OwnTurn(), s.Prompt)
	}
}
