//go:build unix

package run

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event/policy/config"
	"beckon/event/policy/wire"
)

func runCommand(t *testing.T, cfg handler, c wire.Call) wire.Outcome {
	t.Helper()
	h := cfg
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return h.Run(ctx, c)
}

func TestCommandByTheClientsConvention(t *testing.T) {
	pre := bashCall("ls")
	stop := eventCall("Stop", map[string]any{"stop_hook_active": false})
	prompt := eventCall("UserPromptSubmit", map[string]any{"prompt": "hello"})
	for name, test := range map[string]struct {
		call   wire.Call
		script string
		want   wire.Outcome // Decision, Reason, Context, System, UpdatedInput, ExitCode
		err    string
	}{
		"silence":                    {call: pre, script: "exit 0"},
		"text before a tool":         {call: pre, script: "echo hello"},
		"text at a prompt":           {call: prompt, script: "echo hello", want: wire.Outcome{Context: "hello"}},
		"exit 2 before a tool":       {call: pre, script: "echo no >&2; exit 2", want: wire.Outcome{Decision: wire.Deny, Reason: "no", ExitCode: 2}},
		"exit 2 at a stop":           {call: stop, script: "echo go on >&2; exit 2", want: wire.Outcome{Decision: wire.Deny, Reason: "go on", ExitCode: 2}},
		"exit 1":                     {call: pre, script: "echo oops >&2; exit 1", want: wire.Outcome{ExitCode: 1}, err: "exit code 1: oops"},
		"exit 1 with escapes":        {call: pre, script: `printf '\033[31mred\n' >&2; exit 1`, want: wire.Outcome{ExitCode: 1}, err: "exit code 1: red"},
		"deny":                       {call: pre, script: hso(`"permissionDecision":"deny","permissionDecisionReason":"not here"`), want: wire.Outcome{Decision: wire.Deny, Reason: "not here"}},
		"ask":                        {call: pre, script: hso(`"permissionDecision":"ask","permissionDecisionReason":"sure?"`), want: wire.Outcome{Decision: wire.Ask, Reason: "sure?"}},
		"allow, exit 1":              {call: pre, script: hso(`"permissionDecision":"allow"`) + "; exit 1", want: wire.Outcome{Decision: wire.Allow, ExitCode: 1}},
		"allow, exit 2":              {call: pre, script: hso(`"permissionDecision":"allow"`) + "; echo no >&2; exit 2", want: wire.Outcome{Decision: wire.Deny, Reason: "no", ExitCode: 2}},
		"deny with a reason, exit 2": {call: pre, script: hso(`"permissionDecision":"deny","permissionDecisionReason":"a"`) + "; echo b >&2; exit 2", want: wire.Outcome{Decision: wire.Deny, Reason: "a", ExitCode: 2}},
		"bad schema, exit 2":         {call: pre, script: `echo '{"decision":7}'; echo no >&2; exit 2`, want: wire.Outcome{Decision: wire.Deny, Reason: "no", ExitCode: 2}},
		"bad schema, exit 0":         {call: pre, script: `echo '{"decision":7}'`, err: "decision is a number and not a string"},
		"another event's name":       {call: stop, script: hso(`"additionalContext":"x"`), err: "hookEventName"},
		"defer":                      {call: pre, script: hso(`"permissionDecision":"defer"`)},
		"rewrite":                    {call: pre, script: hso(`"updatedInput":{"command":"ls -l"}`), want: wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"command":"ls -l"}`)}},
		"rewrite and ask":            {call: pre, script: hso(`"permissionDecision":"ask","updatedInput":{"command":"x"}`), want: wire.Outcome{Decision: wire.Ask, UpdatedInput: []byte(`{"command":"x"}`)}},
		"context and a message":      {call: pre, script: `echo '{"systemMessage":"for you","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"for it"}}'`, want: wire.Outcome{Context: "for it", System: "for you"}},
		"block at a stop":            {call: stop, script: `echo '{"decision":"block","reason":"tests"}'`, want: wire.Outcome{Decision: wire.Deny, Reason: "tests"}},
		"twice the same member":      {call: stop, script: `echo '{"decision":"block","decision":"block"}'`, err: `member "decision" twice`},
		"garbage":                    {call: pre, script: `printf '{"decision": \377\000'`},
		"two objects":                {call: pre, script: `echo '{"decision":"block"}{}'`},
		"an array":                   {call: pre, script: `echo '["block"]'`},
	} {
		t.Run(name, func(t *testing.T) {
			o := runCommand(t, commandOf(config.Spec{Command: test.script}), test.call)
			if (o.Err == nil) != (test.err == "") || o.Err != nil && !strings.Contains(o.Err.Error(), test.err) {
				t.Fatalf("error %v, want %q", o.Err, test.err)
			}
			w := test.want
			if o.Decision != w.Decision || o.Reason != w.Reason || o.Context != w.Context || o.System != w.System ||
				string(o.UpdatedInput) != string(w.UpdatedInput) || o.ExitCode != w.ExitCode {
				t.Errorf("got %+v, want %+v", o, w)
			}
			if o.Attempts != 1 {
				t.Errorf("attempts %d", o.Attempts)
			}
		})
	}
}

func hso(members string) string {
	return `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + members + `}}'`
}

func TestCommandByThetrue(t *testing.T) {
	for script, want := range map[string]wire.Outcome{
		"exit 0":                          {Decision: wire.Allow},
		"echo '{\"decision\":\"block\"}'": {Decision: wire.Allow},
		"echo no >&2; exit 1":             {Decision: wire.Deny, Reason: "no", ExitCode: 1},
		"echo no >&2; exit 2":             {Decision: wire.Deny, Reason: "no", ExitCode: 2},
		"echo seen; exit 1":               {Decision: wire.Deny, ExitCode: 1},
		"echo '  why  \n' >&2; exit 200":  {Decision: wire.Deny, Reason: "why", ExitCode: 200},
		"/does/not/exist 2>/dev/null":     {Decision: wire.Deny, ExitCode: 127},
	} {
		o := runCommand(t, commandOf(config.Spec{Command: script, Convention: config.Simple}), bashCall("ls"))
		if o.Err != nil || o.Decision != want.Decision || o.Reason != want.Reason || o.ExitCode != want.ExitCode {
			t.Errorf("%s: got %+v, want %+v", script, o, want)
		}
	}
}

func TestCommandVariablesAndStdin(t *testing.T) {
	t.Setenv("FILE_PATH", "from the caller")
	t.Setenv("TOOL_INPUT_TRUNCATED", "1")
	dir := t.TempDir()
	c := bashCall(`rm -rf "$HOME"; $(id)`)
	c.Cwd, c.ProjectDir = dir, "/proj"
	script := `cat > stdin; printf '%s|' "$HOOK_EVENT" "$TOOL_NAME" "$TOOL_INPUT" "$SESSION_ID" "${FILE_PATH-unset}" "$COMMAND" "$PROJECT_DIR" "$CLAUDE_PROJECT_DIR" "${TOOL_INPUT_TRUNCATED-unset}" > env`
	if o := runCommand(t, commandOf(config.Spec{Command: script}), c); o.Err != nil {
		t.Fatal(o.Err)
	}
	want := strings.Join([]string{"PreToolUse", "Bash", string(c.ToolInput), "s-1", "unset", `rm -rf "$HOME"; $(id)`, "/proj", "/proj", "unset", ""}, "|")
	if got, _ := os.ReadFile(filepath.Join(dir, "env")); string(got) != want {
		t.Errorf("environment\n%s\nwant\n%s", got, want)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "stdin")); string(got) != string(c.Payload) {
		t.Errorf("stdin %q", got)
	}
}

