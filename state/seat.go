package state

import (
	"cmp"
	"slices"
	"strings"

	"beckon/event"
)

// A seat is the row that a user knows an agent by. Several sessions may share
// one: those of one client after /clear, those that ran in a terminal one after
// the other, a session and the ones that it started beside itself.

// Fronts returns the index in seen of the session that stands for each seat. Of
// those that are there it is the one that needs the user, else the one that
// acted last. A client has one session at a time, so an earlier one of the same
// process yields to a later one whatever it was at.
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

// rival compares two sessions of one seat: the one that stands for it is the
// greater.
func rival(a, b *Seen, needs bool) int {
	return cmp.Or(
		order(a.Listed(), b.Listed()),
		order(a.Session.End.At == 0, b.Session.End.At == 0),
		order(needs && a.Status.NeedsYou, needs && b.Status.NeedsYou),
		cmp.Compare(a.Session.acted(), b.Session.acted()),
		strings.Compare(a.Session.Record(), b.Session.Record()),
	)
}

// order puts false before true.
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

// standIn begins the ids of sessions that no sender named.
const standIn = "at:"

// StandIn returns the id of the session that stands for whatever runs in the
// terminal, else the directory, that e names, empty when it names neither. Its
// seat goes to the first session there that has an id of its own.
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

// StandsIn reports whether id is one that StandIn made.
func StandsIn(id string) bool { return strings.HasPrefix(id, standIn) }

// Addressee returns the id of the session that e is about although e names no
// session: one of the same agent in the terminal that e names, and of several the
// one with e's call, else the one that acted last; where e names only a directory,
// the one session there. It is empty when there is none. host is where e's terminal
// is when e does not say.
//
// A session that is over takes events that may come late, but none that begins a
// turn.
func Addressee(sessions []Session, e *event.Event, host string) string {
	var best *Session
	found := 0
	for i := range sessions {
		s := &sessions[i]
		if s.Agent != e.Agent || !s.sitsWhere(e, host) || s.over() && (e.Kind == event.SessionStart || e.Kind == event.UserPromptSubmit) {
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

// sitsWhere reports whether s is in the terminal that e names, else in its
// directory.
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

// nearer reports whether e is about s rather than about t.
func (s *Session) nearer(t *Session, e *event.Event) bool {
	return cmp.Or(order(!t.over(), !s.over()), order(t.has(e), s.has(e)), cmp.Compare(t.acted(), s.acted()), cmp.Compare(t.ID, s.ID)) < 0
}

// over reports whether the session has ended or lost its process.
func (s *Session) over() bool { return s.End.At != 0 || s.Lost.At != 0 }

// has reports whether e is about an open call of the session.
func (s *Session) has(e *event.Event) bool {
	return slices.ContainsFunc(s.Actors, func(a Actor) bool {
		switch e.Kind {
		case event.PermissionRequest:
			return a.requested(e) != nil
		case event.PostToolUse, event.PostToolUseFailure, event.PermissionDenied:
			return a.finished(e) >= 0
		}
		return false
	})
}
