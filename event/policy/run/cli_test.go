//go:build unix

package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/event/policy/config"
	"beckon/event/policy/wire"
)

// TestPromptByTheClient in the lab does this with the real
// client.
func TestPromptByAStandInClient(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "claude")
	write := func(script string) {
		t.Helper()
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h := Prompt{
		Hook: &config.Hook{Spec: config.Spec{Prompt: "Safe? $COMMAND"}}, Client: program,
		Env: []string{"PATH=" + os.Getenv("PATH"), "CLAUDECODE=1", "CLAUDE_CODE_MESSAGING_TOKEN=t", "KEEP=1", "OUT=" + dir},
	}
	write(`cat > "$OUT/stdin"; env > "$OUT/env"; pwd > "$OUT/pwd"; ls -A > "$OUT/ls"; printf '%s\n' "$@" > "$OUT/args"; echo "BLOCK: no"`)
	if o := h.Ask(t.Context(), bashCall("rm x")); o.Err != nil || o.Decision != wire.Deny || o.Reason != "no" {
		t.Fatalf("got %+v", o)
	}
	got := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(dir, name))
		return string(b)
	}
	if s := got("stdin"); !strings.Contains(s, "rm x") {
		t.Errorf("stdin %q", s)
	}
	if s := got("env"); strings.Contains(s, "CLAUDE") || !strings.Contains(s, "KEEP=1") {
		t.Errorf("environment %q", s)
	}
	if s := got("args"); strings.Contains(s, "rm x") || !strings.Contains(s, `{"disableAllHooks":true}`) {
		t.Errorf("arguments %q", s)
	}
	if got("ls") != "" {
		t.Errorf("it ran beside %q", got("ls"))
	}
	if _, err := os.Stat(strings.TrimSpace(got("pwd"))); err == nil {
		t.Errorf("the directory %q is still there", got("pwd"))
	}
	write("echo not logged in >&2; exit 1")
	if o := h.Ask(t.Context(), bashCall("rm x")); o.Err == nil || !strings.Contains(o.Err.Error(), "exit code 1: not logged in") {
		t.Errorf("got %+v", o)
	}
	_ = os.Remove(program)
	if o := h.Ask(t.Context(), bashCall("rm x")); o.Err == nil || !strings.Contains(o.Err.Error(), "running") {
		t.Errorf("got %+v", o)
	}
}
