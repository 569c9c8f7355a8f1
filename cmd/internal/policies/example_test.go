package policies

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"beckon/event/policy/config"
	"beckon/event/policy/run"
	"beckon/event/policy/wire"
	"beckon/testdata/need"
)

// start runs an example on a free port and returns its address. Without the
// language the test is skipped with the reason; with CI=true it fails.
func start(t *testing.T, program, file string) string {
	t.Helper()
	need.Program(t, program)
	cmd := exec.CommandContext(t.Context(), program, filepath.Join("example", file), "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		t.Fatalf("it said %q: %v", line, err)
	}
	return url
}

func eventOf(event string, fields map[string]any) wire.Call {
	payload, _ := json.Marshal(fields)
	c := wire.Call{Event: event, ID: "e-1", Payload: payload, SessionID: "s-1", ToolUseID: "toolu_1", At: time.Now()}
	if input, ok := fields["tool_input"]; ok {
		c.ToolName = fields["tool_name"].(string)
		c.ToolInput, _ = json.Marshal(input)
	}
	return c
}

func bash(command string) wire.Call {
	return eventOf("PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": command, "timeout": 7}})
}

func TestExamples(t *testing.T) {
	for _, lang := range []struct{ name, program, file string }{{"python", "python3", "policy.py"}, {"node", "node", "policy.js"}} {
		t.Run(lang.name, func(t *testing.T) {
			url := start(t, lang.program, lang.file)
			decides(t, url)
			refuses(t, url)
		})
	}
}

// decides checks that an example decides by its policy.
func decides(t *testing.T, url string) {
	h, err := run.NewServer(config.Spec{URL: url}, 5*time.Second, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		call   wire.Call
		want   wire.Decision
		reason string
		input  string
	}{
		{bash("ls"), wire.Allow, "", ""},
		{bash("rm -rf ./build"), wire.Allow, "", ""},
		{bash("cd x && rm -r -f / "), wire.Deny, "That would delete everything.", ""},
		{bash("sudo make install"), wire.Ask, "This runs as root.", ""},
		{bash("git push --force origin é"), wire.Modify, "", `{"command":"git push --force-with-lease origin é","timeout":7}`},
		{bash("git push --force-with-lease"), wire.Allow, "", ""},
		{eventOf("PreToolUse", map[string]any{"tool_name": "Read", "tool_input": map[string]any{"file_path": "/"}}), wire.Allow, "", ""},
		{eventOf("UserPromptSubmit", map[string]any{"prompt": "-----BEGIN PRIVATE KEY-----"}), wire.Block, "The prompt holds a private key.", ""},
		{eventOf("UserPromptSubmit", map[string]any{"prompt": "hello"}), wire.Allow, "", ""},
		{eventOf("SessionEnd", map[string]any{"reason": "clear"}), wire.Allow, "", ""},
	} {
		o := h.Run(t.Context(), test.call)
		if o.Err != nil || o.Decision != test.want || o.Reason != test.reason || !same(o.UpdatedInput, test.input) {
			t.Errorf("%s: got %+v %s, want %+v", test.call.Payload, o, o.UpdatedInput, test)
		}
	}
}

// same reports whether two JSON texts mean the same: one language writes é unescaped.
func same(got []byte, want string) bool {
	if want == "" {
		return got == nil
	}
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}

// refuses checks that an example answers with the protocol's 400, and keeps running.
func refuses(t *testing.T, url string) {
	for _, body := range []string{"", "{", "[]", "null", `{"version":"2.0"}`, `{"version":"1.0"}`, `{"version":"1.0","event":{"type":"PreToolUse"},"data":{"tool_name":"Bash"}}`} {
		r, err := http.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %s", body, r.Status)
		}
	}
}
