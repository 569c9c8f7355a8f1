package state

import "beckon/event"

// Change is one thing that happened to a session. Exactly one of Event, Observation, Action and Turn is set.
type Change struct {
	Seq int64        // its number in the session
	At  event.Millis // when it happened

	Event       *event.Event
	Observation *Observed
	Action      *Action
	Turn        *Turn
}

// Confidence says how reliable a source is.
type Confidence string

// The confidences, and their sources.
const (
	High   Confidence = "high"   // hook, mod, registry, process
	Medium Confidence = "medium" // transcript
	Low    Confidence = "low"    // inferred
)

// Source says where a fact comes from.
type Source string

// The sources of facts.
const (
	FromHook       Source = "hook"
	FromRegistry   Source = "registry"
	FromProcess    Source = "process"
	FromTranscript Source = "transcript"
	FromMod        Source = "mod" // beckon's module inside the client
	FromUser       Source = "user"
	Inferred       Source = "inferred"
)

// Confidence returns how reliable s is.
func (s Source) Confidence() Confidence {
	switch s {
	case FromTranscript:
		return Medium
	case Inferred:
		return Low
	}
	return High
}

// Seeing is a kind of observation.
type Seeing string

// What a reader can see but no hook reports.
const (
	SawHalt     Seeing = "halt"     // Esc, or a refusal: nothing runs and nothing waits
	SawApproved Seeing = "approved" // the open dialogs were answered, the calls run
	SawWaiting  Seeing = "waiting"  // a dialog that counted as answered is open
	SawGone     Seeing = "gone"     // the process is no more
	SawAlive    Seeing = "alive"    // a process that counted as gone is there
	SawNothing  Seeing = "nothing"  // the transcript has no final message of the newest turn
	SawFailed   Seeing = "failed"   // an API error ended the turn
	SawGoesOn   Seeing = "goes on"  // one of the user's own hooks blocked the Stop
	SawLoaded   Seeing = "loaded"   // the mod runs in the client; Detail is its version
)

// Observed is something a reader saw, and when it happened if the source says so.
type Observed struct {
	Source Source       `json:"source,omitempty"`
	What   Seeing       `json:"what,omitempty"`
	At     event.Millis `json:"at,omitempty"`
	Detail string       `json:"detail,omitempty"`
}

// ActionKind is what the user did to a session through beckon.
type ActionKind string

// What a user can do to a session.
const (
	ActSeen          ActionKind = "seen"
	ActBackburner    ActionKind = "backburner"
	ActBackburnerOff ActionKind = "unburner"
	ActRemove        ActionKind = "remove"
	ActLabel         ActionKind = "label"
	ActUndo          ActionKind = "undo"    // takes back the newest of those before but label, if it still holds
	ActDecided       ActionKind = "decided" // a policy, or the user from elsewhere, answered an event
)

// Action is something the user did to the session through beckon.
type Action struct {
	Kind    ActionKind   `json:"kind,omitempty"`
	Until   event.Millis `json:"until,omitempty"`   // of backburner: when it ends by itself
	Label   string       `json:"label,omitempty"`   // of label: the words; none takes it off
	Decided *Decided     `json:"decided,omitempty"` // of decided: the answer, and its event
}

// Decided is the answer to an event that a policy, or the user through beckon, gave. The client
// raises no event for its effect, so the answer itself is the fact.
type Decided struct {
	Event   event.Kind   `json:"event,omitempty"`
	Of      event.Millis `json:"of,omitempty"`   // time of the event
	Word    string       `json:"word,omitempty"` // one of the Word... constants
	AgentID string       `json:"agent_id,omitempty"`
	UseID   string       `json:"id,omitempty"` // tool_use_id, or id of the form
	Tool    string       `json:"tool,omitempty"`
	Hash    string       `json:"hash,omitempty"`    // of the event's input
	NewHash string       `json:"new,omitempty"`     // of the new input, if rewritten
	Summary string       `json:"summary,omitempty"` // of the new call, if rewritten

	// Set if a person answered: who, where, and after how long.
	By     string       `json:"by,omitempty"`
	From   string       `json:"from,omitempty"`
	Waited event.Millis `json:"waited_ms,omitempty"`
	Text   string       `json:"text,omitempty"` // what the user replied
}

// The answers that are facts about the session.
const (
	WordRefused   = "refused"   // it does not happen
	WordAllowed   = "allowed"   // the user is not asked
	WordRewritten = "rewritten" // the call runs with another input
	WordHalted    = "halted"    // the agent stops working
	WordGoesOn    = "goes on"   // the agent does not stop
	WordReplied   = "replied"   // the user wrote to a session whose turn was over
)
