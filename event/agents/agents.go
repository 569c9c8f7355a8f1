// Package agents holds the names that coding agents' hooks use, as tables by which
// package event reads payloads. Each agent has a file with its table, and a place in
// Known; gemini.go is the example to start from.
//
// The hook links every table: they are literals without calls, so that they lie
// in the binary's data and cost nothing at start.
package agents

import (
	"path/filepath"
	"slices"
	"strings"
)

// Agent describes one coding agent. Anything that its rows do not name is read as Claude
// Code's.
type Agent struct {
	Name     string
	Aliases  []string
	Measured string // the version that these names were measured with; empty: from its documentation only
	Events   []Event
	Fields   []Member
	Dialog   string // the type of the notification sent when a dialog opens, which is read as Shown
	// Forms are the tools, other than Claude Code's, whose call is a question to the user.
	Forms []string

	Package  string // its npm package, which identifies its process where it is a script
	ShellVar string // a variable that is set in its shells

	// HomeVar and Home name the agent's own directory: by an environment variable, else below
	// the user's home.
	HomeVar, Home string
	// Daemon is a file in that directory with the id of a background process that runs the
	// hooks of several terminals: such a hook has the terminal of whoever started that
	// process. Empty if there is no such process.
	Daemon string
	// Install says where its hooks are registered.
	Install Install

	// Tools are the agent's tools in Claude Code's names, which the rules of a
	// policy go by. A tool without a row keeps its name, or is one of the constant Tools.
	Tools []Called
	// Joint separates a server from its tool in the name of a tool without a row. Either name
	// may contain it too, so such a name is read in every way. Empty if names are unambiguous.
	Joint string
	// Answers are the events at which it accepts a hook's answer, and the answers that it
	// understands. An agent without any gets no answers.
	Answers []Answer
}

// Called maps an agent's tool to Claude Code's.
type Called struct {
	Name, Means string
	// Inputs are pairs: the name of a member of its input, and Claude Code's name or Workdir.
	Inputs []string
	// Patch is the member of its input that is a patch: the tool writes the files that the
	// patch names. Empty for a tool without a patch.
	Patch string
	// Files is the member that lists what the call changes, where it may be several.
	Files string
	// Types marks a tool that types into a running program: its input may or may not be a
	// command, so it can be refused like a command and is never approved.
	Types bool
}

// Tools are tools of Claude Code that other agents have in other letters: web_search.
const Tools = "Agent AskUserQuestion Bash Edit EnterPlanMode ExitPlanMode Glob Grep LS Monitor MultiEdit " +
	"NotebookEdit PowerShell Read Skill TodoWrite ToolSearch WebFetch WebSearch Write"

// Workdir, as the meaning of an input, is the directory in which the call is made.
const Workdir = "/cwd"

// Answer describes the answers that an agent accepts at one of its events.
type Answer struct {
	Means string // Claude Code's name of the event, which policies use
	Says  []Say
	// Waits marks an event whose hook may wait for an answer of the user: its dialog is open
	// meanwhile, and can be answered there as well.
	Waits bool
}

// Say is one member of an answer.
type Say struct {
	When When
	Path string // keys joined by dots
	// Value is JSON, or Text for the text itself.
	Value string
	// Reason is the path of the text, if it is separate from Value.
	Reason string
}

// Text stands for the text itself: a reason, a context, the new input.
const Text = "$"

const out = "hookSpecificOutput."

// Says of answers that several agents accept.
var (
	BlockSays = []Say{
		{When: Deny, Path: "decision", Value: `"block"`, Reason: "reason"},
		{When: Context, Path: out + "additionalContext", Value: Text},
	}
	DecisionSays = []Say{
		{When: Deny, Path: out + "decision.behavior", Value: `"deny"`, Reason: out + "decision.message"},
		{When: Allow, Path: out + "decision.behavior", Value: `"allow"`},
		{When: Rewrite, Path: out + "decision.updatedInput", Value: Text},
	}
	// In the format of beckon's own plugins.
	pluginBefore = []Say{{When: Deny, Path: "deny", Value: Text}, {When: Rewrite, Path: "args", Value: Text}}
	pluginAfter  = []Say{{When: Deny, Path: "context", Value: Text}, {When: Context, Path: "context", Value: Text}}
)

// When says which part of an answer a member belongs to.
type When uint8

