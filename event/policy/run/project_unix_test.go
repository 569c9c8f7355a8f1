//go:build unix

package run

import (
	"os"
	"path/filepath"
	"testing"

	"beckon/event/policy/config"
	"beckon/event/policy/wire"
)

// A project's script is found even after the agent has changed its directory.
func TestProjectsScriptSurvivesACd(t *testing.T) {
	project, elsewhere := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "check.sh"), []byte("echo no >&2; exit 2"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := &config.Hook{Event: "PreToolUse", Type: config.Command, Level: config.Project, Spec: config.Spec{Command: "sh ./check.sh"}}
	Starter{}.Prepare([]*config.Hook{h}, "PreToolUse", os.Environ(), "")
	c := bashCall("ls")
	c.Cwd, c.ProjectDir = elsewhere, project
	if o := h.Handler.Run(t.Context(), c); o.Decision != wire.Deny || o.Reason != "no" {
		t.Errorf("got %+v", o)
	}
}
