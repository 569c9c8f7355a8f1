package store

import (
	"beckon/event"
	"beckon/state"
)

// A user may run one session in two terminals at once (claude --continue, --resume): both
// clients send its id. The first process has the session's own record. Any other has a
// separate record, with its own file, lock and meter, so that the end, the death or
// the Esc of one does not affect the other. A process that resumes the session after the
// previous one is gone continues its record.

// PartOf returns the name of the part of a session that belongs to process p, or "" if too
// little is known about p.
func PartOf(p event.Process) string {
	id := processID(p)
	return id[:min(len(id), partLen)]
}

// RecordOf returns the record (state.Session.Record) of session id that belongs to the
// caller's client. other and alive are as in Update.
func (st *Store) RecordOf(
	id string,
	other func(event.Process) event.Process,
	alive func(event.Process, event.Millis) state.Presence,
) string {
	k := KeyOf(id)
	s, err := st.Load(k)
	if err != nil || s.Origin.Process.Pid == 0 {
		return id
	}
	_, part, _ := cutPart(string(st.ownerOf(k, &s, other(s.Origin.Process), true, alive)))
	return state.Record(id, part)
}

// owner returns the key of the record that u belongs to. s is the session's own record, and k
// its key.
func (st *Store) owner(k Key, s *state.Session, u *Update) Key {
	e := u.Change.Event
	if u.Other == nil || s.Origin.Process.Pid == 0 {
		return k
	}
	p := u.Other(s.Origin.Process)
	begins := e != nil && e.Kind == event.SessionStart && e.Source != "compact"
	own := st.ownerOf(k, s, p, begins, u.Alive)
	if own == k && PartOf(p) != "" && e != nil && e.Origin == nil && u.Origin != nil {
		e.Origin = u.Origin() // the session continues in p
	}
	return own
}

// ownerOf returns the key of the record of process p; p is the zero Process if it is that of
// s. A process that begins the session takes over s unless the other process is known to run.
// For a process on another machine that is never known, and a session that moved here with its
// files is one row, not two.
func (st *Store) ownerOf(
	k Key,
	s *state.Session,
	p event.Process,
	begins bool,
	alive func(event.Process, event.Millis) state.Presence,
) Key {
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
	case exists(st.session(own)), exists(st.archived(own)), exists(st.latePath(own, "")):
		return own
	case begins && (s.End.At != 0 || is != state.Alive):
		return k
	case s.End.At == 0 && (s.Lost.At != 0 || is == state.Gone):
		return k // the start of p was missed
	}
	return own
}
