package state

import (
	"cmp"
	"slices"
	"strings"

	"beckon/event"
)

// A seat is the row under which a user knows an agent. Several sessions may share one: after
// /clear, one after the other in a terminal, and a session with those that it started.

// Fronts maps each seat to the index in seen of the session that represents it: the one that needs the user,
// or the one that acted last. Of the sessions of one process only the latest counts.
func Fronts(seen []Seen) map[string]int {
	type client struct {
		seat    string
		process event.Process
	}
	newest := make(map[client]int, len(seen))
	for i := range seen {
		c := client{seen[i].Session.Seat, seen[i].Session.Origin.Process}
		if c.process.Pid == 0 {
			continue
		}
		if j, ok := newest[c]; !ok || rival(&seen[j], &seen[i], false) < 0 {
			newest[c] = i
		}
	}
	fronts := make(map[string]int, len(seen))
	for i := range seen {
		s := &seen[i].Session
		if p := s.Origin.Process; s.Seat == "" || p.Pid != 0 && newest[client{s.Seat, p}] != i {
			continue
		}
		if j, ok := fronts[s.Seat]; !ok || rival(&seen[j], &seen[i], true) < 0 {
			fronts[s.Seat] = i
		}
	}
	return fronts
}

// rival compares two sessions of one seat; the greater one represents it.
func rival(a, b *Seen, needs bool) int {
	return cmp.Or(
		order(a.Listed(), b.Listed()),
		order(a.Session.End.At == 0, b.Session.End.At == 0),
		order(needs && a.Status.NeedsYou, needs && b.Status.NeedsYou),
		cmp.Compare(a.Session.acted(), b.Session.acted()),
		strings.Compare(a.Session.Record(), b.Session.Record()),
	)
}

// order compares booleans: false is less than true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (s *Session) acted() event.Millis { return max(s.Activity, s.Created) }

// standIn is the prefix of ids of sessions that no sender named.
const standIn = "at:"

// StandIn returns an id for the session of an event that names none, made of its terminal or
// directory, or "". The first session there with an id of its own takes over the seat.
func StandIn(e *event.Event) string {
	where := e.Cwd
	if e.Origin != nil && e.Origin.Terminal.ID != "" {
		where = e.Origin.Terminal.ID
	}
	if where == "" {
		return ""
	}
	return standIn + where
}

// StandsIn reports whether StandIn made the id.
func StandsIn(id string) bool { return strings.HasPrefix(id, standIn) }

// Addressee returns the id of the session that e belongs to although e names none, or "": in the terminal
// that e names the agent's session with e's call, or the one that acted last; or the only one in e's
// directory. A session that is over takes late events, but none that begins a turn. host is the terminal's
// host if e does not name one.
func Addressee(sessions []Session, e *event.Event, host string) string {
	var best *Session
	found := 0
	for i := range sessions {
		s := &sessions[i]
		if s.Agent != e.Agent || !s.sitsWhere(e, host) ||
			s.over() && (e.Kind == event.SessionStart || e.Kind == event.UserPromptSubmit) {
			continue
		}
		if !s.over() {
			found++
		}
		if best == nil || s.nearer(best, e) {
			best = s
		}
	}
	if best == nil || found > 1 && (e.Origin == nil || e.Origin.Terminal.ID == "") {
		return ""
	}
	return best.ID
}

// sitsWhere reports whether s is in the terminal that e names, or, if e names none, in e's directory.
func (s *Session) sitsWhere(e *event.Event, host string) bool {
	o := event.Origin{Host: host}
	if e.Origin != nil {
		o.Terminal, o.Host = e.Origin.Terminal, cmp.Or(e.Origin.Host, host)
	}
	switch {
	case s.Origin.Host != o.Host:
		return false
	case o.Terminal.ID != "":
		return s.Origin.Terminal.Is(o.Terminal)
	}
	return e.Cwd != "" && s.Cwd == e.Cwd
}

// nearer reports whether e belongs to s rather than to t.
func (s *Session) nearer(t *Session, e *event.Event) bool {
	return cmp.Or(
		order(!t.over(), !s.over()),
		order(t.has(e), s.has(e)),
		cmp.Compare(t.acted(), s.acted()),
		cmp.Compare(t.ID, s.ID),
	) < 0
}

// over reports whether the session has ended or lost its process.
func (s *Session) over() bool { return s.End.At != 0 || s.Lost.At != 0 }

// has reports whether e belongs to an open call of the session.
func (s *Session) has(e *event.Event) bool {
	return slices.ContainsFunc(s.Actors, func(a Actor) bool {
		switch e.Kind {
		case event.PermissionRequest:
			return a.requested(e) != nil
		case event.PostToolUse, event.PostToolUseFailure, event.PermissionDenied:
			return a.finished(e) != nil
		}
		return false
	})
}
