package event

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"beckon/event/agents"

	"github.com/tidwall/gjson"
)

// ClaudeCode is the agent whose names this package uses; every other agent's table
// maps onto them.
const ClaudeCode = "claude-code"

// AgentOf returns the agent of that name ("" is Claude Code), ignoring letter case and the
// separators "-" and "_"; nil for one without a table.
func AgentOf(name string) *agents.Agent {
	if name == "" {
		return agents.Known[0]
	}
	same := func(other string) bool { return SameName(other, name) }
	for _, a := range agents.Known {
		if same(a.Name) || slices.ContainsFunc(a.Aliases, same) {
			return a
		}
	}
	return nil
}

// Agent returns the canonical form of an agent's name: its table's, or the name
// itself if it has no table.
func Agent(name string) string {
	if a := AgentOf(name); a != nil {
		return a.Name
	}
	return Cut(strings.ToValidUTF8(name, "\ufffd"), MaxID)
}

// wordsOf returns the table by which an agent's payloads are read: Claude Code's for an agent
// without one.
func wordsOf(agent string) *agents.Agent { return cmp.Or(AgentOf(agent), agents.Known[0]) }

// Agents returns the agents that have a table, Claude Code first. Callers must not change the
// list or what it points to.
func Agents() []*agents.Agent { return agents.Known[:] }

// means returns the kind of a's event of that name, and what it says beyond its kind.
func means(a *agents.Agent, name string, payload gjson.Result) (k Kind, says string) {
	for i := range a.Events {
		e := &a.Events[i]
		if e.Name == name && (e.Where == "" || payload.Get(e.Where).String() == e.Is) {
			return Kind(e.Means), e.Says
		}
	}
	return ByName(name), ""
}

// KindOf returns the kind of the agent's event of that name, with a payload without members.
func KindOf(agent, name string) Kind {
	k, _ := means(wordsOf(agent), name, gjson.Result{})
	return k
}

// Kind is what an event means, named as Claude Code names it. The tables in agents.go map
// other agents' events onto these kinds.
type Kind string

// The kinds with a meaning of their own here, of those in CONTRACT.md 11.
const (
	Unknown             Kind = ""
	SessionStart        Kind = "SessionStart"
	UserPromptSubmit    Kind = "UserPromptSubmit"
	UserPromptExpansion Kind = "UserPromptExpansion"
	PreToolUse          Kind = "PreToolUse"
	PermissionRequest   Kind = "PermissionRequest"
	PostToolUse         Kind = "PostToolUse"
	PostToolUseFailure  Kind = "PostToolUseFailure"
	PostToolBatch       Kind = "PostToolBatch"
	PermissionDenied    Kind = "PermissionDenied"
	Notification        Kind = "Notification"
	SubagentStart       Kind = "SubagentStart"
	SubagentStop        Kind = "SubagentStop"
	TaskCompleted       Kind = "TaskCompleted"
	Stop                Kind = "Stop"
	StopFailure         Kind = "StopFailure"
	TeammateIdle        Kind = "TeammateIdle"
	CwdChanged          Kind = "CwdChanged"
	FileChanged         Kind = "FileChanged"
	PreCompact          Kind = "PreCompact"
	PostCompact         Kind = "PostCompact"
	SessionEnd          Kind = "SessionEnd"
	Elicitation         Kind = "Elicitation"
	ElicitationResult   Kind = "ElicitationResult"
	PostModelSwitch     Kind = "PostModelSwitch"
)

// Register says whether the installer may register a kind's hook.
type Register uint8

// Registration classes. An event that the client does not know makes it open a warning dialog at start.
const (
	Never Register = iota // delays or replaces the client's own work: WorktreeCreate, WorktreeRemove, MessageDisplay
	Core                  // what the states need
	All                   // only with --events all
)

// Info is one row of the kind table.
type Info struct {
	Kind     Kind
	Since    string // first client version that knows it
	Register Register
	Matcher  string // payload field that the client matches on, empty if none
	// Activity: the event shows that the agent, not only the client around it, did something.
	// Registry readings are compared with the newest activity.
	Activity bool
}

