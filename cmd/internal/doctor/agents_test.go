package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"beckon/event"
)

// An agent's version is that of the package that contains its program on the path.
func TestInstalled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := t.TempDir()
	gemini := event.AgentOf("gemini")
	pkg := filepath.Join(dir, "lib", "node_modules", gemini.Package)
	err := errors.Join(os.MkdirAll(pkg, 0o700), os.WriteFile(filepath.Join(pkg, "gemini.js"), []byte("#!/bin/sh\n"), 0o700),
		os.WriteFile(filepath.Join(pkg, "package.json"), []byte(`{"name":"`+gemini.Package+`","version":"0.62.1"}`), 0o600),
		os.Symlink(filepath.Join(pkg, "gemini.js"), filepath.Join(dir, "gemini")), os.WriteFile(filepath.Join(dir, "qwen"), []byte("#!/bin/sh\n"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for agent, want := range map[string]string{"gemini": "version 0.62.1, ", "qwen": "", "codex": ""} {
		if got := installed(event.AgentOf(agent)); got != want {
			t.Errorf("%s: %q, want %q", agent, got, want)
		}
	}
}
