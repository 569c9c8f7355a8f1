package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The newest turn's settings say whether Codex's own reviewer decides, however much of the turn
// follows; a line that is not whole, or that only quotes them, says nothing.
func TestReviewed(t *testing.T) {
	turn := func(reviewer string) string {
		return `{"timestamp":"2026-11-25T10:00:01.000Z","type":"turn_context","payload":{"approvals_reviewer":"` + reviewer + `"}}` + "\n"
	}
	work := strings.Repeat(`{"type":"event_msg","payload":{"type":"agent_message","message":"about \"turn_context\""}}`+"\n", 5000)
	quoted := `{"type":"response_item","payload":{"type":"turn_context","approvals_reviewer":"auto_review"}}` + "\n"
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"auto_review", turn("auto_review"), true},
		{"its older name", turn("guardian_subagent"), true},
		{"user", turn("user"), false},
		{"not said", strings.ReplaceAll(turn(""), `"approvals_reviewer":""`, ""), false},
		{"changed to the user", turn("auto_review") + turn("user"), false},
		{"changed to the reviewer", turn("user") + turn("auto_review"), true},
		{"a long turn", turn("auto_review") + work, true},
		{"only quoted", quoted, false},
		{"quoted after the user's", turn("user") + quoted, false},
		{"not whole", turn("user") + strings.TrimSuffix(turn("auto_review"), "\n"), false},
		{"empty", "", false},
	} {
		path := filepath.Join(t.TempDir(), "rollout.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Reviewed("codex", path); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if Reviewed("gemini", path) {
			t.Errorf("%s: of another agent", c.name)
		}
	}
}
