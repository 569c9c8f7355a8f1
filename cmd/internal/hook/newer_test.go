package hook

import (
	"os"
	"path/filepath"
	"testing"
)

// The values of AI_AGENT are those of 2.1.197 and 2.1.330.
func TestNewerClient(t *testing.T) {
	for _, c := range []struct{ chosen, agent, want string }{
		{"unknown\n", "claude-code_2-1-330_harness", "2.1.330"},
		{"2.1.197\n", "claude-code_2-1-330_harness", "2.1.330"},
		{"2.1.330\n", "claude-code_2-1-330_harness", ""},
		{"2.1.330\n", "claude-code_2-1-197_harness", ""},
		{"2.2.0\n", "claude-code_2-10-0_harness", "2.10.0"},
		{"", "claude-code_2-1-330_harness", "2.1.330"}, // being written
		{"unknown\n", "", ""},
		{"unknown\n", "another_1-2-3", ""},
		{"unknown\n", "claude-code_next", ""},
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Dir(ChosenFor(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(ChosenFor(dir), []byte(c.chosen), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := newerClient(dir, c.agent); got != c.want {
			t.Errorf("chosen for %q, now %q: %q, not %q", c.chosen, c.agent, got, c.want)
		}
	}
	if got := newerClient(t.TempDir(), "claude-code_2-1-330_harness"); got != "" {
		t.Errorf("without an install: %q", got)
	}
}
