// Package run starts what a policy names: a command, a policy server, a native http hook, a question to a
// model. Each gets one event and returns its answer.
//
// A handler guarantees: it returns soon after its context ends, and leaves no process, descriptor or
// goroutine behind; what it reads is bounded; nothing it runs can write to this program's own
// output; and an answer that it does not understand is an error, never a decision.
package run

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/event/run"

	"github.com/tidwall/gjson"
)

// Starter lets cmd/internal/hook, which does not link this package, start handlers.
type Starter struct{}

// Start returns what runs hooks, in env. state stores which servers are down; with "" the caller must have passed env
// through Inside.
func (Starter) Start(env []string, state trust.Dir) config.Start {
	inside := sync.OnceValue(func() []string {
		if state == "" {
			return env
		}
		return Inside(env, state)
	})
	return func(ctx context.Context, h *config.Hook, c wire.Call) (o wire.Outcome) {
		if h.Type != config.Server { // which may take as long for each try
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, cmp.Or(h.Timeout, wire.Deadline))
			defer cancel()
		}
		switch h.Type {
		case config.Command:
			o = command{h, inside()}.ask(ctx, c)
		case config.Prompt:
			o = Prompt{h, inside(), "claude"}.Ask(ctx, c)
		default:
			o = newRemote(h, state).ask(ctx, c)
		}
		o.Output = event.Cut(strings.ToValidUTF8(strings.TrimSpace(o.Output), "\uFFFD"), maxOutput)
		o.TimedOut = errors.Is(o.Err, errTimeout)
		return o
	}
}

// Marker is set in the environment of everything that a policy starts. A process that sees it may
// evaluate rules, but not start a handler: an agent that judges an agent would never end.
const Marker = "BECKON_POLICY_HANDLER"

// markerFile contains the marker's value, which nobody can guess: a project's settings can set variables,
// and must not disable the user's handlers with one.
const markerFile = "marker"

// Inside returns env with the marker.
func Inside(env []string, d trust.Dir) []string {
	return append(env[:len(env):len(env)], Marker+"="+marker(d))
}

// Inside reports whether one of this user's policies started this process.
func (Starter) Inside(getenv func(string) string, d trust.Dir) bool {
	value := getenv(Marker)
	return value != "" && value == marker(d)
}

// marker returns the stored value, and creates it if there is none.
func marker(d trust.Dir) string {
	value := d.Read(markerFile)
	if len(value) == 0 && d.Write([]byte(rand.Text()), markerFile) == nil {
		value = d.Read(markerFile) // another process may have replaced it
	}
	return cmp.Or(string(value), trust.Sum("marker of " + string(d))[:32])
}

// maxEnv is the size limit of one environment variable, including name and closing NUL: Linux refuses
// to start a program with a longer one (MAX_ARG_STRLEN); on Windows it is 32,767 characters.
var maxEnv = map[bool]int{false: 128 << 10, true: 32 << 10}[runtime.GOOS == "windows"]

// maxOutput is how many bytes of a handler's output the trace keeps.
const maxOutput = 8 << 10

// command is a handler that runs a command for each event, with the payload on stdin. With arguments it is a program,
// and ${CLAUDE_PROJECT_DIR} is replaced in all of them; else a shell's line.
type command struct {
	*config.Hook
	env []string // to add to
}

func (h command) ask(ctx context.Context, c wire.Call) wire.Outcome {
	if c.Dir != "" {
		c.Cwd, c.ProjectDir = c.Dir, c.Dir
	}
	p := process{dir: h.dir(c), env: environment(h.env, c), stdin: c.Payload, argv: h.Texts()}
	for i, word := range p.argv {
		p.argv[i] = strings.ReplaceAll(word, "${CLAUDE_PROJECT_DIR}", c.ProjectDir)
	}
	if h.Spec.Args == nil {
		p.argv = run.Shell(h.Spec.Shell, h.Spec.Command)
	}
	r := p.run(ctx)
	o := h.read(c.Event, r)
	o.Output, o.ExitCode, o.Attempts = strings.TrimSpace(r.stdout)+"\n"+r.stderr, r.code, 1
	return o
}

// plainIsContext lists the events on which the client takes text on stdout as context.
const plainIsContext = " SessionStart UserPromptSubmit UserPromptExpansion PostModelSwitch "

// read interprets how the process ended, by its convention.
func (h command) read(k event.Kind, r ran) wire.Outcome {
	refuse := wire.Outcome{Decision: wire.Deny, Reason: wire.Reason(r.stderr)}
	simple := h.Spec.Convention == config.Simple
	switch {
	case r.err != nil:
		return wire.Outcome{Err: r.err}
	case simple && r.code == 0:
		return wire.Outcome{Decision: wire.Allow}
	case simple:
		return refuse
	}
	o, found, err := r.answer(k)
	switch {
	case r.code == 2: // refuses even with an invalid answer
		if found && err == nil {
			refuse.Context, refuse.System, refuse.Raw = o.Context, o.System, o.Raw
			if o.Decision == refuse.Decision && o.Reason != "" {
				refuse.Reason = o.Reason
			}
		}
		return refuse
	case err != nil:
		return wire.Outcome{Err: err}
	case !found && r.code != 0:
		return wire.Outcome{Err: r.failure()}
	case !found && strings.Contains(plainIsContext, " "+string(k)+" "):
		return wire.Outcome{Context: strings.TrimSpace(r.stdout)}
	}
	return o
}

