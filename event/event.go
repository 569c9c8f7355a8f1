// Package event turns a coding agent's hook payload into one Event.
//
// It guarantees: Parse is total (any bytes give an Event or an error that contains no
// payload text), unknown kinds, fields and enum values are kept by name, and every
// text in an Event is cut to a stated limit on a rune boundary. It reads no file, no clock and
// no environment.
package event

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Millis is a time in Unix milliseconds, UTC, the unit that the client uses. Zero means
// "never" or "unknown".
type Millis int64

// MillisOf returns t in milliseconds.
func MillisOf(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Time returns the time, in UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// Limits on what an Event stores, in bytes; longer text is cut on a rune boundary. They bound
// the session file (64 KiB).
const (
	MaxID      = 256  // ids, names, enum values
	MaxPath    = 1024 // file-system paths
	MaxPrompt  = 512  // a prompt's head
	MaxMessage = 2048 // a final message's tail: the tail says what is wanted
	MaxSummary = 160  // a tool call in one line
	MaxText    = 512  // notification texts, error details
	MaxTasks   = 32   // background tasks stored of one snapshot
)

// Event is one hook firing, reduced to what state needs. It is the body of a line of history, so
// it has every field that state.Apply reads. A zero field means "absent from the payload".
type Event struct {
	Agent string `json:"agent,omitempty"` // "claude-code", "codex", ...
	Kind  Kind   `json:"kind,omitempty"`  // its meaning; Unknown if the name is not in the table
	Name  string `json:"name,omitempty"`  // the agent's own name of the event
	Says  string `json:"says,omitempty"`  // its meaning beyond the kind: a constant of package agents
	At    Millis `json:"at,omitempty"`    // when the hook process started
	Via   string `json:"via,omitempty"`   // which entry started the hook: "plugin", or a name for one of the settings

	SessionID      string `json:"session_id,omitempty"`
	PromptID       string `json:"prompt_id,omitempty"`
	TranscriptPath string `json:"transcript,omitempty"`
	Cwd            string `json:"cwd,omitempty"`
	PermissionMode string `json:"mode,omitempty"`
	Model          string `json:"model,omitempty"`
	Title          string `json:"title,omitempty"` // the name that the user gave the session

	// AgentID names the subagent; empty for the main conversation.
	AgentID   string `json:"agent_id,omitempty"`
	AgentType string `json:"agent_type,omitempty"`

	Source  string `json:"source,omitempty"`  // SessionStart.source, PreCompact.trigger, PostModelSwitch.source
	Code    string `json:"code,omitempty"`    // by which the user can allow the call of a PermissionDenied once
	Reason  string `json:"reason,omitempty"`  // of an end, a failure, a refusal; the action of an ElicitationResult
	Details string `json:"details,omitempty"` // StopFailure.error_details, PostToolUseFailure.error (first line)

	Prompt        string `json:"prompt,omitempty"`         // UserPromptSubmit.prompt, its head
	FromClient    bool   `json:"from_client,omitempty"`    // the client wrote this prompt itself
	Message       string `json:"message,omitempty"`        // the end of the last message, or the head of a notification's
	Notification  string `json:"notification,omitempty"`   // notification_type
	HasBackground bool   `json:"has_background,omitempty"` // Background is a snapshot, maybe empty
	Background    []Task `json:"background,omitempty"`
	Crons         int    `json:"crons,omitempty"` // entries of session_crons

	Tool Tool `json:"tool,omitzero"`
	Ask  *Ask `json:"ask,omitempty"` // what the call asks of the user; nil when nothing
	// Answer is what the user chose: the answers of a finished AskUserQuestion in one line, at
	// most MaxQuestion bytes.
	Answer string `json:"answer,omitempty"`
	// Meaning is the meaning of the whole Message. It is set only if Message is cut or
	// changed.
	Meaning *Meaning `json:"meaning,omitempty"`

	// Meter is what the status line had reported by a Stop; nil if nothing. It is read from
	// its file, not from the payload.
	Meter *Meter `json:"meter,omitempty"`

	// Origin says where the hook ran. The hook reads it on SessionStart, for an unknown
	// session and when cwd changed; else nil.
	Origin *Origin `json:"origin,omitempty"`
}

// Meaning is package intent's verdict on a final message.
type Meaning struct {
	Intent     string `json:"intent,omitempty"`
	Rule       string `json:"rule,omitempty"`
	Confidence int    `json:"confidence,omitempty"` // percent
	Question   string `json:"question,omitempty"`   // the sentence that asks, at most MaxQuestion bytes
}

// Tool is one tool call, as PreToolUse and its followers describe it. For an Elicitation and
// its result, Name is the MCP server and UseID the form's id.
type Tool struct {
	Name    string `json:"name,omitempty"`
	UseID   string `json:"id,omitempty"`      // empty on PermissionRequest
	Hash    string `json:"hash,omitempty"`    // of the input, 16 hex digits: pairs a PermissionRequest with its call
	Summary string `json:"summary,omitempty"` // one line for people: "Bash: npm test"
	Ms      int64  `json:"ms,omitempty"`      // duration_ms of a finished call
}

// Task is one entry of a Stop's background_tasks snapshot.
type Task struct {
	ID          string `json:"id,omitempty"`
	Type        string `json:"type,omitempty"`
	Status      string `json:"status,omitempty"`
	Description string `json:"description,omitempty"`
}

// Cut returns the head of s that fits in max bytes, ending on a rune boundary.
func Cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return strings.Clone(s[:max])
}

// CutTail returns the tail of s that fits in max bytes, starting on a rune
// boundary.
func CutTail(s string, max int) string {
	if len(s) <= max {
		return s
	}
	start := len(s) - max
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return strings.Clone(s[start:])
}

// Bounded keeps the first Max bytes that are written to it and discards the rest. It has no
// ReadFrom, which io.Copy would prefer to Write.
type Bounded struct {
	Max  int
	Kept []byte
	Cut  bool // there was more
}

// Write never fails.
func (b *Bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.Max-len(b.Kept))
	b.Kept = append(b.Kept, p[:n]...)
	b.Cut = b.Cut || n < len(p)
	return len(p), nil
}
