// Package wire is the language between a policy, its handlers, policy servers and the client: an event
// as handlers see it, an answer, which answers each event can express (the contract), and the JSON of
// the client, of other agents (Dialect) and of protocol 1.0.
//
// It guarantees that nothing an event cannot express is written, and that an answer it does
// not understand is an error, never a decision. It reads no files and starts nothing.
package wire

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"beckon/event"
)

// Call is one event for one handler.
type Call struct {
	Event   event.Kind
	ID      string // event id, stable across retries
	Payload []byte // the client's whole JSON, with earlier rewrites applied

	SessionID  string
	ToolName   string
	Cwd        string // where the agent works now
	ProjectDir string // where the session started
	Dir        string // what commands use instead of Cwd and ProjectDir; empty for those

	ToolInput []byte // a raw JSON object, with rewrites applied; nil if the event has none
	At        time.Time
	Hops      int // how many policies have passed the question on
}

// HopsHeader says how many policies have passed a question on: two that ask each other must end.
const HopsHeader = "Beckon-Hops"

// Decision is a handler's decision.
type Decision string

// The decisions. The contract says which of them an event can express.
const (
	Silence  Decision = ""         // no opinion: the client decides
	Allow    Decision = "allow"    // no objection; only an opt-in turns it into an approval
	Warn     Decision = "warn"     // a text for the agent; the call runs
	Ask      Decision = "ask"      // the user must be asked
	Deny     Decision = "deny"     // it must not happen: a tool call, a prompt, a stop
	Modify   Decision = "modify"   // UpdatedInput replaces the tool input
	Continue Decision = "continue" // no opinion after a check; leaves it to the others
)

// Rank orders decisions: the highest of several wins. 0 never wins.
func (d Decision) Rank() int {
	switch d {
	case Deny:
		return 3
	case Ask:
		return 2
	case Allow:
		return 1
	}
	return 0
}

// Outcome is a handler's answer, and how it was obtained. The members with a name in JSON are traced.
type Outcome struct {
	Decision     Decision        `json:"decision,omitempty"`
	Reason       string          `json:"reason,omitempty"`
	UpdatedInput []byte          `json:"-"` // the whole new tool input, a JSON object; nil: unchanged
	Context      string          `json:"-"` // text for the agent
	System       string          `json:"-"` // text for the user
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Raw          []byte          `json:"-"` // the client's own JSON, one object; its other members are passed on, too

	Output   string        `json:"output,omitempty"` // its output or answer, cut
	ExitCode int           `json:"exit,omitempty"`   // of a command; -1 if a signal or this package ended it
	TimedOut bool          `json:"timed_out,omitempty"`
	Attempts int           `json:"attempts,omitempty"` // how often it was asked
	Took     time.Duration `json:"-"`
	Err      error         `json:"-"` // the handler failed: the fail mode decides
}

// maxReason is how many bytes of a reason are kept; the client keeps as many characters.
const maxReason = 10_000

// Reason returns a text in the form that the agent or the user will read.
func Reason(s string) string { return event.Cut(strings.TrimSpace(s), maxReason) }

// Way is how an event is refused.
type Way uint8

// The ways.
const (
	NoWay        Way = iota
	ByPermission     // hookSpecificOutput.permissionDecision deny
	ByRequest        // hookSpecificOutput.decision.behavior deny
	ByBlock          // decision block, reason
	ByExit           // exit code 2, the reason on stderr: the only way for some events
	ByAction         // hookSpecificOutput.action decline
)

// Rules says which answers one event accepts.
type Rules struct {
	Kind     event.Kind
	Tool     bool // a tool event: "if" may be used
	Refuse   Way
	Ask      bool     // the user can be asked instead of a decision
	Allow    bool     // the user's own decision can be skipped
	Rewrite  bool     // the tool input can be replaced
	Context  bool     // text for the agent
	System   bool     // text for the user
	Halt     bool     // continue: false has an effect
	Terminal bool     // terminalSequence has an effect
	Loops    bool     // a refusal makes the agent go on: Stop, SubagentStop
	Extra    []string // members of hookSpecificOutput that are passed on unchanged
	Never    string   // why beckon does not answer the event at all
}

