// Package run runs other programs.
//
// It guarantees: a program ends with its time limit, and its children with it, and on Linux also
// if this process is killed; its output never
// reaches ours, and what is kept of it is bounded; a child that keeps the output open delays
// nobody.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"beckon/event"
	"beckon/event/home"
)

// Program is one run of a program.
type Program struct {
	Argv  []string
	Line  string    // instead of Argv: a command line for the user's shell
	Env   []string  // in addition to this process's environment
	Bare  bool      // Env is the whole environment
	Stdin io.Reader // nil: empty
	// Limit is the longest that it may take, 0 for as long as ctx. It is killed then.
	Limit time.Duration
	// Interrupt gives it the chance to clean up: it is interrupted, and killed a second later if
	// it still runs.
	Interrupt bool
	Max       int // most bytes that are kept of each output; 0 for 4 KiB
}

// defaultMax is enough for a message.
const defaultMax = 4 << 10

// wait is how long a child may keep the output open, and an interrupted program clean up.
const wait = 200 * time.Millisecond

// Output runs p and returns both its outputs, in one.
func (p Program) Output(ctx context.Context) (string, error) {
	out := p.buffer()
	err := p.run(ctx, out, out)
	return string(out.Kept), err
}

// Outputs runs p and returns its outputs.
func (p Program) Outputs(ctx context.Context) (stdout, stderr *event.Bounded, err error) {
	stdout, stderr = p.buffer(), p.buffer()
	return stdout, stderr, p.run(ctx, stdout, stderr)
}

func (p Program) buffer() *event.Bounded { return &event.Bounded{Max: cmp.Or(p.Max, defaultMax)} }

// lateError means that a program ran into its limit, or that of the context. It is a
// context.DeadlineExceeded.
type lateError string

func (e lateError) Error() string      { return string(e) }
func (lateError) Is(target error) bool { return target == context.DeadlineExceeded }

func (p Program) run(ctx context.Context, stdout, stderr io.Writer) error {
	if p.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.Limit)
		defer cancel()
	}
	argv, end := p.Argv, syscall.SIGKILL
	if p.Line != "" {
		argv = Shell("", p.Line)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, stdout, stderr
	if cmd.Env = p.Env; !p.Bare {
		cmd.Env = append(home.Environ(), p.Env...)
	}
	if cmd.WaitDelay = wait; p.Interrupt {
		cmd.WaitDelay, end = time.Second, syscall.SIGINT
	}
	Alone(cmd, false, end)
	cmd.Cancel = func() error { return Signal(cmd.Process, end) }
	err := cmd.Run()
	name := Base(cmd.Args[0])
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case ctx.Err() != nil && p.Limit == 0:
		return lateError(name + " did not end in time")
	case ctx.Err() != nil:
		return lateError(fmt.Sprintf("%s did not end within %s", name, p.Limit))
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is not installed", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Base returns the last name in a path of any system.
func Base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// Quote makes s one word for sh.
func Quote(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// CommandLine writes words as one command for sh.
func CommandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// powershell returns the newer one if it is installed.
func powershell(line string) (argv []string) {
	name := "powershell"
	if _, err := exec.LookPath("pwsh"); err == nil {
		name = "pwsh"
	}
	return []string{name, "-NoProfile", "-NonInteractive", "-Command", line}
}
