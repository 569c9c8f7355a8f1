package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"beckon/cmd/internal/noblock"
)

// built is the directory with the programs under test, made once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "beckon-hook-test-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", dir, "beckon/cmd/beckon-hook", "beckon/cmd/beckon")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", &buildError{string(out), err}
	}
	return dir, nil
})

type buildError struct {
	out string
	err error
}

func (e *buildError) Error() string { return e.err.Error() + "\n" + e.out }

// program returns the path of a built program.
func program(t testing.TB, name string) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// holdEnv names a lock file that a copy of the test binary is to hold instead
// of running tests.
const holdEnv = "BECKON_HOOK_TEST_HOLD"

func TestMain(m *testing.M) {
	noblock.Off() // a test that panics fails
	if path := os.Getenv(holdEnv); path != "" {
		hold(path)
	}
	code := m.Run()
	if dir, err := built(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// environ returns a clean environment with its own home and state directory.
func environ(dir string, more ...string) []string {
	return append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "BECKON_STATE_DIR=" + filepath.Join(dir, "state")}, more...)
}

// runHook runs a program as a hook and fails the test unless it exits 0 and prints nothing.
func runHook(t testing.TB, cmd *exec.Cmd, payload string) {
	t.Helper()
	if cmd.Stdin == nil {
		cmd.Stdin = strings.NewReader(payload)
	}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("hook: %v", err)
	}
	if out.Len()+errs.Len() > 0 {
		t.Fatalf("hook was not silent: stdout %q, stderr %q", out.String(), errs.String())
	}
}
