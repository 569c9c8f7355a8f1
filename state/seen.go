package state

import "beckon/event"

// Seen is a session with what a reader knows of it and the verdict.
type Seen struct {
	Session  Session
	Evidence Evidence
	Status   Status
	Meter    event.Meter // model, context and cost, as Session.Metered gives them
}

// Listed reports whether the session belongs among those that are there. One known
// only from a notification or the end of a subagent counts when its process or the
// client's registry shows it.
func (v *Seen) Listed() bool {
	there := v.Session.heard() || v.Evidence.Process == Alive || v.Evidence.Registry.Status != ""
	return there && v.Session.Removed == 0 && v.Status.State.Live()
}

// HasMod reports whether a live client runs the session, and beckon's mod in it.
func (v *Seen) HasMod() bool { return v.Session.Mod() != "" && v.Evidence.Process == Alive }

// TakesReply reports whether the mod can make a reply the session's next prompt: its
// turn is over, and no dialog is open.
func (v *Seen) TakesReply() bool {
	return v.HasMod() && v.Status.State.Live() && !v.Status.State.AtWork() && (!v.Status.State.Asks() || v.Status.Rule == RuleAsked)
}

// heard reports whether an event has shown that the session is there.
func (s *Session) heard() bool {
	for i := range s.Actors {
		if s.Actors[i].Active != 0 {
			return true
		}
	}
	return s.Start.At != 0 || s.Prompt.At != 0 || s.Stop.At != 0 || s.Failure.At != 0 || s.Compact != Span{}
}
