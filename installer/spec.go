package installer

import (
	"path/filepath"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Form is how an entry starts the hook program.
type Form uint8

const (
	// Exec names the program and its arguments apart; the client starts it without a
	// shell. Needs client 2.1.139; older ones ignore the arguments (CONTRACT.md 1).
	Exec Form = iota
	// Shell is one quoted command line, for older clients.
	Shell
)

// Timeout is what an entry gives the hook, in seconds. The hook itself never takes
// as long; the client's default is 600.
const Timeout = 60

// Spec says which entries a settings file shall hold.
type Spec struct {
	Command string   // absolute path of beckon-hook; a Windows path is written with forward slashes
	Events  []string // event names as the client spells them, in the order to write them
	Form    Form
	// Client and Set are what Events was chosen for, to be remembered: see Complete.
	Client Version
	Set    Set
	// Via marks every entry as that of another install than the settings', so that of
	// the copies of one event one counts (CASES.md 24); empty for settings.
	Via string
	// StatusLine is the absolute path of beckon, which shall be the status line; empty
	// leaves the status line as it is.
	StatusLine string
}

// check refuses a spec whose entries the client could not run, or Remove not find.
func (s Spec) check() error {
	switch {
	case !filepath.IsAbs(s.Command) && !windowsPath(s.Command) && !strings.HasPrefix(s.Command, "/"):
		return &PathError{s.Command, "not an absolute path", "the client runs hooks in changing directories"}
	case !utf8.ValidString(s.Command) || strings.ContainsFunc(s.Command, unicode.IsControl):
		return &PathError{s.Command, "not printable text", "JSON cannot hold it"}
	case strings.Contains(s.Command, "${"):
		return &PathError{s.Command, "holds a placeholder", "the client replaces ${...} in commands"}
	case s.Via != "" && s.Via != ViaPlugin:
		return &PathError{s.Command, "unknown kind of install", ""}
	case len(s.Events) == 0:
		return &PathError{s.Command, "no events to register", ""}
	case s.StatusLine != "" && !ownProgram(s.StatusLine):
		return &PathError{s.StatusLine, "not the program for status lines", "the program must be called beckon, at an absolute path"}
	case !s.handler(s.Events[0]).own():
		return &PathError{s.Command, "not the hook program", "the program must be called beckon-hook"}
	}
	return nil
}

// ownProgram reports whether a status line of ours may name path.
func ownProgram(path string) bool {
	absolute := filepath.IsAbs(path) || windowsPath(path) || strings.HasPrefix(path, "/")
	if !absolute || !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		return false
	}
	return statusLine{words: plainCommand(shellCommands(statusCommand(path, nil)))}.own()
}

// entry is what one event's entry says. SessionEnd gets no timeout: there it would
// raise the time the client waits at exit from 1.5 s to that much (CONTRACT.md 4).
func (s Spec) entry(event string) object {
	program, args := slashed(s.Command), []string{event}
	if s.Via != "" {
		args = append(args, "--via", s.Via)
	}
	e := object{{"type", "command"}}
	if s.Form == Shell {
		e = append(e, member{"command", CommandLine(append([]string{program}, args...)...)})
	} else {
		e = append(e, member{"command", program}, member{"args", listOf(args)})
	}
	if event != "SessionEnd" {
		e = append(e, member{"timeout", Timeout})
	}
	return e
}

func listOf(words []string) (list array) {
	for _, w := range words {
		list = append(list, w)
	}
	return list
}

// group is the group that holds an event's entry: no matcher, so it matches all.
func (s Spec) group(event string) object {
	return object{{"hooks", array{s.entry(event)}}}
}

// handler is the entry as it reads once written.
func (s Spec) handler(event string) handler {
	return readHandler(layout{}.flat(s.entry(event)))
}

// same reports whether an entry says exactly what another says, in whatever order
// and layout.
func (h handler) same(other handler) bool { return reflect.DeepEqual(h.fields, other.fields) }
