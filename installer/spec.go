package installer

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"beckon/event/agents"
)

// Scope is the settings file a hook is registered in.
type Scope string

// The scopes. Managed is only inspected, never edited.
const (
	User    Scope = "user"
	Project Scope = "project"
	Local   Scope = "local"
	Managed Scope = "managed"
)

// Dirs are the directories that settings files are found from.
type Dirs struct {
	Config  string // the client's own: $CLAUDE_CONFIG_DIR, else ~/.claude
	Project string // root of the project; needed for the project and local scopes only
	Keep    string // private directory for backups, records and locks; made when needed
}

// Target is one settings file and what belongs to its editing.
type Target struct {
	Scope Scope
	Path  string // the file as the client opens it; it may be a link
	Keep  string // as in Dirs; empty to keep nothing

	agent *agents.Agent // whose file it is, nil for Claude Code's
}

// Target gives the settings file of a scope. The error names what is missing.
func (d Dirs) Target(s Scope) (Target, error) {
	base, rest := d.Project, ".claude/settings.json"
	switch s {
	case User:
		base, rest = d.Config, "settings.json"
	case Project:
	case Local:
		rest = ".claude/settings.local.json"
	default:
		return Target{}, fmt.Errorf("scope %q: not one of user, project, local", s)
	}
	if !filepath.IsAbs(base) || !filepath.IsAbs(d.Keep) {
		return Target{}, fmt.Errorf("scope %q: directories must be absolute, not %q and %q", s, base, d.Keep)
	}
	return Target{Scope: s, Path: filepath.Join(base, filepath.FromSlash(rest)), Keep: d.Keep}, nil
}

// ManagedFiles are the places of an organization's settings on a platform, named as
// in runtime.GOOS.
func ManagedFiles(goos string) []string {
	switch goos {
	case "darwin":
		return []string{"/Library/Application Support/ClaudeCode/managed-settings.json"}
	case "windows":
		return []string{
			`C:\Program Files\ClaudeCode\managed-settings.json`,
			`C:\ProgramData\ClaudeCode\managed-settings.json`,
		}
	}
	return []string{"/etc/claude-code/managed-settings.json"}
}

// timeout is the timeout of an entry, in seconds. The hook itself never takes that long; the
// client's default is 600. answerTimeout is for an entry whose hook waits for an answer.
const (
	timeout       = 60
	answerTimeout = 24 * 60 * 60
)

// Spec says which entries a settings file must hold.
type Spec struct {
	Command string   // absolute path of beckon-hook; a Windows path is written with forward slashes
	Events  []string // event names as the client spells them, in the order to write them
	Shell   bool     // an entry is one quoted command line, else program and arguments
	// Client and Set are what Events was chosen for, stored for Complete.
	Client Version
	Set    Set
	// Answers makes the entries those of an install with answers: requests to the user may
	// wait, and a reply may continue a session whose turn is over. With KeepAnswers the file's
	// present entries decide that.
	Answers, KeepAnswers bool
	// StatusLine is the absolute path of beckon-hook or beckon, which becomes the status line;
	// empty leaves it as it is. NoStatusLine removes it, and restores the one that it runs.
	StatusLine   string
	NoStatusLine bool

	agent *agents.Agent // whose entries they are; nil for Claude Code
}

// check refuses a spec whose entries the client could not run, or remove could not find.
func (s Spec) check() error {
	switch {
	case !absolute(s.Command):
		return badProgram(s.Command, "not an absolute path", "the client runs hooks in changing directories")
	case !printable(s.Command):
		return badProgram(s.Command, "not printable text", "JSON cannot hold it")
	case strings.Contains(s.Command, "${"):
		return badProgram(s.Command, "holds a placeholder", "the client replaces ${...} in commands")
	case programName(s.Command) != "beckon-hook":
		return badProgram(s.Command, "not the hook program", "the program must be called beckon-hook")
	case ownFile(s.agent):
	case len(s.Events) == 0:
		return badProgram(s.Command, "no events to register", "")
	case s.StatusLine != "" && !ownProgram(s.StatusLine):
		return badProgram(s.StatusLine, "not the program for status lines",
			"the program must be called beckon or beckon-hook, at an absolute path")
	}
	return nil
}

// ownProgram reports whether path may be the program of our status line.
func ownProgram(path string) bool {
	return absolute(path) && printable(path) && statusLine{words: plainCommand(statusCommand(path, nil))}.own()
}

// absolute reports whether path is absolute, on this system or in a client of another.
func absolute(path string) bool {
	return filepath.IsAbs(path) || windowsPath(path) || strings.HasPrefix(path, "/")
}

func printable(path string) bool {
	return utf8.ValidString(path) && !strings.ContainsFunc(path, unicode.IsControl)
}

// A slot is what the file has at most one entry of ours for: an event, or an event followed by
// replySlot: the entry that waits for a reply at the end of a turn.
const replySlot = " --reply"

// slots returns the slots of the spec, in the order to write them.
func (s Spec) slots() []string {
	slots := slices.Clone(s.Events)
	for _, event := range []string{"Stop", "StopFailure"} {
		if s.Answers && slices.Contains(s.Events, event) && s.Client.Compare(rewakeSince) >= 0 {
			slots = append(slots, event+replySlot)
		}
	}
	return slots
}

// answered are the events whose hook looks for an answer of the user; the first waits for it.
var answered = []string{"PermissionRequest", "PreToolUse", "PostToolUse"}

// entryText is the content of an entry, in the order to write it.
type entryText struct {
	Type          string   `json:"type"`
	Command       string   `json:"command"`
	Args          []string `json:"args,omitempty"`
	Timeout       int      `json:"timeout,omitempty"`
	AsyncRewake   bool     `json:"asyncRewake,omitempty"`
	RewakeMessage string   `json:"rewakeMessage,omitempty"`
	RewakeSummary string   `json:"rewakeSummary,omitempty"`
}

// entry returns the content of one slot's entry. SessionEnd gets no timeout: it would raise
// the time that the client waits at exit from 1.5 s to that much.
func (s Spec) entry(slot string) entryText {
	event, reply := strings.CutSuffix(slot, replySlot)
	program, args := slashed(s.Command), []string{event}
	timeout := timeout
	switch {
	case reply:
		args, timeout = append(args, strings.TrimSpace(replySlot)), answerTimeout
	case s.agent != nil:
		args = s.agentArgs(event)
		if lax(s.agent) {
			timeout *= 1000
		}
	case s.Answers && slices.Contains(answered, event):
		args = append(args, "--answers")
		if event == answered[0] {
			timeout = answerTimeout
		}
	}
	e := entryText{Type: "command", Command: program, Args: args, Timeout: timeout, AsyncRewake: reply}
	if s.Shell {
		e.Command, e.Args = CommandLine(append([]string{program}, args...)...), nil
		// PowerShell exits with 1 for a missing program, which refuses nothing.
		if s.agent != nil && s.agent.Install.Denies && runtime.GOOS != "windows" {
			e.Command += endsWell
		}
	}
	if event == "SessionEnd" {
		e.Timeout = 0
	}
	if reply && s.Client.Compare(rewakeWordsSince) >= 0 {
		e.RewakeMessage, e.RewakeSummary = "The user replies:", "Reply from beckon"
	}
	return e
}

// handler returns the entry as it reads once written.
func (s Spec) handler(slot string) handler {
	return readHandler(encode(s.entry(slot)))
}

// same reports whether two entries have the same content, in any order and layout.
func (h handler) same(other handler) bool { return reflect.DeepEqual(h.fields, other.fields) }
