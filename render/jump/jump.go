// Package jump brings the pane of a session to the front.
//
// It starts no shell, no command runs longer than Timeout, no text from an agent or a terminal
// becomes an option or a format, and a pane is only focused if it is still the one the session
// was seen in. For a terminal that it does not know it says where the session is.
package jump

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"beckon/event/run"
	"beckon/render"
)

// Timeout is the longest that one terminal command may take.
const Timeout = 2 * time.Second

// ErrGone marks a target that no longer exists: process, multiplexer or pane.
var ErrGone = errors.New("it is gone")

type gone string

func (g gone) Error() string        { return string(g) }
func (g gone) Is(target error) bool { return target == ErrGone }

func isGone(format string, args ...any) error { return gone(fmt.Sprintf(format, args...)) }

// ByHand is the error for a target that exists but cannot be focused from here.
type ByHand struct {
	Why string
	Do  string // what the user can do instead; a command if possible
}

func (e *ByHand) Error() string { return e.Why }

// Hint returns what the user can do.
func (e *ByHand) Hint() string { return e.Do }

// Command is one program run.
type Command struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env,omitempty"` // in addition to beckon's own environment
}

// Result is the result of a jump.
type Result struct {
	Did      string    `json:"did"`                // what is on the screen now
	Commands []Command `json:"commands,omitempty"` // those that moved the focus, or would on a dry run
	// Become is the program that shows the session in the caller's own terminal: the caller
	// must replace itself with it.
	Become *Command `json:"become,omitempty"`
}

// Jumper focuses panes. New returns one for this process; its fields can be replaced.
type Jumper struct {
	Getenv func(string) string // the caller's environment, with the pane it is in
	Host   string              // this machine's name
	OS     string              // as runtime.GOOS
	Client string              // the tmux client to move; empty to detect it
	DryRun bool                // check only, and change nothing
	// Attended: the caller can give its terminal to another program (Result.Become).
	Attended bool
	// Ways are those to other machines; the first that matches counts. Hosts are the machines that
	// the user has listed, which ssh reaches by these names.
	Ways  []Way
	Hosts []string
	// Find returns a program's path; Run runs one and returns both its outputs.
	Find func(name string) (string, error)
	Run  func(context.Context, Command) (string, error)
}

// New returns a Jumper that runs real programs.
func New(getenv func(string) string) *Jumper {
	host, _ := os.Hostname()
	return &Jumper{Getenv: getenv, Host: host, OS: runtime.GOOS, Find: exec.LookPath, Run: start}
}

// start runs c without stdin and returns both outputs.
func start(ctx context.Context, c Command) (string, error) {
	const most = 4 << 20 // enough for the panes of any tmux server
	return run.Program{Argv: c.Argv, Env: c.Env, Limit: Timeout, Max: most}.Output(ctx)
}

// To brings r's pane to the front. The error is ErrGone for a target that is gone, a ByHand
// for one that only the user can reach, else the error of a command.
func (j *Jumper) To(ctx context.Context, r *render.Row) (Result, error) {
	if r.Remote != nil {
		return j.remote(r)
	}
	if err := j.reachable(r); err != nil {
		return Result{}, err
	}
	m := &move{Jumper: j, ctx: ctx, row: r}
	if r.Job != nil {
		return m.attachJob()
	}
	var did string
	var err error
	switch i := slices.IndexFunc(terminals, func(t terminal) bool { return t.kind == r.Pane.Kind }); {
	case r.Pane.Kind == "tmux":
		did, err = m.tmux()
	case i >= 0:
		did, err = m.focus(&terminals[i])
	default:
		err = m.byHand("%s cannot be told to show a pane", terminalName(r.Pane.Kind))
	}
	return Result{Did: did, Commands: m.ran}, err
}

