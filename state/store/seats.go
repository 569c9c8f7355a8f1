package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
)

// A seat is the row by which a user knows a session. It survives /clear, compaction and resume.
// A terminal alone is no proof: a nested agent inherits it from its parent.

// Method names how a session found its seat. The names are those that the tracker's HTTP
// interface returns as correlation_method.
type Method string

// The methods, in the order in which they are tried.
const (
	BySessionID Method = "session_id"
	ByProcess   Method = "process"
	ByLauncher  Method = "launcher_id"
	ByTerminal  Method = "tmux_pane_id"
	ByDirectory Method = "working_directory"
	Created     Method = "created"
)

// place sets the event's origin, if that is due, and gives the session its seat. For a new
// session it returns the method that found the seat.
func (h *locked) place(u *Update) Method {
	e := u.Change.Event
	if e == nil {
		return ""
	}
	u.fillOrigin(h.s)
	o := e.Origin
	switch {
	case o == nil && h.s.Seat != "", o != nil && o.Seat != "": // known, or from a replay
		return ""
	case o == nil:
		o = &event.Origin{}
		e.Origin = o
	}
	_, o.Part, _ = cutPart(string(h.key))
	if h.s.Seat != "" {
		o.Seat, o.SeatAt = h.s.Seat, min(u.Change.At, cmp.Or(h.s.Origin.SeatAt, h.s.Created))
		return ""
	}
	before, by := h.predecessor(o, u)
	if before == nil {
		o.Seat, o.SeatAt = "s"+unique(), u.Change.At
		return by
	}
	o.Seat, o.SeatAt = before.Seat, min(u.Change.At, cmp.Or(before.Origin.SeatAt, before.Created))
	h.s.Label = before.Label
	if e.Kind == event.SessionStart && e.Source == "clear" {
		h.s.Backburner = before.Backburner // the user meant the agent, and the user's next prompt ends it
	}
	if !state.StandsIn(e.SessionID) && by != ByProcess && state.StandsIn(before.ID) && !over(before) {
		// Both are the same agent, and the one without an id of its own must not come back when
		// this one ends. If another process has locked it, it has just got an event and goes on.
		remove := Update{Change: state.Change{At: u.Change.At, Action: &state.Action{Kind: state.ActRemove}}}
		_, _ = h.st.fold(KeyOf(before.Record()), &remove, new(Result))
	}
	return by
}

// predecessor returns the live session whose seat a new session gets, by the first method that finds one; nil
// if there is none. Of several it is the one that acted last. Only in one process does a session follow
// another that has not ended: /clear and the interactive /resume give the client a new session id.
func (h *locked) predecessor(o *event.Origin, u *Update) (*state.Session, Method) {
	e := u.Change.Event
	keys, _ := h.st.keys(sessionsDir) // without them the row begins anew
	live, _ := h.st.readAll(keys)
	for _, m := range [...]struct {
		by   Method
		same func(s *state.Session) bool
	}{
		{ByProcess, func(s *state.Session) bool {
			p := s.Origin.Process
			p.Machine = o.Process.Machine
			return p.Pid != 0 && p.Start != "" && p == o.Process
		}},
		{ByLauncher, func(s *state.Session) bool { return o.Launcher != "" && s.Origin.Launcher == o.Launcher }},
		{ByTerminal, func(s *state.Session) bool { // two agents may use a pane one after the other
			return s.Agent == e.Agent && s.Origin.Host == o.Host && s.Origin.Terminal.Is(o.Terminal)
		}},
		{ByDirectory, func(s *state.Session) bool { // one without an id of its own, where one that has it begins
			dir := cmp.Or(o.Project, e.Cwd)
			return dir != "" && state.StandsIn(s.ID) && !state.StandsIn(e.SessionID) && !over(s) &&
				s.Agent == e.Agent && s.Origin.Host == o.Host && cmp.Or(s.Origin.Project, s.Cwd) == dir
		}},
	} {
		var last *state.Session
		taken := false
		for i := range live {
			s := &live[i]
			if s.Seat == "" || KeyOf(s.Record()) == h.key || !m.same(s) {
				continue
			}
			taken = taken || m.by != ByProcess && m.by != ByDirectory && u.sits(s, o)
			if last == nil || max(last.Activity, last.Created) < max(s.Activity, s.Created) {
				last = s
			}
		}
		if last != nil && !taken {
			return last, m.by
		}
	}
	return nil, Created
}

