package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event/redact"
	"beckon/testdata/secrets"
)

// always is a policy that covers every call, so that each is in the trace and in the
// decisions.
const always = `{"hooks":{"PreToolUse":[{"hooks":[{"type":"rule","id":"no","decision":"deny","reason":"No."}]}]}}`

// kept is how many secrets of the corpus the redactor may miss; testdata/secrets/RESULTS.md
// lists them.
const kept = 3

// No secret of the corpus is in any file of the state directory after it has passed through
// hooks, the server, a policy and notifications.
func TestNoSecretIsInTheStateDirectory(t *testing.T) {
	dir := t.TempDir()
	env := environ(dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "etc"))
	if err := writeText(filepath.Join(dir, "etc", "beckon", "policy.json"), always); err != nil {
		t.Fatal(err)
	}
	if err := writeText(filepath.Join(dir, "etc", "beckon", "config.json"), `{"notify": ["terminal", "title"]}`); err != nil {
		t.Fatal(err)
	}
	post := serve(t, env)
	var all []secrets.Case
	for _, c := range secrets.Secrets() {
		if !strings.Contains(redact.Text(c.Text), c.Secret) {
			all = append(all, c)
		}
	}
	if len(all) < 150-kept {
		t.Errorf("%d secrets are known", len(all))
	}
	for i, c := range all {
		name, payload := spoken(i, c.Text)
		fire(t, env, name, mustJSON(t, payload("s1")))
		fire(t, env, "PreToolUse", mustJSON(t, map[string]any{"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t1", "cwd": "/",
			"tool_input": map[string]string{"command": c.Text}}))
		post(mustJSON(t, payload("s2")))
	}
	found := scan(t, filepath.Join(dir, "state"), all)
	if !found["policy"] || !found["history"] || !found["sessions"] {
		t.Errorf("nothing was looked at in some of %v", found)
	}
}

// spoken puts a text into one of the members that people and agents write.
func spoken(i int, text string) (name string, payload func(session string) map[string]any) {
	members := [...]struct{ name, member string }{
		{"UserPromptSubmit", "prompt"}, {"Stop", "last_assistant_message"}, {"Notification", "message"}, {"PostToolUseFailure", "error"}, {"StopFailure", "error_details"},
		{"TaskCreated", "task_subject"},
	}
	m := members[i%len(members)]
	return m.name, func(session string) map[string]any {
		return map[string]any{"session_id": session, "hook_event_name": m.name, "cwd": "/", m.member: text, "notification_type": "permission_prompt"}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fire runs one hook and ignores its output.
func fire(t *testing.T, env []string, name string, payload []byte) {
	t.Helper()
	cmd := exec.Command(program(t, "beckon-hook"), name)
	cmd.Env, cmd.Stdin = env, bytes.NewReader(payload)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// serve runs a server and returns a function that posts an event to it.
func serve(t *testing.T, env []string) (post func([]byte)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(program(t, "beckon"), "serve", "--addr", addr)
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			break
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	return func(body []byte) {
		res, err := http.Post("http://"+addr+"/hook", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode/100 != 2 {
			t.Fatalf("POST /hook: %s", res.Status)
		}
	}
}

// scan looks for the secrets in every file below a directory, and returns the parts of it that
// had files.
func scan(t *testing.T, dir string, all []secrets.Case) (parts map[string]bool) {
	parts = map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		part, _, _ := strings.Cut(rel, string(filepath.Separator))
		parts[part] = parts[part] || len(text) > 0
		for _, c := range all {
			quoted := mustJSON(t, c.Secret)
			if bytes.Contains(text, []byte(c.Secret)) || bytes.Contains(text, quoted[1:len(quoted)-1]) {
				t.Errorf("%s holds the secret of %q", rel, c.Line)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return parts
}
