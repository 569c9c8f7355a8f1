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

	"beckon/event/policy/wire"
)

// maxOutput is how many bytes the trace keeps of what a handler printed.
const maxOutput = 8 << 10

// Command is a handler that runs a command for each event, with the payload on
// stdin and the variables that the manual lists in the environment.
type Command struct {
	// Command is a shell's command line, or, when Args is not nil, a program:
	// a path, or a name looked up on PATH.
	Command string
	// Args not nil makes the exec form: no shell; ${CLAUDE_PROJECT_DIR} is
	// replaced in Command and in each of them.
	Args []string
	// Shell of the shell form: "" is sh (on Windows Git Bash, else
	// PowerShell), or "bash", or "powershell".
	Shell string
	// Simple is the convention by which 0 allows and any other exit code refuses,
	// with stderr as the reason; stdout is for the trace only. By the client's own
	// 0 is fine, with a JSON object on stdout if there is something to say; 2
	// refuses, with stderr as the reason; any other is a failure of the command,
	// unless it printed a JSON object, which then decides.
	Simple bool
	// Env is the environment to add to; nil means this program's own.
	Env []string
	// AtProject: it runs in the project, wherever the agent has gone since, so
	// that the scripts it names are found. Else it runs where the agent works. If
	// that is gone, it is the other of the two, the home directory, the root.
	AtProject bool
	// Timeout bounds one run; 0 leaves it to the context.
	Timeout time.Duration
}

// Run is a Handler.
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

// limited is ctx with a further limit, if there is one.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// read is what the convention makes of how it ended.
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

// byClient is the client's convention.
func (r ran) byClient(event string) wire.Outcome {
	o, found, err := r.answer(event)
	switch {
	case r.code == 2: // refuses even with an answer that cannot be read
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

// answer reads stdout as the client's JSON. Text is not an answer and no error.
func (r ran) answer(event string) (wire.Outcome, bool, error) {
	text := strings.TrimSpace(r.stdout)
	if r.tooMuch && strings.HasPrefix(text, "{") {
		return wire.Outcome{}, true, fmt.Errorf("its answer is larger than %d bytes", maxStdout)
	}
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") || !json.Valid([]byte(text)) { // the client would not try
		return wire.Outcome{}, false, nil
	}
	o, err := wire.ParseAnswer(event, []byte(text))
	return o, true, err
}

// plainIsContext lists the events on which the client takes text on stdout as
// context.
var plainIsContext = map[string]bool{
	"SessionStart": true, "UserPromptSubmit": true, "UserPromptExpansion": true, "PostModelSwitch": true,
}

// failure is an exit code that says nothing but that it went wrong.
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

// words are the program and its arguments.
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

// powershell is the newer one where it is installed.
func powershell() string {
	if _, err := exec.LookPath("pwsh"); err == nil {
		return "pwsh"
	}
	return "powershell"
}

// find returns the program's file. A relative path is one from dir, as a
// shell there would take it.
func find(name, dir string) (string, error) {
	if strings.ContainsRune(filepath.ToSlash(name), '/') && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return exec.LookPath(name)
}

// dir is where the command runs.
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

// output is what the trace keeps: stdout, then stderr.
func (r ran) output() string {
	out, errs := strings.TrimSpace(r.stdout), strings.TrimSpace(r.stderr)
	if out != "" && errs != "" {
		out += "\n"
	}
	return wire.Cut(out+errs, maxOutput)
}
