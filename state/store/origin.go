package store

import (
	"cmp"
	"errors"

	"beckon/event"
	"beckon/state"
)

// fillOrigin has the event say where it came from, when that is new. due means
// that the session is new, starts, or works elsewhere than before.
//
// A hook reads everything itself, when it is due. Other senders tell what they
// know with each event (Update.Complete is set): what they leave out stands.
func (u *Update) fillOrigin(s *state.Session) {
	e := u.Change.Event
	fresh, started := s.Seat == "", e.Kind == event.SessionStart
	moved := e.AgentID == "" && e.Cwd != "" && e.Cwd != s.Cwd
	due := fresh || started || moved
	if u.Complete == nil {
		if e.Origin == nil && due && u.Origin != nil {
			e.Origin = u.Origin()
		}
		return
	}
	var sent event.Origin
	if e.Origin != nil {
		sent = *e.Origin
	}
	e.Origin = nil
	if e.AgentID != "" && !fresh {
		return // a subagent may be elsewhere
	}
	o := sent
	if !fresh {
		o = join(s.Origin, sent, started)
	}
	if due {
		o = u.complete(s, o, sent.Git, moved)
	}
	if fresh || o != s.Origin {
		o.Seat = "" // to be found again
		e.Origin = &o
	}
}

// complete adds what the machine itself can tell. What it found before is read
// again; what only the sender knows is not.
func (u *Update) complete(s *state.Session, o event.Origin, sent event.Git, moved bool) event.Origin {
	if moved {
		o.Project = ""
	}
	if moved || o.Git.Worktree != "" {
		o.Git = sent
	}
	if p := o.Process; p.Pid != 0 && u.Alive != nil && u.Alive(p, s.Activity) == state.Gone {
		o.Process = event.Process{} // another goes on with the session
	}
	return u.Complete(o)
}

// join returns known with what an event brought. The first launcher and the first
// name of a tmux session are kept.
func join(known, sent event.Origin, started bool) event.Origin {
	o := known
	if sent.Host != "" && sent.Host != known.Host && known.Process.Pid == 0 {
		o.Host, o.Git, o.Project, o.ProjectID = sent.Host, event.Git{}, "", ""
	}
	o.Launcher = cmp.Or(o.Launcher, sent.Launcher)
	o.Entry = cmp.Or(o.Entry, sent.Entry)
	o.Git.Branch = cmp.Or(sent.Git.Branch, o.Git.Branch)
	o.Git.Repo = cmp.Or(sent.Git.Repo, o.Git.Repo)
	o.Terminal = joinTerminal(known, sent.Terminal, started)
	return o
}

// joinTerminal returns the terminal of known, or the one that was sent when the
// session moved there: it is another one of the same kind, or known is what a
// sender sent as well. What the session's own process read says more than a
// sender's other view of it (the program around a tmux), which then counts only
// with a start.
func joinTerminal(known event.Origin, sent event.Terminal, started bool) event.Terminal {
	t := known.Terminal
	session := cmp.Or(t.Tmux.Session, sent.Tmux.Session)
	switch {
	case sent.ID == "":
	case t.Is(sent):
		t.Kind = cmp.Or(t.Kind, sent.Kind)
		t.Outer, t.Listen = cmp.Or(sent.Outer, t.Outer), cmp.Or(sent.Listen, t.Listen)
		t.SSH = t.SSH || sent.SSH
	case t.ID == "" || started || sent.Kind == t.Kind || known.Process.Pid == 0:
		sent.SSH = sent.SSH || t.SSH && known.Process.Pid == 0
		t = sent
	}
	t.Tmux.Session = session
	return t
}

// Identify gives an event whose sender named no session the id of the one that
// it is about (state.Addressee), else one that stands for its terminal or
// directory, and reports whether it has an id then. host is this machine's name.
func (st *Store) Identify(e *event.Event, host string) (bool, error) {
	if e.SessionID != "" {
		return true, nil
	}
	sessions, problems, err := st.Live()
	for _, p := range problems {
		err = errors.Join(err, p.Err)
	}
	e.SessionID = cmp.Or(state.Addressee(sessions, e, host), state.StandIn(e))
	return e.SessionID != "", err
}

// retire removes the session without an id of its own whose seat this one has
// taken: it is the same agent, and must not come back when this one ends.
func (h *holder) retire(k Key, now event.Millis) {
	var s state.Session
	if k == "" || k == h.key || readSession(h.st.session(k), &s) != nil || !state.StandsIn(s.ID) || over(&s) {
		return
	}
	// One that is busy goes on by an event that came at the same time.
	_, _ = h.st.Fold(k, Update{Change: state.Change{At: now, Action: &state.Action{Kind: state.ActRemove}}, Wait: noWait})
}