func filePath(c wire.Call) string { return variables(c)["FILE_PATH"] }

func TestCommandFilePath(t *testing.T) {
	for input, want := range map[string]string{
		`{"file_path":"/a/b c.go"}`:       "/a/b c.go",
		`{"notebook_path":"/n.ipynb"}`:    "/n.ipynb",
		`{"path":"/dir","pattern":"x"}`:   "/dir",
		`{"file_path":7}`:                 "",
		`{"command":"cat /etc/passwd"}`:   "",
		`{"file_path":"tab\u0009\u0000"}`: "tab\t\x00",
	} {
		if got := filePath(wire.Call{ToolInput: []byte(input), Payload: []byte(`{}`)}); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
	if got := filePath(wire.Call{Payload: []byte(`{"file_path":"/w"}`)}); got != "/w" {
		t.Errorf("FileChanged: %q", got)
	}
}

// A value over 128 KiB, or with a NUL, would keep the program from starting: an agent could
// disable the policy by a long command.
func TestCommandValueTooLargeForTheEnvironment(t *testing.T) {
	long := strings.Repeat("é", maxEnv) + "\x00; rm -rf /"
	o := runCommand(t, commandOf(config.Spec{
		Command: `echo ${#TOOL_INPUT} $TOOL_INPUT_TRUNCATED $COMMAND_TRUNCATED >&2; wc -c >&2; exit 2`,
	}, append(os.Environ(), "LC_ALL=C")...), bashCall(long))
	c := bashCall(long)
	lines := strings.Fields(o.Reason)
	if o.Err != nil || o.Decision != wire.Deny || len(lines) != 4 || lines[1] != "1" || lines[2] != "1" {
		t.Fatalf("got %+v", o)
	}
	if want := len(c.Payload); lines[3] != jsonNumber(want) {
		t.Errorf("stdin had %s bytes, want %d", lines[3], want)
	}
	o = runCommand(t, commandOf(config.Spec{Command: `printf %s "$COMMAND" >&2; exit 2`}), bashCall("a\x00b"))
	if o.Decision != wire.Deny || o.Reason != "ab" {
		t.Errorf("a NUL: %+v", o)
	}
}

func jsonNumber(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestCommandExecForm(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "say it")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nprintf '%s|' \"$@\" >&2\nexit 2\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := bashCall("ls")
	c.ProjectDir, c.Cwd = dir, dir
	for _, cfg := range []config.Spec{
		{Command: "${CLAUDE_PROJECT_DIR}/say it", Args: []string{"${CLAUDE_PROJECT_DIR}", "$HOME `id`"}},
		{Command: "./say it", Args: []string{dir, "$HOME `id`"}},
	} {
		o := runCommand(t, commandOf(cfg), c)
		if want := dir + "|$HOME `id`|"; o.Err != nil || o.Reason != want {
			t.Errorf("%+v: reason %q, error %v, want %q", cfg, o.Reason, o.Err, want)
		}
	}
	o := runCommand(t, commandOf(config.Spec{Command: "true", Args: []string{}}), c)
	if o.Err != nil || o.ExitCode != 0 {
		t.Errorf("a name on PATH: %+v", o)
	}
}

func TestCommandRunsWhereItCan(t *testing.T) {
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	c := bashCall("ls")
	c.Cwd, c.ProjectDir = filepath.Join(dir, "gone"), dir
	if o := runCommand(t, commandOf(config.Spec{Command: "pwd -P"}), c); o.Err != nil || o.Output != dir {
		t.Errorf("ran in %q, error %v, want %q", o.Output, o.Err, dir)
	}
}
