// Package wire is what a policy, its handlers, policy servers and the client
// say to each other: an event as handlers see it, what a handler wants of it,
// which of that each event can express (the contract), and the JSON of the
// client and of protocol 1.0. Another agent's events are put into the client's
// words, and what is decided into the agent's (Dialect).
//
// It guarantees that nothing an event cannot express is written, and that an
// answer that is not understood is an error, never a decision. It reads no
// files and starts nothing.
package wire

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"beckon/event"

	"github.com/tidwall/gjson"
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

// Readings are c under each name that its tool may have: more than one where the
// agent's own name does not tell the server from the tool.
func (c Call) Readings() []Call {
	names := gjson.GetBytes(c.Payload, ToolNames).Array()
	old := gjson.GetBytes(c.Payload, "tool_name")
	list := make([]Call, 1, 1+len(names))
	list[0] = c
	for _, name := range names {
		if name.Str == c.ToolName || old.Index == 0 {
			continue
		}
		r := c
		r.ID += "-" + strconv.Itoa(len(list)) // another question
		r.ToolName, r.Payload = name.Str, splice(c.Payload, old, must(name.Str))
		list = append(list, r)
	}
	return list
}

// Headers of a question that a policy hands on.
const (
	// HopsHeader tells how many policies have handed it on by then. Two that ask
	// each other would not come to an end.
	HopsHeader = "Beckon-Hops"
	// AcceptHeader names the decisions beyond protocol 1.0 that the asker
	// understands: AcceptAsk, or nothing.
	AcceptHeader = "Beckon-Accept"
	AcceptAsk    = "ask"
)

// Decision is what a handler wants.
type Decision string

// The decisions. Which of them an event can express is the contract's affair.
const (
	Silence  Decision = ""         // no opinion: the client goes its usual way
	Allow    Decision = "allow"    // no objection; only an opt-in turns it into an approval
	Warn     Decision = "warn"     // a text for the agent; the call runs
	Ask      Decision = "ask"      // the user is to be asked
	Deny     Decision = "deny"     // the tool call must not happen
	Modify   Decision = "modify"   // UpdatedInput replaces the tool input
	Block    Decision = "block"    // what is not a tool call (a prompt, a stop) must not happen
	Continue Decision = "continue" // looked at it, leaves it to the others
)

// Rank orders decisions: of several the highest wins. 0 has no say.
func (d Decision) Rank() int {
	switch d {
	case Deny, Block:
		return 3
	case Ask:
		return 2
	case Allow:
		return 1
	}
	return 0
}

// Refuses reports whether d says no.
func (d Decision) Refuses() bool { return d == Deny || d == Block }

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

// Refusal is what "no" means for an event: a tool call is denied, everything
// else is blocked.
func Refusal(event string) Decision {
	if event == "PreToolUse" || event == "PermissionRequest" {
		return Deny
	}
	return Block
}

// maxReason is how many bytes of a reason are kept; the client keeps as many
// characters of such texts.
const maxReason = 10_000

// Reason is a text as the agent or the user will read it.
func Reason(s string) string { return Cut(strings.TrimSpace(s), maxReason) }

// Printable is a text for a message: one line, no control characters, at most
// limit bytes.
func Printable(s string, limit int) string {
	return Cut(strings.TrimSpace(strings.Map(func(r rune) rune {
		if event.Unsafe(r) {
			return ' '
		}
		return r
	}, s)), limit)
}

// Cut is the longest start of s that has at most limit bytes and ends between
// two characters.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
