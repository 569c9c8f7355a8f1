package state

import "beckon/event"

// Seen is a session with what a reader knows of it and the verdict.
type Seen struct {
	Session  Session
	Evidence Evidence
	Status   Status
	Meter    event.Meter // model, context and cost, as Session.Metered gives them
}
