package transcript

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The newest plan is found and complete, wherever it is and however long.
func TestPlan(t *testing.T) {
	call := func(plan string) string {
		return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ExitPlanMode","input":{"plan":"` + plan + `","planFilePath":"/h/p.md"}}]}}` + "\n"
	}
	other := `{"type":"user","message":{"content":[{"type":"tool_result","content":"ExitPlanMode"}]},"x":"\"ExitPlanMode\""}` + "\n"
	long := strings.Repeat("a step and another, ", 20_000)
	for name, c := range map[string]struct{ file, want string }{
		"none":            {other, ""},
		"one":             {other + call("1. Look.") + other, "1. Look."},
		"the newest":      {call("old") + other + call("new"), "new"},
		"far back":        {call("1. Look.") + strings.Repeat(other, 3000), "1. Look."},
		"long":            {other + call(long) + other, long},
		"half a line":     {other + call("old") + strings.TrimSuffix(call("new"), "]}}\n"), "old"},
		"nothing":         {"", ""},
		"of another tool": {strings.ReplaceAll(call("x"), `"name":"ExitPlanMode"`, `"name":"Bash","of":"ExitPlanMode"`), ""},
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Plan(path); err != nil || got != c.want {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(c.want))
		}
	}
	if _, err := Plan(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
