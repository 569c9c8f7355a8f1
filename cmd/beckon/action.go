package main

import (
	"time"

	"beckon/state"
	"beckon/state/store"
)

// act folds what the user did to a session. A session that only the client's
// registry knows has no journal to note it in.
func (a *app) act(v state.Seen, action state.Action) error {
	if v.Session.Seq == 0 {
		return hint("it is heard of as soon as one of its hooks runs", "session %q: no hook of it has run yet", v.Session.ID)
	}
	now := a.reader().Now(time.Now()) // a recording has its own time
	_, err := a.st.Fold(store.KeyOf(v.Session.ID), store.Update{Change: state.Change{At: now, Action: &action}})
	return err
}

// markSeen notes that the user looked at a session (CASE 21).
func (a *app) markSeen(v state.Seen) error {
	if !v.Status.Unseen || v.Session.Seq == 0 {
		return nil
	}
	return a.act(v, state.Action{Kind: state.ActSeen})
}