// attachJob shows a session that the client runs in the background: `claude attach` opens it
// in a terminal. Inside tmux that is a new window of the caller's client; outside, the
// caller's own terminal, by Become.
func (m *move) attachJob() (Result, error) {
	id := m.row.Job.ID
	attach := Command{Argv: []string{"claude", "attach", id}}
	if !plain(id, "") || id[0] == '-' {
		return Result{}, &ByHand{"it runs in the background, under an id that is not valid", "claude agents"}
	}
	path, err := m.Find("claude")
	if err != nil {
		return Result{}, &ByHand{"it runs in the background, and claude is not in the PATH", attach.String()}
	}
	attach.Argv[0] = path
	s, c := m.own()
	switch {
	case c == nil && !m.Attended:
		return Result{}, &ByHand{"it runs in the background", "claude attach " + id}
	case c == nil:
		return Result{Did: "claude shows the background session " + id, Commands: []Command{attach}, Become: &attach}, nil
	}
	show := []string{"new-window", "-t", c.session + ":", "-n", "claude-" + id}
	if dir := m.Getenv("CLAUDE_CONFIG_DIR"); dir != "" { // the server may have a different one
		show = append(show, "-e", "CLAUDE_CONFIG_DIR="+dir)
	}
	if err := m.command(s.socket, append(append(show, "--"), attach.Argv...)...); err != nil {
		return Result{}, err
	}
	return Result{Did: "tmux shows the background session " + id + " in a new window", Commands: m.ran}, nil
}

// reachable returns an error for targets that need no look at a terminal.
func (j *Jumper) reachable(r *render.Row) error {
	alive := (*bool)(nil)
	if r.Process != nil {
		alive = r.Process.Alive
	}
	switch {
	case !r.State.Live():
		return isGone("the session is over")
	case alive != nil && !*alive:
		return isGone("its process has ended")
	case alive == nil && r.Host != "" && r.Host != j.Host:
		return &ByHand{fmt.Sprintf("it runs on %s", render.OneLine(r.Host)), "go to that machine; it works in " + where(r)}
	}
	return nil
}

type move struct {
	*Jumper
	ctx context.Context
	row *render.Row
	ran []Command
}

// do runs a command that moves the focus, or only records it on a dry run.
func (m *move) do(c Command) (string, error) {
	m.ran = append(m.ran, c)
	if m.DryRun {
		return "", nil
	}
	return m.ask(c)
}

// ask finds a program and runs it; it must not change anything.
func (m *move) ask(c Command) (string, error) {
	path, err := m.Find(c.Argv[0])
	if err != nil {
		return "", m.byHand("%s is not in the PATH", c.Argv[0])
	}
	out, err := m.Run(m.ctx, Command{Argv: append([]string{path}, c.Argv[1:]...), Env: c.Env})
	if errors.Is(err, context.DeadlineExceeded) {
		return "", m.byHand("%s did not answer in %v", c.Argv[0], Timeout)
	}
	return out, err
}

func (m *move) byHand(format string, args ...any) error {
	return &ByHand{fmt.Sprintf(format, args...),
		"it sits in " + terminalName(m.row.Pane.Kind) + ", working in " + where(m.row)}
}

// failed returns the error of a command that failed, in its own words.
func (m *move) failed(program, out string, err error) error {
	var hand *ByHand
	if err == nil || errors.As(err, &hand) {
		return err
	}
	if said := render.FirstLine(out); said != "" {
		return m.byHand("%s says: %s", program, said)
	}
	return m.byHand("%s failed: %v", program, err)
}

func terminalName(kind string) string {
	if kind == "" {
		return "a terminal that gave no name"
	}
	return render.OneLine(kind)
}

func where(r *render.Row) string {
	if r.Cwd == "" {
		return "a directory that is not known"
	}
	return render.OneLine(r.Cwd)
}

// absolute reports whether path is absolute and can stand alone as an argument.
func absolute(path string) bool {
	return filepath.IsAbs(path) && !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// plain reports whether s has only characters that mean nothing to any shell, and those of more.
func plain(s, more string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@"
	return s != "" && strings.Trim(s, letters+more) == ""
}

// String returns the command as a line for the user's shell, without control characters.
func (c Command) String() string {
	line := run.CommandLine(c.Argv...)
	for _, e := range c.Env {
		name, value, _ := strings.Cut(e, "=")
		line = name + "=" + run.Quote(value) + " " + line
	}
	return render.Clean(line)
}
