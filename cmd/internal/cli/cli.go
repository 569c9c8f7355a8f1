// Package cli is what beckon's commands share: the edges of the process, errors and
// their exit codes, the configuration, and the sessions of this machine.
package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"beckon/cmd/internal/config"
	"beckon/cmd/internal/hook"
	"beckon/event"
	"beckon/event/agents"
	"beckon/event/home"
	"beckon/event/typed"
	"beckon/render"
	"beckon/render/term"
	"beckon/state/alert"
	"beckon/state/evidence"
	"beckon/state/store"

	terminal "golang.org/x/term"
)

// App is one run of the program.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Store          *store.Store
	Command        string          // to name it in errors: "beckon list"
	Unread         []store.Problem // what the last look could not read
	Unwarned       bool            // a prompt or a status line, which have no place for warnings
	Brief          bool            // the process looks once and exits

	config *config.Config // once it was read
}

// Open opens the state directory.
func (a *App) Open() error {
	dir, err := store.Dir(a.Getenv)
	if err != nil {
		return Hint("set HOME, or BECKON_STATE_DIR to a directory of yours", "%w", err)
	}
	a.Store = store.Open(dir)
	a.Store.NoTexts = hook.NoTexts(a.Getenv)
	return nil
}

// ClaudeDir is the client's own directory.
func (a *App) ClaudeDir() string { return agents.Known[0].Dir(home.Dir(a.Getenv), a.Getenv) }

