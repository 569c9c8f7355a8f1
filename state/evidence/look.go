package evidence

import (
	"beckon/event"
	"beckon/state"
)

// Presence is Alive in the words of package state, seen from this machine.
func Presence(p event.Process) state.Presence {
	return presence(p, ThisMachine())
}

func presence(p event.Process, here Machine) state.Presence {
	switch Alive(p, here) {
	case Running:
		return state.Alive
	case Gone:
		return state.Gone
	}
	return state.Unread
}