// answer parses stdout as the client's JSON. Other text is neither an answer nor an error.
func (r ran) answer(k event.Kind) (o wire.Outcome, found bool, err error) {
	text := strings.TrimSpace(r.stdout)
	if r.tooMuch && strings.HasPrefix(text, "{") {
		return o, true, fmt.Errorf("its answer is larger than %d bytes", maxStdout)
	}
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return o, false, nil // the client does not parse it either
	}
	o, err = wire.ParseAnswer(k, []byte(text))
	return o, true, err
}

// failure returns the error for an exit code that only means failure.
func (r ran) failure() error {
	line, _, _ := strings.Cut(strings.TrimSpace(r.stderr), "\n")
	if line == "" {
		return fmt.Errorf("exit code %d", r.code)
	}
	return fmt.Errorf("exit code %d: %s", r.code, event.OneLine(line, 200))
}

// dir returns where the command runs.
func (h command) dir(c wire.Call) string {
	home, _ := os.UserHomeDir()
	places := []string{c.Cwd, c.ProjectDir, home}
	if h.Level == config.Project {
		places[0], places[1] = places[1], places[0]
	}
	for _, d := range places {
		if info, err := os.Stat(d); err == nil && info.IsDir() {
			return d
		}
	}
	return string(filepath.Separator)
}

// variables returns the values of a call; empty ones keep those of the caller's environment away.
func variables(c wire.Call) map[string]string {
	in := func(name string) string { return gjson.GetBytes(c.ToolInput, name).Str } // empty if it is no text
	file := cmp.Or(in("file_path"), in("notebook_path"), in("path"), gjson.GetBytes(c.Payload, "file_path").Str)
	return map[string]string{
		"HOOK_EVENT":  string(c.Event),
		"TOOL_NAME":   c.ToolName,
		"TOOL_INPUT":  string(c.ToolInput),
		"SESSION_ID":  c.SessionID,
		"FILE_PATH":   file,
		"COMMAND":     in("command"),
		"PROJECT_DIR": c.ProjectDir,
	}
}

// environment returns base with the call's variables. A value that would not fit is cut, and NAME_TRUNCATED=1
// says so; stdin has all of it. The values are the agent's text: nothing here puts them into a command line.
func environment(base []string, c wire.Call) []string {
	ours, set := map[string]bool{}, []string{}
	values := variables(c)
	if c.ProjectDir != "" {
		values["CLAUDE_PROJECT_DIR"] = c.ProjectDir
	}
	for name, value := range values {
		ours[name], ours[name+"_TRUNCATED"] = true, true
		value = strings.ReplaceAll(value, "\x00", "") // no program starts with one in its environment
		if room := maxEnv - len(name) - len("=\x00"); len(value) > room {
			value = event.Cut(value, room)
			set = append(set, name+"_TRUNCATED=1")
		}
		if value != "" {
			set = append(set, name+"="+value)
		}
	}
	return append(without(base, ours), set...)
}

// without returns env without the named variables.
func without(env []string, names map[string]bool) []string {
	kept := make([]string, 0, len(env))
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if !names[name] {
			kept = append(kept, e)
		}
	}
	return kept
}

const (
	maxStdout = 1 << 20         // 1 MiB: what a command may print and still be understood
	maxStderr = 64 << 10        // 64 KiB: the reason of a refusal, and the trace
	graceTime = time.Second / 2 // between TERM and KILL
)

// process is one run of a program in a session and process group of its own.
type process struct {
	argv  []string // a program on PATH, or a file, which may be relative to dir; and its arguments
	dir   string
	env   []string
	stdin []byte
}

// ran is how a process ended.
type ran struct {
	stdout, stderr string // valid UTF-8, cut at maxStdout and maxStderr
	tooMuch        bool   // stdout was cut
	code           int    // -1 when a signal ended it
	err            error  // it did not start, did not end, or a signal ended it
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
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(p.stdin), out, errs
	cmd.WaitDelay = grace
	run.Alone(cmd, true, syscall.SIGKILL)
	cancelled := false
	cmd.Cancel = func() error {
		cancelled = true
		return run.Signal(cmd.Process, syscall.SIGTERM)
	}
	err := cmd.Run()
	if cmd.Process == nil {
		cancelled = ctx.Err() != nil
	} else if cancelled || !out.whole || !errs.whole {
		_ = run.Signal(cmd.Process, syscall.SIGKILL) // what is left of the group
	}
	r := ran{stdout: out.String(), stderr: errs.String(), tooMuch: out.Cut, code: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	switch {
	case cancelled && errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.err = errTimeout
	case cancelled:
		r.err = fmt.Errorf("interrupted: %w", context.Cause(ctx))
	case errors.As(err, &exit): // an exit code is not such an error
		if r.code < 0 {
			r.err = fmt.Errorf("ended by a signal: %s", exit.ProcessState)
		}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		r.err = fmt.Errorf("running %q: %w", p.argv[0], err)
	}
	return r
}

// errTimeout is the error of a handler that had no more time.
var errTimeout = errors.New("no answer in time")

// capped is the beginning of an output: a program that prints a gigabyte and then decides has decided.
type capped struct {
	event.Bounded
	whole bool // the end was reached: no process has the output open
}

// ReadFrom is called by os/exec: only here an output that ended differs from one that was closed by force.
func (c *capped) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(&c.Bounded, r)
	c.whole = err == nil
	return n, err
}

func (c *capped) String() string { return strings.ToValidUTF8(string(c.Kept), "\uFFFD") }
