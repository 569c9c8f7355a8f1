package main

import (
	handlers "beckon/event/policy/run"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"beckon/cmd/internal/answer"
	"beckon/cmd/internal/hook"
	"beckon/cmd/internal/noblock"
	"beckon/event"
	"beckon/render"
	"beckon/state"
	"beckon/state/live"
	"beckon/state/store"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// Exit codes of every command but hook, which exits 0 unless a policy has no
// other way to refuse.
const (
	exitOK       = 0
	exitError    = 1 // something went wrong, or doctor found a fault
	exitUsage    = 2 // the command line is not understood
	exitNotFound = 3 // no such session
	exitTaken    = 4 // somebody, or the session itself, was first with an answer
)

// commands is the command line; one file a command.
type commands struct {
	List       listCmd       `cmd:"" default:"withargs" help:"List the sessions, the ones that need you first."`
	Watch      watchCmd      `cmd:"" help:"Show the sessions on a screen that follows them."`
	Show       showCmd       `cmd:"" help:"Show what is known of one session."`
	Explain    explainCmd    `cmd:"" help:"Tell why a session is in its state."`
	History    historyCmd    `cmd:"" help:"Search what was said in every session."`
	Stats      statsCmd      `cmd:"" help:"Show what was done: time at work and waiting, turns, tools, by day and project."`
	Answer     answerCmd     `cmd:"" help:"Answer what a session asks, from here: yes, no, always, an option, words."`
	Reply      replyCmd      `cmd:"" help:"Say something to a session whose turn is over."`
	Stop       stopCmd       `cmd:"" help:"Have a session end its turn at its next call."`
	Away       awayCmd       `cmd:"" help:"Note that nobody sits at the sessions: what subagents ask is held, too."`
	Back       backCmd       `cmd:"" help:"Note that you are back."`
	Jump       jumpCmd       `cmd:"" help:"Bring the pane of a session to the front."`
	Seen       seenCmd       `cmd:"" help:"Note that you looked at a session."`
	Backburner backburnerCmd `cmd:"" help:"Set a session aside until your own next prompt to it."`
	Remove     removeCmd     `cmd:"" help:"Take a session off the list until it is heard of again."`
	Statusline statuslineCmd `cmd:"" help:"Print Claude Code's status line: this session, and the others that need you."`
	Prompt     promptCmd     `cmd:"" help:"Print a short segment for prompts and bars, nothing when nobody needs you."`
	Init       initCmd       `cmd:"" help:"Print what a shell, tmux or starship needs to show the segment."`
	Notify     notifyCmd     `cmd:"" help:"Try notifications, or ask why there was one or none."`
	Serve      serveCmd      `cmd:"" help:"Serve the sessions over HTTP, with live events."`
	Policy     policyCmd     `cmd:"" help:"What answers the hooks: check, test, explain, trace."`
	Install    installCmd    `cmd:"" help:"Put the hooks into Claude Code's settings."`
	Uninstall  uninstallCmd  `cmd:"" help:"Take the hooks out again."`
	Plugin     pluginCmd     `cmd:"" help:"Make a plugin of Claude Code that runs the hooks, in place of install."`
	Doctor     doctorCmd     `cmd:"" help:"Check the installation by a real round trip."`
	Config     configCmd     `cmd:"" help:"Print the effective configuration and where it comes from."`
	Demo       demoCmd       `cmd:"" help:"Play recorded sessions and list them as they change."`
	Replay     replayCmd     `cmd:"" help:"Play recordings of your own and list them as they change."`
	Fsck       fsckCmd       `cmd:"" help:"Check the state files against their journals."`
	Hook       hookCmd       `cmd:"" help:"Fold one hook payload from stdin, as beckon-hook does."`
	Completion completionCmd `cmd:"" help:"Print the completion script of a shell."`
	Help       helpCmd       `cmd:"" help:"Print a page of the manual; without a topic, list them."`
	Man        manCmd        `cmd:"" help:"Print the manual page (beckon man | man -l -)."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// app is what the commands share: the process's edges, passed in.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	st             *store.Store
	command        string          // as its help is asked for: "beckon list"
	unread         []store.Problem // what the last look could not read
}

// sessionHelp is what every SESSION may be (find).
const sessionHelp = "Session id, seat id, name, project or branch, or a part of one that no other session has"

// run is the whole program but for the exit.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	if len(args) > 0 && args[0] == "hook" && !wantsHelp(args) {
		code := answer.Main(args[1:], stdin, stdout, stderr, getenv, handlers.Starter{}) // before kong is paid for
		if code != exitOK {
			noblock.Off() // the answer itself, where the contract has no other way
		}
		return code
	}
	noblock.Off()
	if pane, ok := seenPane(args); ok {
		return runSeenPane(pane, getenv) // a tmux focus hook: as often as the user moves
	}
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: getenv}
	if code, ok := a.quick(args); ok {
		return code
	}
	code := -1
	parser, err := kong.New(&commands{}, kong.Name("beckon"),
		kong.Description("Which of your coding-agent sessions needs you."),
		kong.Writers(stdout, stderr), kong.Exit(func(c int) { code = c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Vars{"session": sessionHelp}, kong.Bind(a))
	if err != nil {
		return a.fail(err)
	}
	if len(args) > 0 && args[0] == "__complete" {
		return a.runComplete(parser.Model.Node, args[1:])
	}
	ctx, err := parser.Parse(args)
	if code >= 0 { // --help
		return code
	}
	a.command = commandOf(ctx, err)
	if err != nil {
		return a.fail(usageError{err})
	}
	dir, err := store.Dir(getenv)
	if err != nil {
		return a.fail(err)
	}
	a.st = store.Open(dir)
	a.st.Texts = hook.Texts(getenv)
	return a.fail(ctx.Run(a))
}

// commandOf names the command that was parsed, as far as it was understood.
func commandOf(ctx *kong.Context, err error) string {
	var bad *kong.ParseError
	if errors.As(err, &bad) {
		ctx = bad.Context
	}
	if ctx == nil || ctx.Selected() == nil {
		return ""
	}
	words := []string{}
	for n := ctx.Selected(); n.Parent != nil; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return strings.Join(append([]string{"beckon"}, words...), " ")
}

func (a *app) usageHint() string {
	if a.command == "" || a.command == "beckon list" { // list is also what a word that is no command ends in
		return "beckon --help lists the commands"
	}
	return a.command + " --help tells more"
}

func wantsHelp(args []string) bool {
	return len(args) > 1 && (args[1] == "--help" || args[1] == "-h")
}

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// hinted is an error with advice, which is printed on a line of its own.
type hinted struct {
	error
	hint string
}

func (e hinted) Unwrap() error { return e.error }

// Hint returns the advice.
func (e hinted) Hint() string { return e.hint }

// hintOf is the hint that err carries, or "".
func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

func hint(hint, format string, args ...any) error {
	return hinted{fmt.Errorf(format, args...), hint}
}

// errNotFound marks errors about a session that is not there.
var errNotFound = errors.New("no such session")

// errSilent is returned by a command that has said itself what is wrong.
var errSilent = errors.New("")

// fail prints err in the one form that errors have and returns its exit code.
func (a *app) fail(err error) int {
	if err == nil {
		return exitOK
	}
	if !errors.Is(err, errSilent) {
		fmt.Fprintf(a.stderr, "beckon: %s\n", printable(err))
		var h interface{ Hint() string }
		if errors.As(err, &h) && h.Hint() != "" {
			fmt.Fprintf(a.stderr, "  hint: %s\n", h.Hint())
		}
	}
	var usage usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(a.stderr, "  hint: %s\n", a.usageHint())
		return exitUsage
	case errors.Is(err, errNotFound):
		return exitNotFound
	case errors.As(err, new(late)):
		return exitTaken
	}
	return exitError
}

// printable is an error's text for a terminal: it may name a file, a branch or
// a host.
func printable(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = render.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// color reports whether stdout may be coloured: only a terminal, and not
// against NO_COLOR or TERM=dumb; CLICOLOR_FORCE forces it.
func (a *app) color(choice string) bool {
	switch {
	case choice == "always":
		return true
	case choice == "never" || a.getenv("NO_COLOR") != "":
		return false
	case a.getenv("CLICOLOR_FORCE") != "" && a.getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return a.getenv("TERM") != "dumb" && a.width() > 0
}

// attended reports whether the user's terminal is this program's, in and out.
func (a *app) attended() bool {
	in, ok := a.stdin.(*os.File)
	return ok && term.IsTerminal(int(in.Fd())) && a.width() > 0
}

// width returns the columns of the terminal on stdout, or 0.
func (a *app) width() int {
	f, ok := a.stdout.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if n, err := strconv.Atoi(a.getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 80
	}
	return w
}

// claudeDir is the client's own directory.
func (a *app) claudeDir() string {
	if d := a.getenv("CLAUDE_CONFIG_DIR"); d != "" {
		return d
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".claude")
}

// reader returns what looks at the sessions of this machine.
func (a *app) reader() *live.Reader {
	return live.NewReader(a.st, filepath.Join(a.claudeDir(), "sessions"))
}

// now is the time to resolve and act at: a recording has its own.
func (a *app) now() event.Millis { return a.reader().Now() }

// uncollected puts garbage collection off until the heap has 128 MiB, and
// returns what undoes that. Nearly all that a look at the sessions allocates
// it keeps: collecting in the middle of it finds nothing, and costs a third of
// the time.
func uncollected() (undo func()) {
	old := debug.SetGCPercent(3200)
	return func() { debug.SetGCPercent(old) }
}

// look reads all sessions with their evidence and verdicts.
func (a *app) look(all bool) ([]state.Seen, event.Millis, error) {
	defer uncollected()()
	snap, err := a.reader().Look(all)
	a.note(snap.Problems)
	a.complain(snap.Problems)
	return snap.Seen, snap.Now, err
}
