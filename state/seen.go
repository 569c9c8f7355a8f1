package state

// Seen is a session with what a reader knows of it and the verdict.
type Seen struct {
	Session  Session
	Evidence Evidence
	Status   Status
}
