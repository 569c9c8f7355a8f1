package store

import (
	"cmp"
	"errors"

	"beckon/event"
	"beckon/state"
)

// fillOrigin sets the origin of u's event if it is new. due is set if the session is new,
// starts, or has changed its directory.
//
// A hook finds out everything itself when it is due. Other senders report what they know with
// each event (Update.Complete is set); what they leave out stays as it was.
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

// complete adds what this machine can find out. It finds that out anew, and keeps what only
// the sender can know.
func (u *Update) complete(s *state.Session, o event.Origin, sent event.Git, moved bool) event.Origin {
	if moved {
		o.Project = ""
	}
	if moved || o.Git.Worktree != "" {
		o.Git = sent
	}
	if p := o.Process; p.Pid != 0 && u.Alive != nil && u.Alive(p, s.Activity) == state.Gone {
		o.Process = event.Process{} // another process continues the session
	}
	return u.Complete(o)
}

// join returns known, updated with what an event reported. The first launcher and the first
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

// joinTerminal returns the terminal of known, or the reported one if the session moved there.
// It moved if both are of the same kind, or if known was only reported too. Otherwise known
// was found by the session's own process and is more precise than the report (which may name
// the program around a tmux), so the report counts only at a start.
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

// Identify sets the session id of an event whose sender named none: the id of the session that
// the event belongs to (state.Addressee), or one that stands for its terminal or directory. It
// reports whether the event now has an id. host is this machine's name.
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