// The parts of an answer.
const (
	Deny When = iota
	Ask
	Allow
	Rewrite
	Context // for the model
	System  // for the user
	Halt    // the agent is to stop
)

// Dir returns the agent's own directory; home is the user's. Without one it is "".
func (a *Agent) Dir(home string, getenv func(string) string) string {
	if dir := getenv(a.HomeVar); a.HomeVar != "" && dir != "" {
		return dir
	}
	if below, ok := strings.CutPrefix(a.Home, ".config/"); ok && getenv("XDG_CONFIG_HOME") != "" {
		return filepath.Join(getenv("XDG_CONFIG_HOME"), below)
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(a.Home))
}

// Holds reports whether a hook of the agent may wait for an answer of the user.
func (a *Agent) Holds() bool {
	return slices.ContainsFunc(a.Answers, func(r Answer) bool { return r.Waits })
}

// Hears reports whether the agent's event accepts such an answer.
func (a *Answer) Hears(w When) bool {
	return slices.ContainsFunc(a.Says, func(s Say) bool { return s.When == w })
}

// AnswerTo returns the answers accepted at the event with that meaning; nil for none.
func (a *Agent) AnswerTo(means string) *Answer {
	for i := range a.Answers {
		if a.Answers[i].Means == means {
			return &a.Answers[i]
		}
	}
	return nil
}

// Install says how an agent's hooks are registered. An agent whose hooks beckon
// does not register itself has the zero Install.
type Install struct {
	Program string // the agent's program, as called in a shell
	Title   string // the agent's name, for people
	File    string // in the agent's directory
	Shape   Shape
	Events  []string // the events to register; others cost a process and add nothing
	Then    string   // what the user still has to do, "" for nothing
	// Denies is set if a hook that fails, or whose program is gone, refuses the call: its
	// entry must succeed whatever happens.
	Denies bool
}

// Shape is the format of a file of hooks.
type Shape uint8

// The shapes. A file of the last two belongs to beckon alone.
const (
	Seconds      Shape = iota // Claude Code's settings
	Milliseconds              // the same, with its timeouts in milliseconds
	Commands                  // GitHub Copilot's: a list of commands for each event
	Plugin                    // OpenCode's and pi's: a program in JavaScript
)

// Event gives the meaning of the agent's event of that name. Of several rows with a name the
// first one that fits counts.
type Event struct {
	Name string
	// Where, unless it is empty, is a member of the payload, keys joined by dots, that must be
	// the text Is. A missing member is "".
	Where, Is string

	Means string // Claude Code's event, "" for an event without meaning
	Says  string // what it means beyond that: one of the constants below
}

// What an event may mean beyond its kind.
const (
	// Client marks a prompt that the client, not the user, began.
	Client = "client"
	// Interrupted marks a Stop that says the user interrupted the turn.
	Interrupted = "interrupted"
	// Idle marks a Stop that says only that nothing runs: it may follow the event that ended
	// the turn.
	Idle = "idle"
	// Approved marks a PreToolUse that comes after the user has approved the call.
	Approved = "approved"
	// Described marks a PermissionRequest whose input is the call's with a reason added: the
	// call's line identifies the call.
	Described = "described"
)

// Shown is the type of a notification sent when a dialog opens: the newest call that has not
// asked waits for a permission.
const Shown = "permission_shown"

// Member maps a member of a payload to Claude Code's name for it, or to one of the constants below.
type Member struct {
	Path string // keys joined by dots
	Is   string
}

// What Claude Code has no name for.
const (
	NewSession = "/new_session" // the session's id, where the same member is another id in other events
	Parent     = "/parent"      // the session of which this one is a subagent
	Questions  = "/questions"   // a list of questions outside a call's input
)

// Patched returns the files that a patch of Codex's format names in its headers.
func Patched(patch string) []string {
	files := []string{}
	for line := range strings.Lines(patch) {
		line = strings.TrimSpace(line)
		for _, head := range []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"} {
			if name, ok := strings.CutPrefix(line, head); ok {
				files = append(files, strings.TrimSpace(name))
			}
		}
	}
	return files
}

// Known are the agents that have a table, Claude Code first.
var Known = [...]*Agent{&claudeCode, &codex, &gemini, &openCode, &cursor, &copilot, &qwen, &droid, &pi}
