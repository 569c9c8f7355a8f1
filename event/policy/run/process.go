package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"beckon/event"
	"beckon/event/run"
)

const (
	maxStdout = 1 << 20         // 1 MiB: what a command may print and still be understood
	maxStderr = 64 << 10        // 64 KiB: the reason of a refusal, and the trace
	graceTime = time.Second / 2 // between TERM and KILL
)

// process is one run of a program in a session and process group of its own.
type process struct {
	path  string   // an absolute path
	argv  []string // argv[0] first
	dir   string
	env   []string
	stdin []byte
}

// ran is how a process ended.
type ran struct {
	stdout, stderr string // valid UTF-8, cut at maxStdout and maxStderr
	tooMuch        bool   // stdout was cut
	code           int    // -1 when a signal ended it
	timedOut       bool
	err            error // it did not start, did not end, or a signal ended it
}

// run starts p, feeds it and waits until it has ended and closed its outputs, or until ctx ends. The
// last tenth of the time that ctx leaves, at most graceTime, is for ending it: first politely, then not.
//
// What the program left running with an output of ours still open is ended too. What has closed both
// outputs has detached, and stays; what made a session of its own only loses the outputs.
func (p process) run(ctx context.Context) ran {
	grace := graceTime
	if end, ok := ctx.Deadline(); ok {
		grace = max(min(grace, time.Until(end)/10), time.Millisecond)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-grace))
		defer cancel()
	}
	out, errs := &capped{Bounded: event.Bounded{Max: maxStdout}}, &capped{Bounded: event.Bounded{Max: maxStderr}}
	cmd := exec.CommandContext(ctx, p.path)
	cmd.Args, cmd.Dir, cmd.Env = p.argv, p.dir, p.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(p.stdin), out, errs
	cmd.WaitDelay = grace
	run.Alone(cmd, true, syscall.SIGKILL)
	cancelled := false
	cmd.Cancel = func() error {
		cancelled = true
		return run.Signal(cmd.Process, syscall.SIGTERM)
	}
	err := cmd.Start()
	r := ran{code: -1}
	if err == nil {
		err = cmd.Wait()
		if cancelled || !out.whole || !errs.whole {
			_ = run.Signal(cmd.Process, syscall.SIGKILL) // what is left of the group
		}
		r = ran{stdout: out.String(), stderr: errs.String(), tooMuch: out.Cut, code: cmd.ProcessState.ExitCode()}
	} else {
		cancelled = ctx.Err() != nil
	}
	var exit *exec.ExitError
	switch {
	case cancelled && errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.timedOut, r.err = true, errTimeout
	case cancelled:
		r.err = fmt.Errorf("interrupted: %w", context.Cause(ctx))
	case errors.As(err, &exit) && r.code < 0:
		r.err = fmt.Errorf("ended by a signal: %s", exit.ProcessState)
	case errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay), err == nil: // an exit code is not such an error
	default:
		r.err = fmt.Errorf("running %q: %w", p.argv[0], err)
	}
	return r
}

// errTimeout is what Outcome.Err wraps when TimedOut is set.
var errTimeout = errors.New("no answer in time")

// capped is the beginning of an output: a program that prints a gigabyte and then decides has decided.
type capped struct {
	event.Bounded
	whole bool // the end was reached: no process has the output open
}

// ReadFrom is called by os/exec to copy the output. Only here can an output that ended be told
// from one that was closed by force.
func (c *capped) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(&c.Bounded, r)
	c.whole = err == nil
	return n, err
}

func (c *capped) String() string { return strings.ToValidUTF8(string(c.Kept), "\uFFFD") }