// contract is the table of all events, in the order of event.Kinds.
var contract = [...]Rules{
	{Kind: event.SessionStart, Context: true, System: true, Halt: true, Terminal: true,
		Extra: []string{"initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills"}},
	{Kind: "Setup", Context: true, System: true, Halt: true},
	{Kind: "InstructionsLoaded"},
	{Kind: event.UserPromptSubmit, Refuse: ByBlock, Context: true, System: true, Halt: true, Terminal: true,
		Extra: []string{"sessionTitle", "suppressOriginalPrompt"}},
	{Kind: event.UserPromptExpansion, Refuse: ByBlock, Context: true, System: true, Halt: true, Terminal: true},
	{Kind: "MessageDisplay", Never: "it holds back each piece of text until the hook has answered"},
	{Kind: event.PreToolUse, Tool: true, Refuse: ByPermission, Ask: true, Allow: true, Rewrite: true,
		Context: true, System: true, Halt: true, Terminal: true},
	{Kind: event.PermissionRequest, Tool: true, Refuse: ByRequest, Allow: true, Rewrite: true,
		System: true, Halt: true, Terminal: true},
	{Kind: event.PostToolUse, Tool: true, Refuse: ByBlock, Context: true, System: true, Halt: true, Terminal: true,
		Extra: []string{"classifierContext", "updatedToolOutput", "updatedMCPToolOutput"}},
	{Kind: event.PostToolUseFailure, Tool: true, Refuse: ByBlock, Context: true, System: true, Halt: true, Terminal: true},
	{Kind: event.PostToolBatch, Refuse: ByBlock, Context: true, System: true, Halt: true, Terminal: true},
	{Kind: event.PermissionDenied, Tool: true, System: true, Terminal: true, Extra: []string{"retry"}},
	{Kind: event.Notification, Terminal: true},
	{Kind: event.SubagentStart, Context: true, System: true, Halt: true, Terminal: true},
	{Kind: event.SubagentStop, Refuse: ByBlock, Loops: true, Context: true, System: true, Halt: true, Terminal: true},
	{Kind: "TaskCreated", Refuse: ByBlock, System: true, Terminal: true},
	{Kind: event.TaskCompleted, Refuse: ByBlock, System: true, Halt: true, Terminal: true},
	{Kind: event.Stop, Refuse: ByBlock, Loops: true, Context: true, System: true, Halt: true, Terminal: true},
	{Kind: event.StopFailure, Terminal: true},
	{Kind: event.TeammateIdle, Refuse: ByExit, System: true, Halt: true, Terminal: true},
	{Kind: "ConfigChange", Refuse: ByBlock, Terminal: true},
	{Kind: event.CwdChanged, System: true, Terminal: true, Extra: []string{"watchPaths"}},
	{Kind: "DirectoryAdded", System: true, Terminal: true},
	{Kind: event.FileChanged, System: true, Terminal: true, Extra: []string{"watchPaths"}},
	{Kind: "WorktreeCreate", Never: "a hook on it takes the place of git's own worktrees"},
	{Kind: "WorktreeRemove", Never: "a hook on it can keep a worktree from being removed"},
	{Kind: event.PreCompact, Refuse: ByBlock, Terminal: true},
	{Kind: event.PostCompact, Terminal: true},
	{Kind: event.SessionEnd, Terminal: true},
	{Kind: event.Elicitation, Refuse: ByAction, Terminal: true, Extra: []string{"action", "content"}},
	{Kind: event.ElicitationResult, Refuse: ByAction, Terminal: true,
		Extra: []string{"action", "content"}},
	{Kind: "PreModelSwitch", Refuse: ByPermission, Ask: true, Allow: true, System: true, Terminal: true},
	{Kind: event.PostModelSwitch, Context: true, System: true, Terminal: true},
	{Kind: "PreSkillShellCommand", Refuse: ByPermission},
}

// RulesOf returns the row of k. An event without a row accepts no answer.
func RulesOf(k event.Kind) Rules {
	i := slices.IndexFunc(contract[:], func(r Rules) bool { return r.Kind == k })
	if i < 0 {
		return Rules{Kind: k}
	}
	return contract[i]
}

// Over returns the answers that an event accepts over HTTP, where there is no exit code.
func (r Rules) Over(http bool) Rules {
	if http && r.Refuse == ByExit {
		r.Refuse = NoWay
	}
	return r
}

// Closable reports whether a handler's failure may refuse the event: an agent must be able to stop.
func (r Rules) Closable() bool {
	return r.Refuse != NoWay && !r.Loops && r.Kind != event.TaskCompleted && r.Kind != event.TeammateIdle
}

// Deadlines of one event for all its handlers. The installed entry gives the hook 60 s; at SessionEnd the
// client waits 1.5 s for all hooks together.
const (
	Deadline           = 25 * time.Second
	SessionEndDeadline = 1200 * time.Millisecond
)

// DeadlineOf returns how long events of kind k may take.
func DeadlineOf(k event.Kind) time.Duration {
	if k == event.SessionEnd {
		return SessionEndDeadline
	}
	return Deadline
}
