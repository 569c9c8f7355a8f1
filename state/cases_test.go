package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCases plays situations that occur in clients, and those that once showed faults. Each is
// a story, in the format that type story describes.
func TestCases(t *testing.T) {
	for _, c := range slices.Concat(casesOfWaits, casesOfRuns, casesOfOrder, casesOfEnds, casesOfEvidence, casesOfDialogs) {
		t.Run(c.name, func(t *testing.T) { tell(t, c.script) })
	}
}

// situation is a named story.
type situation struct{ name, script string }

// parallelCopies returns a story of n parallel calls that ask. Two installs report each event,
// the second one late.
func parallelCopies(n int) string {
	var b strings.Builder
	b.WriteString("100 UserPromptSubmit\n")
	for _, via := range []string{"", "plugin"} {
		for i := range n {
			fmt.Fprintf(&b, "%d PreToolUse Bash id=%d via=%s\n", 200+i, i, via)
		}
	}
	for range n {
		b.WriteString("400 PermissionRequest Bash via=\n500 PermissionRequest Bash via=plugin\n")
	}
	for i := range n {
		fmt.Fprintf(&b, "%d is permission Bash\n%d PostToolUse Bash id=%d via=\n", 1000+i, 1000+i, i)
	}
	b.WriteString("2000 is working\n")
	return b.String()
}

// A subagent's directory, mode and model are not taken for the session's: it may work in a
// worktree of its own and in another mode.
func TestSubagentDoesNotSpeakForTheSession(t *testing.T) {
	s := tell(t, `
		100 SessionStart cwd=/p mode=default model=m1
		200 PreToolUse Bash agent=a id=1 cwd=/p/.worktrees/a mode=acceptEdits model=m2`).s
	if s.Cwd != "/p" || s.Mode != "default" || s.Model != "m1" {
		t.Errorf("got %s %s %s", s.Cwd, s.Mode, s.Model)
	}
}

// Only SessionStart carries the model, and it may come late.
func TestLateSessionStartTellsTheModel(t *testing.T) {
	if s := tell(t, "120 UserPromptSubmit\n100 SessionStart model=m1").s; s.Model != "m1" {
		t.Errorf("model %q", s.Model)
	}
}
