package state

import "beckon/event"

// Seen is a session with a reader's evidence and the verdict.
type Seen struct {
	Session  Session
	Evidence Evidence
	Status   Status
	Meter    event.Meter // model, context and cost: see Session.Metered
}

// Listed reports whether views list the session. One known only from a notification or the end
// of a subagent is listed if its process or the client's registry shows it.
func (v *Seen) Listed() bool {
	there := v.Session.reported() || v.Evidence.Process == Alive || v.Evidence.Registry.Status != ""
	return there && v.Session.Removed == 0 && v.Status.State.Live()
}

// reported reports whether an event has shown that the session is there.
func (s *Session) reported() bool {
	for i := range s.Actors {
		if s.Actors[i].Active != 0 {
			return true
		}
	}
	return s.Start.At != 0 || s.Prompt.At != 0 || s.Stop.At != 0 || s.Failure.At != 0 || s.Compact != Span{}
}
