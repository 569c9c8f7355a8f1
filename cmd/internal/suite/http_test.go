//go:build unix

package suite

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHTTPHooks: the real client posts its events to `beckon serve`, without a hook program;
// it is followed, and the policy's answer binds it.
func TestHTTPHooks(t *testing.T) {
	if testing.Short() && !*matrix {
		t.Skip("the real client takes a while")
	}
	t.Parallel()
	for _, version := range policyVersions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			tried(t, func(t testing.TB) {
				Need(t, version)
				l := equipped(t, version)
				url := serve(t, l)
				mustWriteJSON(t, filepath.Join(l.Home.Dir, ".claude", "settings.json"), map[string]any{"hooks": httpHooks(url+"/hook",
					"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")})
				path := filepath.Join(l.Home.Dir, ".config", "beckon", "policy.json")
				mustWriteJSON(t, path, json.RawMessage(of("PreToolUse", `"matcher":"Bash",`, `{"type":"rule","id":"hush","decision":"deny","reason":"That word is not to be said.","commands":["echo spoken-word"]}`)))
				s := &shown{TB: t, l: l}
				var err error
				if s.out, err = l.Home.Print(echo); err != nil {
					t.Fatalf("claude -p: %v\n%s", err, s.out)
				}
				s.want("the tool result", s.results(), "That word is not to be said. (policy global/hush)")
				s.want("the journal", s.journal(), `"word":"refused"`)
				s.want("the journal", s.journal(), `"kind":"Stop"`)
				mustWriteJSON(t, path, struct{}{})
				if s.out, err = l.Home.Print(echo); err != nil {
					t.Fatalf("claude -p: %v\n%s", err, s.out)
				}
				s.want("without a policy, the tool result", s.results(), "spoken-word")
				if strings.Contains(s.transcript(), "hook_non_blocking_error") {
					t.Error("the client took an answer for an error")
				}
			})
		})
	}
}

// httpHooks returns the client's own http hooks.
func httpHooks(url string, events ...string) map[string]any {
	hooks := map[string]any{}
	for _, e := range events {
		hooks[e] = []any{map[string]any{"hooks": []any{map[string]any{"type": "http", "url": url}}}}
	}
	return hooks
}

func mustWriteJSON(t testing.TB, path string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// serve runs `beckon serve` as the lab's user until the test ends.
func serve(t testing.TB, l *Lab) (url string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	_ = free.Close()
	cmd := exec.Command(filepath.Join(bin(l), "beckon"), "serve", "--addr", addr)
	cmd.Dir, cmd.Env = l.Home.Project, l.Home.Env()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	})
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if res, err := http.Get(fmt.Sprintf("http://%s/healthz", addr)); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return "http://" + addr
			}
		}
	}
	t.Fatalf("it is not ready after a minute: %s", said.String())
	return ""
}