// ProjectRoot is the directory whose .claude the client reads: the nearest
// one that has a .claude or a .git, else dir.
func ProjectRoot(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		for _, mark := range []string{".claude", ".git"} {
			if _, err := os.Stat(filepath.Join(d, mark)); err == nil {
				return d
			}
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

// User returns the user's name.
func (a *App) User() string {
	return cmp.Or(a.Getenv("USER"), a.Getenv("LOGNAME"), a.Getenv("USERNAME"))
}

// Configured returns the configuration in force. Errors in the file are printed as a warning,
// the same in every command, and stop nothing.
func (a *App) Configured() config.Config {
	if a.config == nil {
		if err := a.CheckConfig(); err != nil && !a.Unwarned {
			a.print(err, "warning: ")
		}
	}
	return *a.config
}

// CheckConfig reads the configuration and returns the errors in the file. Configured then does
// not print them.
func (a *App) CheckConfig() error {
	cfg, _, err := config.Load(alert.ConfigPath(a.Getenv))
	a.config = &cfg
	return err
}

// InClient reports whether an agent's client is among this process's ancestors. Tests replace
// it, since an agent may run them.
var InClient = evidence.InClient

// InAgent returns an error if an agent runs this command: only the user may, because a guard
// that an agent can switch off is none.
func (a *App) InAgent(what string) error {
	shell := func(ag *agents.Agent) bool { return ag.ShellVar != "" && a.Getenv(ag.ShellVar) != "" }
	if a.Getenv("CLAUDECODE") == "" && a.Getenv("CLAUDE_CODE_CHILD_SESSION") == "" &&
		!slices.ContainsFunc(event.Agents(), shell) && !InClient() {
		return nil
	}
	return Hint("run it in a terminal of your own", "%s is yours to do, and this shell belongs to an agent", what)
}

// Colored is the flag of commands that draw.
type Colored struct {
	Color string `hidden:"" enum:",auto,always,never" default:"" placeholder:"WHEN" help:"Use colours: auto, always or never (default: as configured)."`
}

// Color reports whether to colour stdout, as a flag or else the configuration says. With auto: only
// a terminal, and not with NO_COLOR or TERM=dumb; CLICOLOR_FORCE forces it.
func (a *App) Color(flag string) bool {
	switch choice := cmp.Or(flag, a.Configured().Color); {
	case choice == "always":
		return true
	case choice == "never" || a.Getenv("NO_COLOR") != "":
		return false
	case a.Getenv("CLICOLOR_FORCE") != "" && a.Getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return a.Screen()
}

// Screen reports whether stdout is a terminal that can move its cursor. The shell of an editor
// cannot, and says so: TERM=dumb.
func (a *App) Screen() bool { return a.Getenv("TERM") != "dumb" && a.Width() > 0 }

// Style returns how to draw on this terminal, with the colours that a flag chose.
func (a *App) Style(choice string) term.Style {
	return term.Style{
		Color: a.Color(choice),
		Rich:  a.Rich(),
		Width: a.Width(),
		Now:   a.Now().Time(),
	}
}

// Rich reports whether the terminal has 256 colours, by the rules of package colorprofile:
// linking that package would cost each prompt a tenth of its time.
func (a *App) Rich() bool {
	name := a.Getenv("TERM")
	switch {
	case name == "dumb":
		return false
	case name == "" && runtime.GOOS == "windows", a.Getenv("WT_SESSION") != "":
		return true
	}
	rich := strings.Fields("256color direct tmux screen alacritty contour foot ghostty kitty rio st wezterm")
	return slices.ContainsFunc(rich, func(part string) bool { return strings.Contains(name, part) }) ||
		slices.Contains([]string{"truecolor", "24bit", "yes", "true"}, strings.ToLower(a.Getenv("COLORTERM")))
}

// Attended reports whether stdin and stdout are the user's terminal.
func (a *App) Attended() bool {
	in, ok := a.Stdin.(*os.File)
	return ok && terminal.IsTerminal(int(in.Fd())) && a.Width() > 0
}

// Width returns the columns of the terminal on stdout, or 0.
func (a *App) Width() int {
	f, ok := a.Stdout.(*os.File)
	if !ok || !terminal.IsTerminal(int(f.Fd())) {
		return 0
	}
	if n, err := strconv.Atoi(a.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	w, _, err := terminal.GetSize(int(f.Fd()))
	if err != nil {
		return 80
	}
	return w
}

// Printf writes to standard output.
func (a *App) Printf(format string, args ...any) error {
	_, err := fmt.Fprintf(a.Stdout, format, args...)
	return err
}

// WriteJSON writes v as indented JSON.
func WriteJSON(w io.Writer, v any) error { return writeJSON(w, v, "  ") }

// WriteJSONLine writes v as JSON on one line.
func WriteJSONLine(w io.Writer, v any) error { return writeJSON(w, v, "") }

// writeJSON escapes the control characters that JSON may hold as they are, because a terminal
// acts on them.
func writeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	var out []byte
	for _, r := range b.String() {
		if r < 0x7f || r > 0x9f {
			out = utf8.AppendRune(out, r)
		} else { // DEL, and the control characters of Unicode
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	_, err := w.Write(out)
	return err
}

// ShortID returns the part of an id that people read.
func ShortID(id string) string { return render.OneLine(id[:min(len(id), 8)]) }

// Found reports whether PATH has the program.
func Found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// version is set by the linker in a release.
var version string

// Version returns the release's version, else the one that the build recorded.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return cmp.Or(info.Main.Version, "(devel)")
}

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

// Hint is an error with advice, which is printed on a line of its own.
func Hint(hint, format string, args ...any) error {
	return typed.Advise(fmt.Errorf(format, args...), hint)
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
	switch {
	case code == ExitUsage && a.Command == "":
		fmt.Fprintln(a.Stderr, "  hint: beckon --help lists the commands")
	case code == ExitUsage:
		fmt.Fprintf(a.Stderr, "  hint: %s --help shows more\n", a.Command)
	}
	return code
}

// print writes err to stderr, each of several with its own hint. An error may contain a file, a
// branch or a host, which a terminal must not act on.
func (a *App) print(err error, kind string) {
	for _, err := range Each(err) {
		fmt.Fprintf(a.Stderr, "beckon: %s%s\n", kind, strings.Join(render.Lines(err.Error()), "\n"))
		if hint := cmp.Or(typed.HintOf(err), a.stateHint(err)); hint != "" {
			fmt.Fprintf(a.Stderr, "  hint: %s\n", hint)
		}
	}
}

// StateAdvice is for a state directory that cannot be used.
const StateAdvice = "make it yours and chmod 700, or set BECKON_STATE_DIR to a directory of yours"

// stateHint is the advice for a state directory that cannot be used.
func (a *App) stateHint(err error) string {
	var at *fs.PathError
	unusable := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR)
	if a.Store != nil && errors.As(err, &at) &&
		(at.Path == a.Store.Dir || unusable && strings.HasPrefix(at.Path, a.Store.Dir)) {
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
