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
)

const (
	forced = `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t1","cwd":"/","tool_input":{"command":"git push -f"}}`
	refuse = `{"hooks":{"PreToolUse":[{"hooks":[{"type":"rule","id":"shared","decision":"deny","reason":"Shared branch.","commands":["git push -f"]}]}]}}`
	answer = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Shared branch. (policy global/shared)"}}` + "\n"
)

// policied is the environment of a user with a global policy.
func policied(t *testing.T, more ...string) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	env = environ(dir, append(more, "XDG_CONFIG_HOME="+filepath.Join(dir, "etc"))...)
	if err := writeText(filepath.Join(dir, "etc", "beckon", "policy.json"), refuse); err != nil {
		t.Fatal(err)
	}
	return dir, env
}

func answered(t *testing.T, path string, env []string, event, payload string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(path, event)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, strings.NewReader(payload), &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		t.Fatalf("%v, %q on stderr", err, errs.String())
	}
	return out.String()
}

// With a policy the hook program becomes the one that can answer, stdin
// untouched, and the session has the event and what was decided.
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

// Inside a handler rules still hold: the marker is no way round them.
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

// A project's policy is found through the client's word for the project.
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

// Whatever is in the way of the policy's own files, the answer comes.
func TestPolicyWithoutAStateDirectory(t *testing.T) {
	dir, env := policied(t)
	if err := writeText(filepath.Join(dir, "state"), ""); err != nil {
		t.Fatal(err)
	}
	if got := answered(t, program(t, "beckon-hook"), env, "PreToolUse", forced); got != answer {
		t.Errorf("got %q", got)
	}
}

// An event of which the policy does not speak stays in this program, as soon as
// that is known; what changes in the policy is noticed.
func TestUnspokenEventStaysHere(t *testing.T) {
	dir, env := policied(t)
	project := filepath.Join(dir, "p")
	env = append(env, "CLAUDE_PROJECT_DIR="+project)
	file := filepath.Join(dir, "etc", "beckon", "policy.json")
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	// A copy of the program beside a stand-in for its sibling, which says that
	// it was asked.
	bin := t.TempDir()
	b, err := os.ReadFile(program(t, "beckon-hook"))
	if err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(bin, "beckon-hook")
	if err := errors.Join(os.WriteFile(here, b, 0o700), os.WriteFile(filepath.Join(bin, "beckon"), []byte("#!/bin/sh\ncat >/dev/null\necho asked\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	const stop = `{"session_id":"s1","hook_event_name":"Stop"}`
	asked := func(why, event, payload string, want bool) {
		t.Helper()
		if got := answered(t, here, env, event, payload) == "asked\n"; got != want {
			t.Errorf("%s: asked is %v", why, got)
		}
	}
	learn := func() { t.Helper(); answered(t, program(t, "beckon-hook"), env, "PreToolUse", forced) }

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
