package state

import "beckon/event"

// State is the one word that sums up a session.
type State string

// The states. Permission, Question and Failed need the user; an unseen Idle does so less
// urgently.
const (
	Permission State = "permission"
	Question   State = "question"
	Failed     State = "failed"
	Idle       State = "idle"
	Working    State = "working"
	Compacting State = "compacting"
	Backburned State = "backburner"
	Unknown    State = "unknown"
	Ended      State = "ended"
	Lost       State = "lost"
)

// States lists all states, those that need the user first. Views sort and count in this order.
var States = [...]State{Permission, Question, Failed, Working, Compacting, Idle, Backburned, Unknown, Ended, Lost}

// NeedsYou reports whether s is a state that waits for the user.
func (s State) NeedsYou() bool { return s == Permission || s == Question || s == Failed }

// Live reports whether a session in state s is still there.
func (s State) Live() bool { return s != Ended && s != Lost }

// AtWork reports whether a session in state s works on its own.
func (s State) AtWork() bool { return s == Working || s == Compacting }

// Asks reports whether a session in state s waits for an answer.
func (s State) Asks() bool { return s == Permission || s == Question }

// InTurn reports whether a session in state s may have a turn to stop.
func (s State) InTurn() bool { return s.Live() && s != Idle && s != Failed }

// Reasons of an idle session.
const (
	Done        = "done"
	Interrupted = "interrupted"
	Fresh       = "started"
)

// Presence says what a reader knows about the agent's process.
type Presence uint8

// The values of Presence. A reader on another host, boot or pid namespace finds Unread.
const (
	Unread Presence = iota
	Alive
	Gone
	Unsure // it ran before this host's last boot, or on another machine of the same name
)

// Known reports whether p says for certain that the process is there or is not.
func (p Presence) Known() bool { return p == Alive || p == Gone }

// Evidence is what a reader saw besides the session's own facts. The zero value means that
// nothing was read; then only hooks count.
type Evidence struct {
	Process    Presence
	Registry   Registry
	Transcript Marker
	Answer     Answer
	Job        Job
	Version    string // of the agent, if its own files name it
	Reviewed   bool   // the agent's own reviewer decides on permissions: nobody is asked
}

// Job is a session that the client runs in the background (`claude --bg`), as its registry
// names it. The zero value means that the session is not one.
type Job struct {
	ID   string // the argument for `claude attach`
	Name string // for people
}

// Answer says what the transcript of a headless run shows about the call returned by
// Session.Asking.
type Answer uint8

// The values of Answer.
const (
	AnswerUnread Answer = iota
	AnswerAwaited
	AnswerGiven
)

// Status is the verdict on a session, and its source.
type Status struct {
	State      State
	Reason     string
	Since      event.Millis
	NeedsYou   bool
	Unseen     bool // a turn ended that the user has not looked at
	Source     Source
	Confidence Confidence
	Rule       string // the rule that decided
	Actor      string // the actor whose call or turn decided, empty for the main conversation
	Asks       string // what the client says it needs, if no call says it
	Call       Call   // the call that decided, zero if there is none
}
