// Package agents holds the names that coding agents' hooks use, as tables by which
// package event reads payloads. Each agent is a package below this one with its
// table, and a row in package event's list; `go doc beckon/event/agents/gemini` is
// the example to start from.
//
// The hook links every table: they are literals without calls, so that they lie
// in the binary's data and cost nothing at start.
package agents

import (
	"path/filepath"
	"slices"
	"strings"
)

// Agent is what one coding agent says. What its rows do not name is read as
// Claude Code's.
type Agent struct {
	Name    string
	Aliases []string
	// Measured is the version whose words these are; empty for words that are taken
	// from its documentation alone.
	Measured string
	Events   []Event
	Fields   []Member
	// Notices translates types of notifications into Claude Code's.
	Notices []Notice
	// Forms are the tools whose call is a question to the user, beside Claude
	// Code's own.
	Forms []string

	// Package is the one of npm that it comes in, by which its process is known where
	// it is a script. ShellVar is a variable that its shells have.
	Package, ShellVar string

	// HomeVar and Home name the agent's own directory: by an environment
	// variable, else below the user's home, keys joined by slashes.
	HomeVar, Home string
	// Daemon is a file in that directory with the id of a background process that
	// runs the hooks of several terminals: such a hook has the terminal of whoever
	// started that process. Empty when there is no such process.
	Daemon string
	// Install says where its hooks are registered.
	Install Install

	// Silent says, for people, what no hook reports, and what reports it instead.
	Silent []string

	// Tools are the agent's tools in Claude Code's names, which the rules of a
	// policy go by. A tool without a row keeps its name.
	Tools []Called
	// Joint stands between a server and its tool in the name of a tool without a
	// row, where either name may contain it too: such a name is read in every way.
	// Empty where names are unambiguous.
	Joint string
	// Answers are the events at which it heeds a hook's answer, and what it
	// understands. An agent without any gets no answers.
	Answers []Answer
	// Cannot says, for people, what of an answer it has no way to take, and why
	// nobody can answer its dialogs from elsewhere.
	Cannot []string
}

// Called says which tool of Claude Code's an agent's own is.
type Called struct {
	Name, Means string
	Inputs      []Renamed
	// Patch is the member of its input that is a patch: the files that it names
	// are those the tool writes. Empty for a tool that takes none.
	Patch string
	// Files is the member that lists what the call changes, where it may be several.
	Files string
	// Types marks a tool that types into a running program: its input may or may
	// not be a command, so it is refused like one and never approved.
	Types bool
}

// Renamed is a member of a tool's input by another name.
type Renamed struct{ Name, Means string }

// Workdir, as what an input means, is the directory in which the call is made.
const Workdir = "/cwd"

// Answer says what an agent hears at one of its events.
type Answer struct {
	Event string // the agent's name of it
	Means string // Claude Code's, which policies use
	Says  []Say
	// Held marks an event whose hook may wait for an answer of the user's: its dialog
	// is open meanwhile, and can be answered there as well.
	Held bool
}

// Say is one member of an answer.
type Say struct {
	When When
	Path string // keys joined by dots
	// Value is JSON, or Text for what there is to say.
	Value string
	// Reason is the path of what there is to say beside Value, if it goes there.
	Reason string
}

// Text stands for what there is to say: a reason, a text, the new input.
const Text = "$"

// When says to what of an answer a member belongs.
type When uint8

// What an answer may have. Always is for a member that stands beside others in
// its object, and never alone.
const (
	Always When = iota
	Deny
	Ask
	Allow
	Rewrite
	Context // for the model
	System  // for the user
	Halt    // the agent is to stop
)

// Dir is the agent's own directory, home the user's.
func (a *Agent) Dir(home string, getenv func(string) string) string {
	if dir := getenv(a.HomeVar); a.HomeVar != "" && dir != "" {
		return dir
	}
	if below, ok := strings.CutPrefix(a.Home, ".config/"); ok && getenv("XDG_CONFIG_HOME") != "" {
		return filepath.Join(getenv("XDG_CONFIG_HOME"), below)
	}
	return filepath.Join(home, filepath.FromSlash(a.Home))
}

