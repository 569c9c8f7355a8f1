package wire

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
)

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
	{Kind: event.Setup, Context: true, System: true, Halt: true},
	{Kind: event.InstructionsLoaded},
	{Kind: event.UserPromptSubmit, Refuse: ByBlock, Context: true, System: true, Halt: true, Terminal: true,
		Extra: []string{"sessionTitle", "suppressOriginalPrompt"}},
	{Kind: event.UserPromptExpansion, Refuse: ByBlock, Context: true, System: true, Halt: true, Terminal: true},
	{Kind: event.MessageDisplay, Never: "it holds back each piece of text until the hook has answered"},
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
	{Kind: event.TaskCreated, Refuse: ByBlock, System: true, Terminal: true},
	{Kind: event.TaskCompleted, Refuse: ByBlock, System: true, Halt: true, Terminal: true},
	{Kind: event.Stop, Refuse: ByBlock, Loops: true, Context: true, System: true, Halt: true, Terminal: true},
	{Kind: event.StopFailure, Terminal: true},
	{Kind: event.TeammateIdle, Refuse: ByExit, System: true, Halt: true, Terminal: true},
	{Kind: event.ConfigChange, Refuse: ByBlock, Terminal: true},
	{Kind: event.CwdChanged, System: true, Terminal: true, Extra: []string{"watchPaths"}},
	{Kind: event.DirectoryAdded, System: true, Terminal: true},
	{Kind: event.FileChanged, System: true, Terminal: true, Extra: []string{"watchPaths"}},
	{Kind: event.WorktreeCreate, Never: "a hook on it takes the place of git's own worktrees"},
	{Kind: event.WorktreeRemove, Never: "a hook on it can keep a worktree from being removed"},
	{Kind: event.PreCompact, Refuse: ByBlock, Terminal: true},
	{Kind: event.PostCompact, Terminal: true},
	{Kind: event.SessionEnd, Terminal: true},
	{Kind: event.Elicitation, Refuse: ByAction, Terminal: true, Extra: []string{"action", "content"}},
	{Kind: event.ElicitationResult, Refuse: ByAction, Terminal: true,
		Extra: []string{"action", "content"}},
	{Kind: event.PreModelSwitch, Refuse: ByPermission, Ask: true, Allow: true, System: true, Terminal: true},
	{Kind: event.PostModelSwitch, Context: true, System: true, Terminal: true},
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

// Older reports whether version a is before b.
func Older(a, b string) bool {
	number := func(part string) int {
		n, _ := strconv.Atoi(part[:len(part)-len(strings.TrimLeft(part, "0123456789"))])
		return n
	}
	byNumber := func(x, y string) int { return number(x) - number(y) }
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), byNumber) < 0
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