// Kinds is the table of all kinds this version knows, in the order of CONTRACT.md 11.
var Kinds = [...]Info{
	{SessionStart, "1.0.62", Core, "source", true},
	{"Setup", "2.1.10", All, "trigger", false},
	{"InstructionsLoaded", "2.1.69", All, "load_reason", false},
	{UserPromptSubmit, "1.0.54", Core, "", true},
	{UserPromptExpansion, "2.1.101", All, "command_name", false},
	{"MessageDisplay", "2.1.152", Never, "", false},
	{PreToolUse, "1.0.38", Core, "tool_name", true},
	{PermissionRequest, "2.0.45", Core, "tool_name", true},
	{PostToolUse, "1.0.38", Core, "tool_name", true},
	{PostToolUseFailure, "2.1.0", Core, "tool_name", true},
	{PostToolBatch, "2.1.118", All, "", true},
	{PermissionDenied, "2.1.89", Core, "tool_name", true},
	{Notification, "1.0.38", Core, "notification_type", false},
	{SubagentStart, "2.0.43", Core, "agent_type", true},
	{SubagentStop, "1.0.41", Core, "agent_type", true},
	{"TaskCreated", "2.1.84", Core, "", false},
	{TaskCompleted, "2.1.33", Core, "", false},
	{Stop, "1.0.38", Core, "", true},
	{StopFailure, "2.1.78", Core, "error", true},
	{TeammateIdle, "2.1.33", All, "", false},
	{"ConfigChange", "2.1.49", All, "source", false},
	{CwdChanged, "2.1.83", Core, "", false},
	{"DirectoryAdded", "2.1.219", All, "source", false},
	{FileChanged, "2.1.83", All, "file_path", false},
	{"WorktreeCreate", "2.1.50", Never, "", false},
	{"WorktreeRemove", "2.1.50", Never, "", false},
	{PreCompact, "1.0.48", Core, "trigger", true},
	{PostCompact, "2.1.76", Core, "trigger", true},
	{SessionEnd, "1.0.85", Core, "reason", true},
	{Elicitation, "2.1.76", Core, "mcp_server_name", true},
	{ElicitationResult, "2.1.76", Core, "mcp_server_name", true},
	{"PreModelSwitch", "2.1.251", All, "to_model", false},
	{PostModelSwitch, "2.1.251", All, "to_model", false},
	{"PreSkillShellCommand", "2.1.332", All, "tool_name", false},
}

// Lookup returns the row of k and reports whether the table has one.
func Lookup(k Kind) (Info, bool) {
	i := slices.IndexFunc(Kinds[:], func(row Info) bool { return row.Kind == k })
	if i < 0 {
		return Info{}, false
	}
	return Kinds[i], true
}

// Activity reports whether an event of kind k shows the agent itself at work or being
// answered, not only metadata about it.
func (k Kind) Activity() bool {
	i, _ := Lookup(k)
	return i.Activity
}

// ByName returns the kind called name, ignoring letter case and the separators "-" and "_"
// ("pre-tool-use" is PreToolUse), or Unknown.
func ByName(name string) Kind {
	for i := range Kinds {
		if SameName(string(Kinds[i].Kind), name) {
			return Kinds[i].Kind
		}
	}
	return Unknown
}

// SameName compares names, ignoring letter case and the separators "-" and "_".
func SameName(a, b string) bool { return strings.EqualFold(plain.Replace(a), plain.Replace(b)) }

var plain = strings.NewReplacer("-", "", "_", "")

// Older reports whether version a is before b.
func Older(a, b string) bool {
	number := func(part string) int {
		n, _ := strconv.Atoi(part[:len(part)-len(strings.TrimLeft(part, "0123456789"))])
		return n
	}
	byNumber := func(x, y string) int { return number(x) - number(y) }
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), byNumber) < 0
}
