package run

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/wire"
)

// maxOutput is how many bytes of a handler's output the trace keeps.
const maxOutput = 8 << 10

// Command is a handler that runs a command for each event, with the payload on stdin and the
// variables that the manual lists in the environment.
type Command struct {
	// Command is a shell command line, or, if Args is not nil, a program: a path, or a name
	// looked up on PATH.
	Command string
	// Args, if not nil, selects the exec form: no shell; ${CLAUDE_PROJECT_DIR} is replaced in
	// Command and in each argument.
	Args []string
	// Shell of the shell form: "" is sh (on Windows Git Bash, else
	// PowerShell), or "bash", or "powershell".
	Shell string
	// Simple is the convention in which 0 allows and any other exit code refuses, with stderr
	// as the reason; stdout is only for the trace. In the client's own convention 0 succeeds,
	// with an optional JSON object on stdout; 2 refuses, with stderr as the reason; any other
	// code is a failure of the command, unless it printed a JSON object, which then decides.
	Simple bool
	// Env is the environment to add to; nil means this program's own.
	Env []string
	// AtProject: it runs in the project, wherever the agent has gone since, so that its
	// scripts are found. Otherwise it runs where the agent works. If that directory is gone,
	// it runs in the other of the two, the home directory or the root.
	AtProject bool
	// Timeout bounds one run; 0 leaves it to the context.
	Timeout time.Duration
}

// Run implements wire.Handler.
func (h Command) Run(ctx context.Context, c wire.Call) wire.Outcome {
	start := time.Now()
	ctx, cancel := limited(ctx, h.Timeout)
	defer cancel()
	p, err := h.process(c)
	if err != nil {
		return wire.Outcome{ExitCode: -1, Attempts: 1, Took: time.Since(start), Err: err}
	}
	r := p.run(ctx)
	o := h.read(c.Event, r)
	o.Output, o.ExitCode, o.TimedOut = r.output(), r.code, r.timedOut
	o.Attempts, o.Took = 1, time.Since(start)
	return o
}

// limited returns ctx with a further timeout, if d is not 0.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// read interprets how the process ended, by its convention.
func (h Command) read(event string, r ran) wire.Outcome {
	switch {
	case r.err != nil:
		return wire.Outcome{Err: r.err}
	case h.Simple && r.code == 0:
		return wire.Outcome{Decision: wire.Allow}
	case h.Simple:
		return wire.Outcome{Decision: wire.Refusal(event), Reason: wire.Reason(r.stderr)}
	}
	return r.byClient(event)
}

// byClient interprets it by the client's convention.
func (r ran) byClient(event string) wire.Outcome {
	o, found, err := r.answer(event)
	switch {
	case r.code == 2: // refuses even with an invalid answer
		refuse := wire.Outcome{Decision: wire.Refusal(event), Reason: wire.Reason(r.stderr)}
		if found && err == nil {
			refuse.Context, refuse.System, refuse.Raw = o.Context, o.System, o.Raw
			if o.Decision == refuse.Decision && o.Reason != "" {
				refuse.Reason = o.Reason
			}
		}
		return refuse
	case err != nil:
		return wire.Outcome{Err: err}
	case found:
		return o
	case r.code != 0:
		return wire.Outcome{Err: failure(r)}
	case plainIsContext[event]:
		return wire.Outcome{Context: strings.TrimSpace(r.stdout)}
	}
	return wire.Outcome{}
}

// answer parses stdout as the client's JSON. Other text is neither an answer nor an error.
func (r ran) answer(event string) (wire.Outcome, bool, error) {
	text := strings.TrimSpace(r.stdout)
	if r.tooMuch && strings.HasPrefix(text, "{") {
		return wire.Outcome{}, true, fmt.Errorf("its answer is larger than %d bytes", maxStdout)
	}
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") || !json.Valid([]byte(text)) {
		return wire.Outcome{}, false, nil // the client does not parse it either
	}
	o, err := wire.ParseAnswer(event, []byte(text))
	return o, true, err
}

// plainIsContext lists the events on which the client takes text on stdout as
// context.
var plainIsContext = map[string]bool{
	"SessionStart": true, "UserPromptSubmit": true, "UserPromptExpansion": true, "PostModelSwitch": true,
}

// failure returns the error for an exit code that only means failure.
func failure(r ran) error {
	line, _, _ := strings.Cut(strings.TrimSpace(r.stderr), "\n")
	if line == "" {
		return fmt.Errorf("exit code %d", r.code)
	}
	return fmt.Errorf("exit code %d: %s", r.code, wire.Printable(line, 200))
}

// process prepares one run.
func (h Command) process(c wire.Call) (process, error) {
	if c.Dir != "" {
		c.Cwd, c.ProjectDir = c.Dir, c.Dir
	}
	p := process{dir: h.dir(c), env: environment(h.Env, c), stdin: c.Payload}
	name, args := h.words(c.ProjectDir)
	path, err := find(name, p.dir)
	if err != nil {
		return p, fmt.Errorf("finding %q: %w", name, cause(err))
	}
	p.path, p.argv = path, append([]string{name}, args...)
	return p, nil
}

// words returns the program and its arguments.
func (h Command) words(project string) (string, []string) {
	if h.Args == nil {
		return shell(h.Shell, h.Command)
	}
	fill := func(s string) string { return strings.ReplaceAll(s, "${CLAUDE_PROJECT_DIR}", project) }
	args := make([]string, len(h.Args))
	for i, a := range h.Args {
		args[i] = fill(a)
	}
	return fill(h.Command), args
}

// powershell returns the newer one if it is installed.
func powershell() string {
	if _, err := exec.LookPath("pwsh"); err == nil {
		return "pwsh"
	}
	return "powershell"
}

// find returns the program's file. A relative path starts at dir, as in a shell there.
func find(name, dir string) (string, error) {
	if strings.ContainsRune(filepath.ToSlash(name), '/') && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return exec.LookPath(name)
}

// dir returns where the command runs.
func (h Command) dir(c wire.Call) string {
	home, _ := os.UserHomeDir()
	places := []string{c.Cwd, c.ProjectDir, home}
	if h.AtProject {
		places[0], places[1] = places[1], places[0]
	}
	for _, d := range places {
		if info, err := os.Stat(d); err == nil && info.IsDir() {
			return d
		}
	}
	return string(filepath.Separator)
}

// output returns what the trace keeps: stdout, then stderr.
func (r ran) output() string {
	out, errs := strings.TrimSpace(r.stdout), strings.TrimSpace(r.stderr)
	if out != "" && errs != "" {
		out += "\n"
	}
	return event.Cut(out+errs, maxOutput)
}
