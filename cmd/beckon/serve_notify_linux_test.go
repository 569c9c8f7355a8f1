package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"beckon/render/notify"
	"beckon/state"
)

// The hook, the process that waits, a watch and two servers see the same alerts, and the user is notified once of each,
// including events that the server's own clients post.
func TestNotifyOnceOfAll(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	told := filepath.Join(bin, "told")
	p := newOffice(t, fmt.Sprintf(`{"notify": ["command"], "notify_command": ["sh", "-c", "cat >> %s; echo >> %[1]s"], "notify_done_after": "0s"}`, told))
	openTerminal(t, 100, 30, p.env, "watch", "--notify").wait("no sessions|No sessions|session")
	url := startServe(t, p.env, "--notify")
	startServe(t, p.env, "--notify")
	time.Sleep(1500 * time.Millisecond) // each has looked once
	for _, e := range []string{
		`"UserPromptSubmit","prompt":"go"`,
		`"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t1"`,
		`"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}`,
	} {
		p.hook(t, "", fmt.Appendf(nil, `{"session_id":"asks","cwd":"/tmp","hook_event_name":%s}`, e))
	}
	for _, e := range []string{`"UserPromptSubmit","prompt":"go"`, `"Stop","last_assistant_message":"Shall I delete it?"`} {
		body := fmt.Sprintf(`{"session_id":"words","cwd":"/tmp","hook_event_name":%s}`, e)
		res, err := http.Post(url+"/hook", "application/json", bytes.NewReader([]byte(body)))
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(err, res)
		}
		_ = res.Body.Close()
	}
	want := map[string]state.AlertKind{"asks": state.AlertPermission, "words": state.AlertQuestion}
	for end := time.Now().Add(time.Minute); len(toldOf(t, told)) < len(want) && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(2500 * time.Millisecond) // one too many would come now
	notes := toldOf(t, told)
	for _, n := range notes {
		if want[n.SessionID] != n.Kind {
			t.Errorf("told of %s of %q, or told twice", n.Kind, n.SessionID)
		}
		delete(want, n.SessionID)
	}
	if len(want) != 0 {
		out, _ := p.command("beckon", "notify", "log").CombinedOutput()
		t.Errorf("not told of %v\n%s", want, out)
	}
}

// toldOf returns what the command was given.
func toldOf(t *testing.T, path string) (notes []notify.Note) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var n notify.Note
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := json.Unmarshal(line, &n); err != nil {
			t.Fatalf("told %q: %v", line, err)
		}
		notes = append(notes, n)
	}
	return notes
}
