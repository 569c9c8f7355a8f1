package hook

import (
	"cmp"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state"
	"beckon/state/request"
	"beckon/state/store"
)

// Halt looks for the user's request to stop the session and each of its subagents at their
// next call, folds it, and returns the answer for the client; nil if there is no request. A
// call that has not begun is refused as well.
func Halt(st *store.Store, res *store.Result, e *event.Event) []byte {
	if e.Kind != event.PreToolUse && e.Kind != event.PostToolUse {
		return nil
	}
	by, ok := request.In(st.Dir).StopOf(store.KeyOf(res.After.Record()), began(&res.After, e.AgentID))
	if !ok {
		return nil
	}
	d := &state.Decided{
		Event:   e.Kind,
		Of:      e.At,
		AgentID: e.AgentID,
		Tool:    e.Tool.Name,
		UseID:   e.Tool.UseID,
		Hash:    e.Tool.Hash,
		Word:    state.WordHalted,
		By:      by.By,
		From:    by.From,
	}
	now, err := FoldDecided(st, res.After.Record(), d)
	if err != nil {
		st.Log(err)
	} else {
		res.After = now.After
	}
	reason := "stopped by " + cmp.Or(by.By, "the user") + ", through beckon"
	out := append([]byte{'{'}, `"continue":false`...)
	out = jsonenc.Str(out, "stopReason", reason)
	if e.Kind == event.PreToolUse {
		out = append(out, `,"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"`...)
		out = append(jsonenc.Str(out, "permissionDecisionReason", reason), '}')
	}
	return append(out, '}', '\n')
}

// FoldDecided folds a decision about a call into the record of its session.
func FoldDecided(st *store.Store, record string, d *state.Decided) (store.Result, error) {
	action := &state.Action{Kind: state.ActDecided, Decided: d}
	change := state.Change{At: event.MillisOf(time.Now()), Action: action}
	return st.Fold(store.KeyOf(record), store.Update{Change: change})
}

// began returns when an actor began its present work: for the session itself also its newest
// prompt.
func began(s *state.Session, actor string) (at event.Millis) {
	if actor == "" {
		at = s.Prompt.At
	}
	for i := range s.Actors {
		if s.Actors[i].ID == actor {
			at = max(at, s.Actors[i].Started)
		}
	}
	return at
}
