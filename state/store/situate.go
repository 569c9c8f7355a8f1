package store

import (
	"cmp"
	"errors"

	"beckon/event"
	"beckon/state"
)

// situate has the event say where it came from, when that is new. due tells
// that the session is new, starts, or works elsewhere than before.
//
// A hook reads everything itself, when it is due. Other senders tell what they
// know with each event (Update.Complete is set): what they leave out stands.
func (u *Update) situate(s *state.Session) {
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
	var told event.Origin
	if e.Origin != nil {
		told = *e.Origin
	}
	e.Origin = nil
	if e.AgentID != "" && !fresh {
		return // a subagent may be elsewhere
	}
	o := told
	if !fresh {
		o = join(s.Origin, told, started)
	}
	if due {
		o = u.complete(s, o, told.Git, moved)
	}
	if fresh || o != s.Origin {
		o.Seat = "" // to be found again
		e.Origin = &o
	}
}

// complete adds what the machine itself can tell. What it told before is read
// again; what only the sender told is not.
func (u *Update) complete(s *state.Session, o event.Origin, told event.Git, moved bool) event.Origin {
	if moved {
		o.Project = ""
	}
	if moved || o.Git.Worktree != "" {
		o.Git = told
	}
	if p := o.Process; p.Pid != 0 && u.Alive != nil && u.Alive(p, s.Activity) == state.Gone {
		o.Process = event.Process{} // another goes on with the session
	}
	return u.Complete(o)
}

// join returns known with what an event told. The first launcher and the first
// name of a tmux session are kept.
func join(known, told event.Origin, started bool) event.Origin {
	o := known
	if told.Host != "" && told.Host != known.Host && known.Process.Pid == 0 {
		o.Host, o.Git, o.Project, o.ProjectID = told.Host, event.Git{}, "", ""
	}
	o.Launcher = cmp.Or(o.Launcher, told.Launcher)
	o.Entry = cmp.Or(o.Entry, told.Entry)
	o.Git.Branch = cmp.Or(told.Git.Branch, o.Git.Branch)
	o.Git.Repo = cmp.Or(told.Git.Repo, o.Git.Repo)
	o.Terminal = joinTerminal(known, told.Terminal, started)
	return o
}

// joinTerminal returns the terminal of known, or the told one when the session
// moved there: it is another one of the same kind, or known is what a sender
// told as well. What the session's own process read says more than a sender's
// other view of it (the program around a tmux); only a start is believed then.
func joinTerminal(known event.Origin, told event.Terminal, started bool) event.Terminal {
	t := known.Terminal
	session := cmp.Or(t.Tmux.Session, told.Tmux.Session)
	switch {
	case told.ID == "":
	case t.Is(told):
		t.Kind = cmp.Or(t.Kind, told.Kind)
		t.Outer, t.Listen = cmp.Or(told.Outer, t.Outer), cmp.Or(told.Listen, t.Listen)
		t.SSH = t.SSH || told.SSH
	case t.ID == "" || started || told.Kind == t.Kind || known.Process.Pid == 0:
		told.SSH = told.SSH || t.SSH && known.Process.Pid == 0
		t = told
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
func (h *held) retire(k Key, now event.Millis) {
	var s state.Session
	if k == "" || k == h.key || readSession(h.st.session(k), &s) != nil || !state.StandsIn(s.ID) || over(&s) {
		return
	}
	// One that is busy goes on by an event that came at the same time.
	_, _ = h.st.Fold(k, Update{Change: state.Change{At: now, Action: &state.Action{Kind: state.ActRemove}}, Wait: noWait})
}
