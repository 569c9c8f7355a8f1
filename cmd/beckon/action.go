package main

import (
	"beckon/state"
	"beckon/state/store"
)

// act folds what the user did to a session. A session that only the client's
// registry knows has no journal to note it in.
func (a *app) act(v state.Seen, action state.Action) error {
	if v.Session.Seq == 0 {
		return hint("it is heard of as soon as one of its hooks runs", "session %q: no hook of it has run yet", v.Session.ID)
	}
	_, err := a.st.Fold(store.KeyOf(v.Session.Record()), store.Update{Change: state.Change{At: a.now(), Action: &action}})
	return err
}

// markSeen notes that the user looked at a session, unless that was known.
func (a *app) markSeen(v state.Seen) error {
	if looked(&v.Session, v.Status) {
		return nil
	}
	return a.visit(v)
}

// looked reports whether the user has looked at a session since it came to
// where it stands.
func looked(s *state.Session, st state.Status) bool { return !st.Unseen && s.Seen >= st.Since }

// visit notes that the user looked at a session just now. Of one whose hooks
// have not run yet nothing can be noted.
func (a *app) visit(v state.Seen) error {
	if v.Session.Seq == 0 {
		return nil
	}
	return a.act(v, state.Action{Kind: state.ActSeen})
}
