package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"beckon/render"
)

// Exit codes of every command but hook, which exits 0 unless an event can only be refused by
// exit code.
const (
	ExitOK       = 0
	ExitError    = 1 // something went wrong, or doctor found a fault
	ExitUsage    = 2 // wrong command line
	ExitNotFound = 3 // no such session
	ExitTaken    = 4 // somebody else, or the session itself, answered first
)

// coded is an error with an exit code of its own.
type coded struct {
	error
	code int
}

func (e coded) Unwrap() error { return e.error }

// Code returns the exit code of a command that ends with err.
func Code(err error) int {
	if err == nil {
		return ExitOK
	}
	if kind, ok := errors.AsType[coded](err); ok {
		return kind.code
	}
	return ExitError
}

// ErrNotFound is the error for a name that no session has.
var ErrNotFound error = coded{errors.New("no such session"), ExitNotFound}

// NotFound returns an error, with advice, about a session that lacks what the user asked for.
func NotFound(hint, format string, args ...any) error {
	return coded{Hint(hint, format, args...), ExitNotFound}
}

// Usage returns an error about the command line.
func Usage(format string, args ...any) error { return coded{fmt.Errorf(format, args...), ExitUsage} }

// Late returns an error about an answer that comes too late: somebody else answered first, or
// the call is over.
func Late(format string, args ...any) error {
	return coded{Hint("beckon answer lists what is open", format, args...), ExitTaken}
}

// ErrSilent is returned by a command that has already printed its error.
var ErrSilent = errors.New("")

// Ended returns the error of a command that ran another one, which ended with code and has said
// why.
func Ended(code int) error { return coded{ErrSilent, code} }

// hinted is an error with advice, which is printed on a line of its own.
type hinted struct {
	error
	hint string
}

func (e hinted) Unwrap() error { return e.error }

func (e hinted) Hint() string { return e.hint }

// Hint is an error with advice.
func Hint(hint, format string, args ...any) error {
	return hinted{fmt.Errorf(format, args...), hint}
}

// UpdateAdvice is for files that a newer beckon wrote. They are left alone, because this
// version would drop fields that it does not know.
const UpdateAdvice = "update beckon, or find the older one: which -a beckon beckon-hook"

// Fail prints err in the common form of errors and returns its exit code.
func (a *App) Fail(err error) int {
	if !errors.Is(err, ErrSilent) {
		a.print(err, "")
	}
	code := Code(err)
	if code == ExitUsage {
		fmt.Fprintf(a.Stderr, "  hint: %s\n", a.usageHint())
	}
	return code
}

// print writes err to stderr, each of several with its own hint.
func (a *App) print(err error, kind string) {
	for _, err := range Each(err) {
		fmt.Fprintf(a.Stderr, "beckon: %s%s\n", kind, printable(err))
		if hint := cmp.Or(render.HintOf(err), a.stateHint(err)); hint != "" {
			fmt.Fprintf(a.Stderr, "  hint: %s\n", hint)
		}
	}
}

// StateAdvice is for a state directory that cannot be used.
const StateAdvice = "make it yours and chmod 700, or set BECKON_STATE_DIR to a directory of yours"

// stateHint is the advice for an error of the state directory's owner or mode, or where it is no
// directory.
func (a *App) stateHint(err error) string {
	var at *fs.PathError
	unusable := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR)
	if a.Store != nil && errors.As(err, &at) && unusable && strings.HasPrefix(at.Path, a.Store.Dir) {
		return a.Store.Dir + ": " + StateAdvice
	}
	return ""
}

// Each lists the errors that errors.Join combined; none for nil.
func Each(err error) []error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var list []error
		for _, err := range several.Unwrap() {
			list = append(list, Each(err)...)
		}
		return list
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

func (a *App) usageHint() string {
	if a.Command == "" {
		return "beckon --help lists the commands"
	}
	return a.Command + " --help shows more"
}

// printable returns an error's text safe for a terminal: it may contain a file, a branch or a
// host.
func printable(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = render.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
