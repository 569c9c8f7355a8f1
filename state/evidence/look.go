package evidence

import (
	"beckon/event"
	"beckon/state"
)

// Presence is Alive in the words of package state, seen from this machine.
func Presence(p event.Process, heard event.Millis) state.Presence {
	return presence(p, heard, ThisMachine())
}

func presence(p event.Process, heard event.Millis, here Machine) state.Presence {
	switch Alive(p, heard, here) {
	case Running:
		return state.Alive
	case Gone:
		return state.Gone
	case Unsure:
		return state.Unsure
	}
	return state.Unread
}
