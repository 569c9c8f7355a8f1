//go:build unix

package suite

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event/policy/config"
	"beckon/event/policy/run"
	"beckon/event/policy/wire"
)

// judgements is what a prompt handler must make of the judge scripts.
var judgements = map[string]struct {
	decision wire.Decision
	reason   string
	fails    bool
}{
	"judgeallow":    {decision: wire.Allow, reason: "it only looks."},
	"judgeblock":    {decision: wire.Deny, reason: "it deletes the lab."},
	"judgecontinue": {decision: wire.Continue},
	"judgeunsure":   {fails: true},
}

func judge(t *testing.T, word string, c run.Prompt) wire.Outcome {
	t.Helper()
	c.Hook = &config.Hook{Spec: config.Spec{Prompt: "lab:" + word + "\nIs this safe? $COMMAND"}}
	input := []byte(`{"command":"ls"}`)
	payload, _ := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": json.RawMessage(input)})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return c.Ask(ctx, wire.Call{Event: "PreToolUse", ToolName: "Bash", ToolInput: input, Payload: payload})
}

func checkJudgement(t *testing.T, word string, o wire.Outcome) {
	t.Helper()
	want := judgements[word]
	if o.Decision != want.decision || o.Reason != want.reason || (o.Err != nil) != want.fails {
		t.Errorf("%s: got %+v, want %+v", word, o, want)
	}
}

// The client gets its key from a helper in its settings. The user's hooks must not run, or beckon
// would call itself; the user's and the project's instructions must not reach the judge.
func TestPromptByTheClient(t *testing.T) {
	for _, version := range Bounds {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			l := Start(t, version)
			ran := filepath.Join(l.Home.Root, "hook-ran")
			hook := []fields{{"hooks": []fields{{"type": "command", "command": "touch " + ran}}}}
			if err := writeJSON(filepath.Join(l.Home.Dir, ".claude", "settings.json"), fields{
				"apiKeyHelper": "echo " + APIKey, "hooks": fields{"UserPromptSubmit": hook, "SessionStart": hook, "Stop": hook},
			}); err != nil {
				t.Fatal(err)
			}
			for word := range judgements {
				checkJudgement(t, word, judge(t, word, run.Prompt{Client: l.Client.Path, Env: keyless(l.Home.Env())}))
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("the user's hook ran")
			}
			asked := 0
			for _, r := range l.Server.Requests() {
				if !strings.HasPrefix(r.Word, "judge") {
					continue
				}
				asked++
				if body := string(r.Body); !strings.Contains(body, "You are the judge of one event") || strings.Contains(body, l.Home.Project) {
					t.Errorf("asked %s", body)
				}
			}
			if asked < len(judgements) {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func keyless(env []string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, "ANTHROPIC_API_KEY=") {
			kept = append(kept, e)
		}
	}
	return kept
}