// Holds reports whether a hook of the agent's may wait for an answer of the user's.
func (a *Agent) Holds() bool {
	return slices.ContainsFunc(a.Answers, func(r Answer) bool { return r.Held })
}

// Hears reports whether the agent's event takes such an answer.
func (a *Answer) Hears(w When) bool {
	return slices.ContainsFunc(a.Says, func(s Say) bool { return s.When == w })
}

// words are those of When, for people.
var words = [...]string{"", "deny", "ask", "allow", "rewrite", "context", "message", "end the turn"}

// Words are the answers that the event takes, for people.
func (a *Answer) Words() (list []string) {
	for w := Deny; int(w) < len(words); w++ {
		if a.Hears(w) {
			list = append(list, words[w])
		}
	}
	return list
}

// AnswerTo returns what the agent hears at the event that means that; nil for
// nothing.
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
	Program string // the agent's program, as it is called in a shell
	Title   string // the agent's name, for people
	File    string // in the agent's directory
	Shape   Shape
	Events  []string // what is registered; the rest costs a process and adds nothing
	Then    string   // what the user has to do to be done, "" for nothing
	// Denies is set where a hook that fails, or whose program is gone, refuses what
	// it is asked about: its entry must succeed whatever happens.
	Denies bool
}

// Shape is what a file of hooks looks like.
type Shape uint8

// The shapes. A file of the last two is beckon's alone.
const (
	Seconds      Shape = iota // Claude Code's settings
	Milliseconds              // the same, with its timeouts in milliseconds
	Commands                  // GitHub Copilot's: a list of commands for each event
	Plugin                    // OpenCode's: a program in JavaScript
)

// Event says what the agent's event of that name means. Of several rows with a
// name the first one that fits counts.
type Event struct {
	Name string
	// Where, unless it is empty, is a member of the payload, keys joined by
	// dots, that has to be the text Is. A member that is missing is "".
	Where, Is string

	Means string // Claude Code's event, "" for one that says nothing
	Says  string // what it means beyond that: one of the constants below
}

// What an event may mean beyond its kind.
const (
	// Client marks a prompt that the client, not the user, began.
	Client = "client"
	// Interrupted marks a Stop by which the agent says that the user broke the
	// turn off.
	Interrupted = "interrupted"
	// Idle marks a Stop by which the agent says only that nothing runs: it may
	// follow what did end the turn.
	Idle = "idle"
	// Approved marks a PreToolUse that comes when the user has approved the call.
	Approved = "approved"
	// Described marks a PermissionRequest whose input is the call's with a reason
	// added: the call's line tells which call it is.
	Described = "described"
)

// Shown is the type of a notification that is raised as a dialog opens: the
// newest call that has not asked waits for a permission.
const Shown = "permission_shown"

// Member says which member of a payload is which field.
type Member struct {
	Path string // keys joined by dots
	Is   Field
}

// Notice says what a type of notification is in Claude Code's words.
type Notice struct{ Type, Means string }

// Field is one thing that is taken from a payload.
type Field uint8

// The fields.
const (
	None Field = iota
	EventName
	Session
	NewSession // the session's id where the same member is another id in other events
	Parent     // the session of which this one is a subagent
	PromptID
	Transcript
	Cwd
	NewCwd
	Roots // a list of directories, the first is the cwd
	Mode
	Model
	Title // the session's name
	NewModel
	Effort
	AgentID
	AgentType
	Source
	Reason
	Error
	Details
	Prompt
	Message
	NoticeText
	Notification
	StopHook
	Interrupt
	Background
	Crons
	Tool
	UseID
	FormID
	Input
	Questions // a list of questions outside a call's input
	Ms
	TaskID
	TaskSubject
	Server
	Schema
	Suggestions
	NumFields
)

// Patched are the files that a patch of Codex's form names in its headers.
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
