package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// maxFaults is how many times the page faults of a Go hello-world a tool event may cost,
// measured in one run. Page faults are what a start costs, and hardly depend on how busy or
// fast the machine is: 1.38 to 1.41 on a quiet one, 1.52 where memory was short of cached
// pages; 1.69 since it evaluates rules and prints prompts, too.
const maxFaults = 1.85

func TestPageFaults(t *testing.T) {
	dir, payload := prepared(t)
	hello := buildHello(t)
	base, hook := faults(t, hello, program(t, "beckon-hook"), environ(dir), payload)
	ratio := float64(hook) / float64(base)
	t.Logf("page faults: hello-world %d, hook %d, ratio %.2f", base, hook, ratio)
	if ratio > maxFaults {
		t.Errorf("a hook takes %d page faults, %.2f times a hello-world's %d; the limit is %.2f", hook, ratio, base, maxFaults)
	}
}

// buildHello builds the reference hello-world, with the same Go and flags.
func buildHello(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(src, []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello, world\") }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "hello")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, src)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, b)
	}
	return out
}

// faults returns the median minor page faults of two programs over 41 runs each, in turn:
// single runs vary by a dozen, and all of them with what the machine has in memory.
func faults(t testing.TB, hello, hook string, env []string, payload *os.File) (base, got int64) {
	t.Helper()
	counts := make([][]int64, 2)
	for range 41 {
		for i, path := range []string{hello, hook} {
			if _, err := payload.Seek(0, 0); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(path, "PreToolUse")
			cmd.Env, cmd.Stdin = env, payload
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			counts[i] = append(counts[i], cmd.ProcessState.SysUsage().(*syscall.Rusage).Minflt)
		}
	}
	slices.Sort(counts[0])
	slices.Sort(counts[1])
	return counts[0][20], counts[1][20]
}
