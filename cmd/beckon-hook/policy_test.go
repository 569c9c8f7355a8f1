package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/state/store"
	"beckon/testdata/need"
)

const (
	forced = `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t1","cwd":"/","tool_input":{"command":"git push -f"}}`
	refuse = `{"hooks":{"PreToolUse":[{"hooks":[{"type":"rule","id":"shared","decision":"deny","reason":"Shared branch.","commands":["git push -f"]}]}]}}`
	answer = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Shared branch. (policy global/shared)"}}` + "\n"
)

// policied returns the environment of a user with a global policy.
func policied(t *testing.T, more ...string) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	env = environ(dir, append(more, "XDG_CONFIG_HOME="+filepath.Join(dir, "etc"))...)
	if err := writeText(filepath.Join(dir, "etc", "beckon", "policy.json"), refuse); err != nil {
		t.Fatal(err)
	}
	return dir, env
}

// answered returns what a hook prints; event may be followed by arguments.
func answered(t *testing.T, path string, env []string, event, payload string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(path, strings.Fields(event)...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, strings.NewReader(payload), &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		t.Fatalf("%v, %q on stderr", err, errs.String())
	}
	return out.String()
}

// With a policy the hook program executes the one that can answer, which reads stdin from its
// beginning, and the session has the event and the decision.
func TestHookAnswersThroughItsSibling(t *testing.T) {
	dir, env := policied(t)
	if got := answered(t, program(t, "beckon-hook"), env, "PreToolUse", forced); got != answer {
		t.Fatalf("got %q", got)
	}
	s, err := store.Open(filepath.Join(dir, "state")).Load("s1")
	if err != nil || s.Seq != 2 || len(s.Main().Calls) != 0 || s.Counts.Tools != 1 {
		t.Errorf("session %+v, %v", s, err)
	}
}

// Exit code 2 reaches the client where it is the answer, though a crash must not end with it:
// an event that is refused in no other way, a wrong command line, a reply.
func TestIntendedExitCodes(t *testing.T) {
	dir, env := policied(t)
	const idle = `{"hooks":{"TeammateIdle":[{"hooks":[{"type":"rule","id":"on","decision":"deny","reason":"Go on."}]}]}}`
	if err := writeText(filepath.Join(dir, "etc", "beckon", "policy.json"), idle); err != nil {
		t.Fatal(err)
	}
	run := func(stdin string, args ...string) (string, int) {
		t.Helper()
		var errs bytes.Buffer
		cmd := exec.Command(program(t, "beckon-hook"), args...)
		cmd.Env, cmd.Stdin, cmd.Stderr = env, strings.NewReader(stdin), &errs
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return errs.String(), cmd.ProcessState.ExitCode()
	}
	for _, known := range []bool{false, true} { // by beckon, and by the hook itself
		if said, code := run(`{"session_id":"s1","hook_event_name":"TeammateIdle","teammate_name":"x"}`, "TeammateIdle"); code != 2 || !strings.Contains(said, "Go on.") {
			t.Errorf("known %v: a refused TeammateIdle: exit code %d, %q", known, code, said)
		}
		earlier := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "etc", "beckon", "policy.json"), earlier, earlier); err != nil {
			t.Fatal(err)
		}
		_, _ = run(`{"session_id":"s1","hook_event_name":"TeammateIdle","teammate_name":"x"}`, "TeammateIdle") // its coverage is stored
	}
	for _, line := range []string{"prompt --nonsense", "prompt --for nowhere", "statusline --nonsense"} {
		if said, code := run("{}", strings.Fields(line)...); code != 2 || said == "" {
			t.Errorf("%s: exit code %d, %q", line, code, said)
		}
	}
}

// Inside a handler rules still apply: the marker does not disable them.
func TestMarkerIsNoWayRound(t *testing.T) {
	_, env := policied(t, "BECKON_POLICY_HANDLER=1")
	if got := answered(t, program(t, "beckon-hook"), env, "PreToolUse", forced); got != answer {
		t.Errorf("got %q", got)
	}
}