// sits reports whether s may still be where o is, and is another session. Of two without a process
// only the terminal is known.
func (u *Update) sits(s *state.Session, o *event.Origin) bool {
	switch {
	case over(s):
		return false
	case s.Origin.Process.Pid == 0:
		return o.Process.Pid != 0
	}
	return u.Alive == nil || u.Alive(s.Origin.Process, s.Activity) != state.Gone
}

// A user may run one session in two terminals at once (claude --continue, --resume): both clients send its
// id. The first process has the session's own record. Any other has a separate record, with its own file,
// lock and meter, so that the end, the death or the Esc of one does not affect the other. A process that
// resumes the session after the previous one is gone continues its record.

// PartOf returns the name of the part of a session that belongs to process p, or "" if too
// little is known about p.
func PartOf(p event.Process) string {
	if p.Pid == 0 || p.Start == "" {
		return ""
	}
	parts := [...]string{"process", p.Host, p.Boot, p.NS, strconv.Itoa(p.Pid), p.Start, ""}
	sum := sha256.Sum256([]byte(strings.Join(parts[:], "\x00")))
	return hex.EncodeToString(sum[:partLen/2])
}

// RecordOf returns the record (state.Session.Record) of session id that belongs to the
// caller's client. other and alive are as in Update.
func (st *Store) RecordOf(id string, other func(event.Process) event.Process, alive Alive) string {
	k := KeyOf(id)
	s, err := st.Load(k)
	if err != nil || s.Origin.Process.Pid == 0 {
		return id
	}
	_, part, _ := cutPart(string(st.ownerOf(k, &s, other(s.Origin.Process), true, alive)))
	return state.Record(id, part)
}

// owner returns the key of the record that u belongs to. s is the session's own record, and k its key.
func (st *Store) owner(k Key, s *state.Session, u *Update) Key {
	e := u.Change.Event
	if u.Other == nil || s.Origin.Process.Pid == 0 {
		return k
	}
	p := u.Other(s.Origin.Process)
	begins := e != nil && e.Kind == event.SessionStart && e.Source != "compact"
	own := st.ownerOf(k, s, p, begins, u.Alive)
	u.continued = own == k && PartOf(p) != "" // in p
	return own
}

// ownerOf returns the key of the record of process p; p is the zero Process if it is that of s. A process
// that begins the session takes over s unless the other process is known to run. For a process on another
// machine that is never known, and a session that moved here with its files is one row, not two.
func (st *Store) ownerOf(k Key, s *state.Session, p event.Process, begins bool, alive Alive) Key {
	part := PartOf(p)
	if part == "" {
		return k
	}
	own := k.part(part)
	is := state.Unread
	if alive != nil {
		is = alive(s.Origin.Process, s.Activity)
	}
	switch {
	case plainfile.Exists(st.session(own)), plainfile.Exists(st.archived(own)), plainfile.Exists(st.latePath(own, "")):
		return own
	case begins && (s.End.At != 0 || is != state.Alive):
		return k
	case s.End.At == 0 && (s.Lost.At != 0 || is == state.Gone):
		return k // the start of p was missed
	}
	return own
}

// fillOrigin sets the origin of u's event if it is new. What the event's sender leaves out stays as it was;
// what u.Origin can find out is found out anew if the session is new, starts, or has changed its directory
// or its process.
func (u *Update) fillOrigin(s *state.Session) {
	e := u.Change.Event
	if u.Origin == nil {
		return
	}
	var sent event.Origin
	if e.Origin != nil {
		sent, e.Origin = *e.Origin, nil
	}
	fresh, started := s.Seat == "", e.Kind == event.SessionStart
	if e.AgentID != "" && !fresh && !u.continued {
		return // a subagent may be elsewhere
	}
	moved := e.AgentID == "" && e.Cwd != "" && e.Cwd != s.Cwd
	o := sent
	if !fresh {
		o = join(s.Origin, sent, started)
	}
	if fresh || started || moved || u.continued {
		if moved {
			o.Project = ""
		}
		if moved || o.Git.Worktree != "" {
			o.Git = sent.Git
		}
		if p := o.Process; p.Pid != 0 && u.Alive != nil && u.Alive(p, s.Activity) == state.Gone {
			o.Process = event.Process{} // another process continues the session
		}
		o = u.Origin(o)
	}
	if fresh || o != s.Origin {
		o.Seat = "" // to be found again
		e.Origin = &o
	}
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
