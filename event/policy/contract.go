package policy

import (
	"slices"
	"strconv"
	"strings"

	"beckon/event"
)

// refusal is how an event is told no (CONTRACT 1.10).
type refusal uint8

const (
	noRefusal      refusal = iota
	byPermission           // hookSpecificOutput.permissionDecision deny
	byRequest              // hookSpecificOutput.decision.behavior deny
	byBlock                // decision block, reason
	byExit                 // exit code 2, the reason on stderr: the contract has no other way
	byAction               // hookSpecificOutput.action decline
	numberRefusals         // of the constants above
)

// rules says what one event lets a hook say: a row of CONTRACT 1.11. A "" in
// a since field is "ever since the event is there".
type rules struct {
	kind   event.Kind
	tool   bool // a tool event: "if" may stand there
	refuse refusal
	// refuseSince is the first client version that heeds it.
	refuseSince  string
	ask          bool // the user can be asked in place of a decision
	allow        bool // the user's own decision can be skipped
	rewrite      bool // the tool input can be replaced
	context      bool // text for the agent
	contextSince string
	system       bool // text for the user
	halt         bool // continue: false is heeded
	terminal     bool // terminalSequence is heeded
	loops        bool // a refusal makes the agent go on: Stop, SubagentStop
	extra        []extra
	// never says why beckon does not answer the event at all.
	never string
}

// extra is a member of hookSpecificOutput that goes through as a handler gave
// it.
type extra struct {
	name, since string
	only        string // the word that its value must be, if it must be one
}

var (
	sessionTitle = extra{"sessionTitle", "2.1.94", ""}
	watchPaths   = extra{"watchPaths", "2.1.83", ""}
)

// contract is the table of all events, in CONTRACT.md's order.
var contract = [...]rules{
	{kind: event.SessionStart, context: true, system: true, halt: true, terminal: true,
		extra: []extra{{"initialUserMessage", "", ""}, sessionTitle, watchPaths, {"reloadSkills", "2.1.152", ""}}},
	{kind: event.Setup, context: true, system: true, halt: true},
	{kind: event.InstructionsLoaded},
	{kind: event.UserPromptSubmit, refuse: byBlock, context: true, system: true, halt: true, terminal: true,
		extra: []extra{sessionTitle, {"suppressOriginalPrompt", "", ""}}},
	{kind: event.UserPromptExpansion, refuse: byBlock, context: true, system: true, halt: true, terminal: true},
	{kind: event.MessageDisplay, never: "it holds back each piece of text until the hook has answered"},
	{kind: event.PreToolUse, tool: true, refuse: byPermission, ask: true, allow: true, rewrite: true,
		context: true, contextSince: "2.1.9", system: true, halt: true, terminal: true},
	{kind: event.PermissionRequest, tool: true, refuse: byRequest, allow: true, rewrite: true, system: true, halt: true, terminal: true},
	{kind: event.PostToolUse, tool: true, refuse: byBlock, context: true, system: true, halt: true, terminal: true,
		extra: []extra{{"classifierContext", "2.1.236", ""}, {"updatedToolOutput", "2.1.121", ""}, {"updatedMCPToolOutput", "", ""}}},
	{kind: event.PostToolUseFailure, tool: true, refuse: byBlock, context: true, system: true, halt: true, terminal: true},
	{kind: event.PostToolBatch, refuse: byBlock, context: true, system: true, halt: true, terminal: true},
	{kind: event.PermissionDenied, tool: true, system: true, terminal: true, extra: []extra{{"retry", "", "true"}}},
	{kind: event.Notification, terminal: true},
	{kind: event.SubagentStart, context: true, system: true, halt: true, terminal: true},
	{kind: event.SubagentStop, refuse: byBlock, loops: true, context: true, contextSince: "2.1.163", system: true, halt: true, terminal: true},
	{kind: event.TaskCreated, refuse: byBlock, system: true, terminal: true},
	{kind: event.TaskCompleted, refuse: byBlock, system: true, halt: true, terminal: true},
	{kind: event.Stop, refuse: byBlock, loops: true, context: true, contextSince: "2.1.163", system: true, halt: true, terminal: true},
	{kind: event.StopFailure, terminal: true},
	{kind: event.TeammateIdle, refuse: byExit, system: true, halt: true, terminal: true},
	{kind: event.ConfigChange, refuse: byBlock, terminal: true},
	{kind: event.CwdChanged, system: true, terminal: true, extra: []extra{watchPaths}},
	{kind: event.DirectoryAdded, system: true, terminal: true},
	{kind: event.FileChanged, system: true, terminal: true, extra: []extra{watchPaths}},
	{kind: event.WorktreeCreate, never: "a hook on it takes the place of git's own worktrees"},
	{kind: event.WorktreeRemove, never: "a hook on it can keep a worktree from being removed"},
	{kind: event.PreCompact, refuse: byBlock, refuseSince: "2.1.105", terminal: true},
	{kind: event.PostCompact, terminal: true},
	{kind: event.SessionEnd, terminal: true},
	{kind: event.Elicitation, refuse: byAction, terminal: true, extra: []extra{{"action", "", ""}, {"content", "", ""}}},
	{kind: event.ElicitationResult, refuse: byAction, terminal: true, extra: []extra{{"action", "", ""}, {"content", "", ""}}},
	{kind: event.PreModelSwitch, refuse: byPermission, ask: true, allow: true, system: true, terminal: true},
	{kind: event.PostModelSwitch, context: true, system: true, terminal: true},
}

// rulesOf returns the row of k. An event that the table does not have can be
// told nothing.
func rulesOf(k event.Kind) rules {
	i := slices.IndexFunc(contract[:], func(r rules) bool { return r.kind == k })
	if i < 0 {
		return rules{kind: k}
	}
	return contract[i]
}

// heard is the row as a client of that version heeds it; over HTTP it is given
// no exit code.
func (r rules) heard(version string, http bool) rules {
	if !has(version, r.refuseSince) || http && r.refuse == byExit {
		r.refuse = noRefusal
	}
	r.context = r.context && has(version, r.contextSince)
	r.terminal = r.terminal && has(version, terminalSince)
	return r
}

// terminalSince is the first client version with terminalSequence.
const terminalSince = "2.1.141"

// has reports whether the client version knows what came with since. An
// unknown version counts as new: the versions that lack something are old.
func has(version, since string) bool {
	return version == "" || since == "" || !older(version, since)
}

// older reports whether version a is before b.
func older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		if p, q := part(x, i), part(y, i); p != q {
			return p < q
		}
	}
	return false
}

func part(words []string, i int) int {
	if i >= len(words) {
		return 0
	}
	digits := words[i]
	if j := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); j >= 0 {
		digits = digits[:j]
	}
	n, _ := strconv.Atoi(digits)
	return n
}