// Without its sibling the hook still folds, and tells the user where it can.
func TestHookWithoutItsSibling(t *testing.T) {
	dir, env := policied(t)
	b, err := os.ReadFile(program(t, "beckon-hook"))
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(dir, filepath.Base(program(t, "beckon-hook")))
	if err := os.WriteFile(alone, b, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := answered(t, alone, env, "PreToolUse", forced); got != "" {
		t.Errorf("a tool event says %q", got)
	}
	if got := answered(t, alone, env, "SessionStart", start); !strings.Contains(got, "NOT in force") || !strings.HasPrefix(got, `{"systemMessage":`) {
		t.Errorf("a start says %q", got)
	}
	s, err := store.Open(filepath.Join(dir, "state")).Load("s1")
	if err != nil || s.Seq != 2 {
		t.Errorf("session %+v, %v", s.Seq, err)
	}
	if err := writeText(filepath.Join(dir, "etc", "beckon", "config.json"), `{"notify": ["title"]}`); err != nil {
		t.Fatal(err)
	}
	const prompt = `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"x"}`
	var said struct{ SystemMessage, TerminalSequence string }
	if got := answered(t, alone, env, "UserPromptSubmit", prompt); json.Unmarshal([]byte(got), &said) != nil || said.SystemMessage == "" || said.TerminalSequence == "" {
		t.Errorf("a prompt says %q, which is not one object with both", got)
	}
}

// A project's policy is found through the project that the client names.
func TestProjectPolicyIsFound(t *testing.T) {
	dir := t.TempDir()
	if err := writeText(filepath.Join(dir, "p", ".beckon", "policy.json"), refuse); err != nil {
		t.Fatal(err)
	}
	env := environ(dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "etc"), "CLAUDE_PROJECT_DIR="+filepath.Join(dir, "p"))
	got := answered(t, program(t, "beckon-hook"), env, "UserPromptSubmit", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"x"}`)
	if !strings.Contains(got, "is not in force until you trust it") {
		t.Errorf("got %q", got)
	}
}

// Whatever prevents access to the policy's own files, the hook answers.
func TestPolicyWithoutAStateDirectory(t *testing.T) {
	dir, env := policied(t)
	if err := writeText(filepath.Join(dir, "state"), ""); err != nil {
		t.Fatal(err)
	}
	if got := answered(t, program(t, "beckon-hook"), env, "PreToolUse", forced); got != answer {
		t.Errorf("got %q", got)
	}
}

// standIn writes a script with the size and time of a program.
func standIn(of, to, script string) error {
	info, err := os.Stat(of)
	if err != nil {
		return err
	}
	text := script + strings.Repeat("#", int(info.Size())-len(script))
	return errors.Join(os.WriteFile(to, []byte(text), 0o700), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// The hook itself handles an event that the policy does not cover, once that is known, and
// notices changes of the policy.
func TestUnspokenEventStaysHere(t *testing.T) {
	dir, env := policied(t)
	project := filepath.Join(dir, "p")
	env = append(env, "CLAUDE_PROJECT_DIR="+project)
	file := filepath.Join(dir, "etc", "beckon", "policy.json")
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	// A copy of the program, next to a stand-in for its sibling that reports that it was
	// asked. It has the sibling's size and time, since another build would have to determine
	// the coverage again.
	bin := t.TempDir()
	b, err := os.ReadFile(program(t, "beckon-hook"))
	if err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(bin, "beckon-hook")
	if err := errors.Join(os.WriteFile(here, b, 0o700), standIn(program(t, "beckon"), filepath.Join(bin, "beckon"), "#!/bin/sh\ncat >/dev/null\necho asked\nexit\n")); err != nil {
		t.Fatal(err)
	}
	const stop = `{"session_id":"s1","hook_event_name":"Stop"}`
	asked := func(why, event, payload string, want bool) {
		t.Helper()
		if got := answered(t, here, env, event, payload) != ""; got != want { // by the stand-in, or by the hook itself
			t.Errorf("%s: asked is %v", why, got)
		}
	}
	sibling, aside := filepath.Join(bin, "beckon"), filepath.Join(bin, "aside")
	learn := func() { // the coverage is stored for programs at one place
		t.Helper()
		err := errors.Join(os.Rename(sibling, aside), os.Link(program(t, "beckon"), sibling))
		answered(t, here, env, "PreToolUse", forced)
		if err := errors.Join(err, os.Rename(aside, sibling)); err != nil {
			t.Fatal(err)
		}
	}

	asked("nothing is known yet", "Stop", stop, true)
	learn()
	asked("the policy is silent on Stop", "Stop", stop, false)
	asked("it speaks of PreToolUse", "PreToolUse", forced, true)
	asked("the event is not named", "", stop, true)

	s, err := store.Open(filepath.Join(dir, "state")).Load("s1")
	if err != nil || s.Main().Ended == 0 {
		t.Errorf("the silent event was not folded: %+v, %v", s.Main(), err)
	}

	if err := writeText(file, strings.NewReplacer("PreToolUse", "Stop", `,"commands":["git push -f"]`, "").Replace(refuse)); err != nil {
		t.Fatal(err)
	}
	asked("the policy is another", "Stop", stop, true)
	learn()
	asked("it has changed a moment ago", "UserPromptSubmit", start, true)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	learn()
	asked("it speaks of Stop now", "Stop", stop, true)
	asked("and not of Notification", "Notification", `{"session_id":"s1","hook_event_name":"Notification"}`, false)

	if err := writeText(filepath.Join(project, ".beckon", "policy.json"), refuse); err != nil {
		t.Fatal(err)
	}
	asked("the project has a policy", "SessionEnd", `{"session_id":"s1","hook_event_name":"SessionEnd"}`, true)
	learn()
	asked("which the user must be told of", "SessionEnd", `{"session_id":"s1","hook_event_name":"SessionEnd"}`, true)
}

// settled makes the policy old enough for its coverage to be stored, and has it stored.
func settled(t *testing.T, dir string, env []string) {
	t.Helper()
	earlier := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "etc", "beckon", "policy.json"), earlier, earlier); err != nil {
		t.Fatal(err)
	}
	answered(t, program(t, "beckon-hook"), env, "PreToolUse", forced)
}

// A call to which no rule can apply is only folded: no other program is started. A call to
// which one may apply is passed on whole, in whatever form it comes.
func TestQuietCallsStartNothing(t *testing.T) {
	dir, env := policied(t)
	hook := program(t, "beckon-hook")
	settled(t, dir, env)
	call := func(command string) string { return strings.Replace(forced, "git push -f", command, 1) }
	if got := answered(t, hook, env, "PreToolUse", call("npm test")); got != "" {
		t.Errorf("a quiet call: %q", got)
	}
	s, err := store.Open(filepath.Join(dir, "state")).Load("s1")
	if err != nil || s.Counts.Tools != 2 {
		t.Errorf("the session has %d calls, %v", s.Counts.Tools, err)
	}
	for name, payload := range map[string]string{"small": forced, "large": call("git push -f # " + strings.Repeat("x", 100_000)), "escaped": call(`g\u0069t push -f`)} {
		if got := answered(t, hook, env, "PreToolUse", payload); got != answer {
			t.Errorf("%s: %q", name, got)
		}
	}
	var out bytes.Buffer
	cmd := exec.Command(hook, "PreToolUse")
	cmd.Env, cmd.Stdout = env, &out
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{forced[:40], forced[40:]} {
		time.Sleep(300 * time.Millisecond) // longer than the hook looks
		if _, err := in.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil || out.String() != answer {
		t.Errorf("in parts: %q, %v", out.String(), err)
	}
}

// Another agent's call is read as the rules would read it: of two members with one name the
// last counts.
func TestOtherAgentsHideNothing(t *testing.T) {
	dir, env := policied(t)
	hook := program(t, "beckon-hook")
	settled(t, dir, env)
	input := `"tool_input":{"command":"git push -f"}`
	if !strings.Contains(forced, input) {
		t.Fatal(forced)
	}
	payload := strings.Replace(forced, input, `"tool_input":{"command":"npm test","command":"git push -f"}`, 1)
	for _, agent := range []string{"codex", "codex-cli", "qwen"} {
		if got := answered(t, hook, env, "PreToolUse --agent "+agent, payload); !strings.Contains(got, `"permissionDecision":"deny"`) {
			t.Errorf("%s: %q", agent, got)
		}
	}
}

// Nothing else is started: where the other programs are away a quiet call is
// folded all the same, and the policy's programs are not missed.
func TestQuietCallsNeedNoSibling(t *testing.T) {
	dir, env := policied(t)
	settled(t, dir, env)
	need.Program(t, "strace")
	quiet := strings.Replace(forced, "git push -f", "npm test", 1)
	for args, payload := range map[string]string{
		"PreToolUse": quiet, "PreToolUse --agent codex": quiet, "BeforeTool --agent gemini": strings.NewReplacer("PreToolUse", "BeforeTool", `"Bash"`, `"run_shell_command"`).Replace(quiet),
	} {
		answered(t, program(t, "beckon-hook"), env, args, payload) // another agent's project is that of this directory, and not known yet
		trace := filepath.Join(dir, "trace")
		cmd := exec.Command("strace", append([]string{"-f", "-e", "trace=execve", "-o", trace, program(t, "beckon-hook")}, strings.Fields(args)...)...)
		cmd.Env, cmd.Stdin = env, strings.NewReader(payload)
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(trace)
		if n := strings.Count(string(text), "execve("); err != nil || n != 1 {
			t.Errorf("%s: %d programs ran, %v:\n%s", args, n, err, text)
		}
	}
}

// The user is told once of what is wrong with a policy, on a file system without hard links, too.
func TestNoticeWithoutHardLinks(t *testing.T) {
	dir, env := policied(t)
	if err := writeText(filepath.Join(dir, "etc", "beckon", "policy.json"), "{"); err != nil {
		t.Fatal(err)
	}
	args := "-f -qq -o /dev/null -e inject=?link,linkat:error=EPERM " + program(t, "beckon-hook") + " PreToolUse"
	for i, want := range []int{1, 0} {
		got := answered(t, need.Program(t, "strace"), env, args, forced)
		if strings.Count(got, "NOTHING of it is in force") != want {
			t.Errorf("hook %d: %q", i+1, got)
		}
	}
}
