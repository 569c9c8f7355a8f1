package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

// TestInitBudget keeps the work before main small: a dependency that builds one table can cost
// more than the whole hook.
func TestInitBudget(t *testing.T) {
	t.Run("beckon-hook", func(t *testing.T) { initBudget(t, "beckon-hook", "SessionStart") })
	t.Run("prompt", func(t *testing.T) { initBudget(t, "beckon-hook", "prompt") })
}

func initBudget(t *testing.T, name string, args ...string) {
	const each, all = 1.0, 2.0 // ms
	sum, count := 0.0, 0
	best := map[string]float64{}
	for range 5 { // the least of five runs: other work on the machine only adds
		cmd := exec.Command(program(t, name), args...)
		cmd.Env = environ(t.TempDir(), "GODEBUG=inittrace=1")
		cmd.Stdin = strings.NewReader(start)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, m := range initLine.FindAllStringSubmatch(string(out), -1) {
			ms, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			if old, ok := best[m[1]]; !ok || ms < old {
				best[m[1]] = ms
			}
		}
	}
	for pkg, ms := range best {
		sum += ms
		count++
		if ms > each {
			t.Errorf("init of %s takes %.2f ms, more than %.1f", pkg, ms, each)
		}
	}
	if count == 0 {
		t.Fatal("no init was traced")
	}
	if sum > all {
		t.Errorf("all init takes %.2f ms, more than %.1f", sum, all)
	}
	t.Logf("%d inits, %.3f ms in all", count, sum)
}

// prepared returns a state directory with a session in it, and the payload of
// a tool call of that session.
func prepared(t testing.TB) (dir string, payload *os.File) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command(program(t, "beckon-hook"), "SessionStart")
	cmd.Env = environ(dir)
	runHook(t, cmd, start)
	path := filepath.Join(dir, "payload.json")
	text := `{"session_id":"s1","transcript_path":"/home/u/.claude/projects/-p/s1.jsonl","cwd":"/","prompt_id":"p1","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"npm test","description":"` + strings.Repeat("run the tests ", 20) + `"},"tool_use_id":"t1"}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	payload, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = payload.Close() })
	return dir, payload
}
