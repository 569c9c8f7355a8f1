// Package handler runs what a policy names: a command, a policy server, a
// native http hook or a question to a model. Each takes one event and says
// what it thinks of it.
//
// A handler guarantees: it returns soon after its context ends; no process,
// descriptor or goroutine of its own is left behind then; what it reads is
// bounded; nothing it runs can write to this program's own output; and an
// answer that is not understood is an error, never a decision. It does not
// decide what an error means (the fail mode does) nor whether the event can
// express the decision (the translation does).
//
// Source: issue 8 part 3; MISSION C4, C5, C7, C9, D1 to D4.
package handler

import (
	"context"
	"time"
)

// Call is one event put to one handler.
type Call struct {
	Event string // hook_event_name
	ID    string // event id, stable across retries
	// Payload is the client's whole JSON payload as a handler is to see it,
	// with earlier rewrites applied.
	Payload []byte

	SessionID      string
	PromptID       string
	ToolName       string
	ToolUseID      string
	Cwd            string // where the agent works now
	ProjectDir     string // where the session started
	Dir            string // what commands take for Cwd and ProjectDir; empty for those
	TranscriptPath string

	ToolInput []byte // a raw JSON object, rewrites applied; nil when the event has none
	At        time.Time
	Hops      int // how many policies have handed the question on before
}

// HopsHeader is the header of a question that a policy hands on: how many have
// by then. Two policies that ask each other would not come to an end.
const HopsHeader = "Beckon-Hops"

// Decision is what a handler wants.
type Decision string

// The decisions. Which of them an event can express is the translation's
// affair (CONTRACT 1.11).
const (
	Silence  Decision = ""         // no opinion: the client goes its usual way
	Allow    Decision = "allow"    // no objection; only an opt-in turns it into an approval
	Deny     Decision = "deny"     // the tool call must not happen
	Ask      Decision = "ask"      // the user is to be asked
	Modify   Decision = "modify"   // UpdatedInput replaces the tool input
	Block    Decision = "block"    // what is not a tool call (a prompt, a stop) must not happen
	Continue Decision = "continue" // looked at it, leaves it to the others
)

// Outcome is what a handler said, and how it got there.
type Outcome struct {
	Decision     Decision
	Reason       string
	UpdatedInput []byte // the whole new tool input, a JSON object; nil: unchanged
	Context      string // text for the agent
	System       string // text for the user
	Metadata     map[string]any

	// Raw is the client's own JSON that a command or an http hook gave,
	// validated as one object; the engine passes its other fields through
	// where the contract allows.
	Raw []byte

	Output   string // what it printed or answered, cut, for the trace
	ExitCode int    // of a command; -1 when a signal or this package ended it
	TimedOut bool
	Attempts int // how often it was asked
	Took     time.Duration
	Err      error // the handler did not work: the fail mode decides
}

// Handler is anything that a policy can ask about an event.
type Handler interface {
	// Run puts c to the handler and returns when it has answered or ctx has
	// ended. It is safe for concurrent use.
	Run(ctx context.Context, c Call) Outcome
}
