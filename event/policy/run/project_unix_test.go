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
	c := bashCall("ls")
	c.Cwd, c.ProjectDir = elsewhere, project
	o := Starter{}.Start(os.Environ(), "")(t.Context(), h, c)
	if o.Decision != wire.Deny || o.Reason != "no" {
		t.Errorf("got %+v", o)
	}
}
