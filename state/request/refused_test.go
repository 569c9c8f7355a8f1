package request

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The transcript shows whose refusal counted, in whatever order the client writes its lines.
func TestRefused(t *testing.T) {
	const (
		result = `{"message":{"content":[{"type":"tool_result","tool_use_id":"u1"}]}}` + "\n"
		ours   = `{"attachment":{"type":"hook_permission_decision","toolUseID":"u1"}}` + "\n"
	)
	for _, c := range []struct {
		now, later string
		dialog     bool
	}{
		{ours + result, "", false}, {result, ours, false}, {"", ours + result, false}, {result, "", true}, {"", "", false},
	} {
		path := filepath.Join(t.TempDir(), "transcript.jsonl")
		if err := os.WriteFile(path, []byte(c.now), 0o600); err != nil {
			t.Fatal(err)
		}
		written := time.AfterFunc(50*time.Millisecond, func() { _ = os.WriteFile(path, []byte(c.now+c.later), 0o600) })
		o := Request{Kind: Permission, UseID: "u1", Payload: []byte(fmt.Sprintf(`{"transcript_path":%q}`, path))}
		if won := o.DialogWon(400 * time.Millisecond); won != c.dialog {
			t.Errorf("%q, then %q: the dialog was first: %v", c.now, c.later, won)
		}
		written.Stop()
	}
}
