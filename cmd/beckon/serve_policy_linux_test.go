package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// policyHome is a user's home with a policy, in which programs run.
type policyHome struct {
	dir string
	env []string
}

func newPolicyHome(t *testing.T, policy string) policyHome {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := policyHome{dir: dir, env: []string{"GORACE=" + noNap, "HOME=" + dir, "PATH=" + os.Getenv("PATH"), "BECKON_STATE_DIR=" + filepath.Join(dir, "state")}}
	h.write(t, filepath.Join(".config", "beckon", "policy.json"), policy)
	return h
}

func (h policyHome) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func postTo(t *testing.T, url, body string, headers ...string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range append(headers, "Content-Type: application/json") {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// twoRules denies, asks and rewrites.
const twoRules = `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
	{"type": "rule", "id": "no-force", "decision": "deny", "reason": "Shared branch.", "commands": ["git push -f"]},
	{"type": "rule", "id": "publish", "decision": "ask", "reason": "To the world?", "commands": ["npm publish"]},
	{"type": "command", "id": "uv", "command": "[ \"$COMMAND\" != 'pip install x' ] || echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"command\":\"uv pip install x\",\"timeout\":5}}}'"}
]}]}}`

// Two users' beckons: the policy of one asks the server of the other, whose policy decides.
func TestPolicyAsksAnotherBeckon(t *testing.T) {
	t.Parallel()
	theirs := newPolicyHome(t, twoRules)
	url := startServe(t, theirs.env)
	ours := newPolicyHome(t, fmt.Sprintf(`{"servers": [{"server_url": "%s/hook", "fail_open": false}]}`, url))
	for command, want := range map[string]string{
		"ls":            "",
		"git push -f":   `"permissionDecision":"deny","permissionDecisionReason":"Shared branch. (policy global/no-force)`,
		"npm publish":   `"permissionDecision":"deny","permissionDecisionReason":"the user is to be asked about this, which protocol 1.0 cannot: To the world? (policy global/publish)`,
		"pip install x": `"updatedInput":{"command":"uv pip install x","timeout":5}`,
	} {
		p := office{bin: filepath.Dir(program(t)), env: ours.env}
		cmd := p.command("beckon", "hook", "PreToolUse")
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s1","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":%q,"tool_input":{"command":%q,"timeout":5}}`, ours.dir, "t-"+command, command))
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || want == "" && len(out) != 0 {
			t.Errorf("%s: %v, %s, want %s", command, err, out, want)
		}
	}
	// The session is ours: the other server has answered and traced the reason, and follows
	// nothing.
	if _, body := theirs.getFrom(t, url+"/api/sessions?all=1"); strings.Contains(body, "session_id") {
		t.Errorf("the other follows %s", body)
	}
	p := office{bin: filepath.Dir(program(t)), env: theirs.env}
	if out, err := p.command("beckon", "policy", "trace").CombinedOutput(); err != nil || !strings.Contains(string(out), "git push -f") {
		t.Errorf("their trace: %v, %s", err, out)
	}
	// The seven events of the protocol, as in its document.
	for _, body := range []string{
		`{"version":"1.0","event":{"id":"unique-event-id","type":"PreToolUse","name":"PreToolUse","timestamp":1234567890123,"session_id":"session-123","correlation_id":"correlation-456"},"data":{"tool_name":"Bash","tool_input":{"command":"git push -f"}}}`,
		`{"version":"1.0","event":{"id":"2","type":"PostToolUse","name":"PostToolUse","timestamp":1,"session_id":"s","correlation_id":"c"},"data":{"tool_name":"Bash","tool_input":{},"tool_response":{}}}`,
		`{"version":"1.0","event":{"id":"3","type":"UserPromptSubmit","name":"UserPromptSubmit","timestamp":1,"session_id":"s","correlation_id":"c"},"data":{"prompt":"User's prompt text"}}`,
		`{"version":"1.0","event":{"id":"4","type":"Notification","name":"Notification","timestamp":1,"session_id":"s","correlation_id":"c"},"data":{"message":"Notification message"}}`,
		`{"version":"1.0","event":{"id":"5","type":"Stop","name":"Stop","timestamp":1,"session_id":"s","correlation_id":"c"},"data":{"stop_hook_active":true}}`,
		`{"version":"1.0","event":{"id":"6","type":"SubagentStop","name":"SubagentStop","timestamp":1,"session_id":"s","correlation_id":"c"},"data":{"stop_hook_active":false}}`,
		`{"version":"1.0","event":{"id":"7","type":"PreCompact","name":"PreCompact","timestamp":1,"session_id":"s","correlation_id":"c"},"data":{"trigger":"manual","custom_instructions":"optional instructions"}}`,
	} {
		status, answer := postTo(t, url+"/hook", body)
		want := "allow"
		if strings.Contains(body, "push -f") {
			want = "block"
		}
		if v := gjson.Parse(answer); status != http.StatusOK || v.Get("version").Str != "1.0" || v.Get("decision").Str != want {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	for body, want := range map[string]int{
		`{"version":"2.0","event":{"type":"Stop"},"data":{}}`: http.StatusBadRequest,
		`{"version":"1.0","event":{},"data":{}}`:              http.StatusBadRequest,
	} {
		if status, answer := postTo(t, url+"/hook", body); status != want {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
}

// getFrom asks the server of h with a token of it.
func (h policyHome) getFrom(t *testing.T, url string) (status int, body string) {
	t.Helper()
	cmd := exec.Command(program(t), "serve", "token", "read")
	cmd.Env = h.env
	token, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// The client's own http hook gets the policy's answer as a command hook would on stdout, the
// session is followed, and the refusal is known.
func TestPolicyAnswersHTTPHook(t *testing.T) {
	t.Parallel()
	h := newPolicyHome(t, twoRules)
	url := startServe(t, h.env)
	const payload = `{"session_id":"s1","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t%d","tool_input":{"command":%q}}`
	status, answer := postTo(t, url+"/hook", fmt.Sprintf(payload, h.dir, 1, "git push -f"))
	if want := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Shared branch. (policy global/no-force)"}}` + "\n"; status != http.StatusOK || answer != want {
		t.Errorf("%d %s, want %s", status, answer, want)
	}
	if _, journal := h.getFrom(t, url+"/api/sessions/s1/journal"); !strings.Contains(journal, `"refused"`) {
		t.Errorf("the refusal is not noted: %s", journal)
	}
	if status, answer = postTo(t, url+"/hook", fmt.Sprintf(payload, h.dir, 2, "ls")); status != http.StatusOK || answer != "{}\n" {
		t.Errorf("silence: %d %s", status, answer)
	}
	if _, answer = postTo(t, url+"/hook?agent=codex&event=PreToolUse", fmt.Sprintf(payload, h.dir, 3, "git push -f")); strings.Contains(answer, "deny") {
		t.Errorf("another agent is answered in the client's words: %s", answer)
	}
}

// A stop that the policy refuses does not count: the agent goes on, and nobody is notified
// that it is done.
func TestPolicyRefusesAStopOverHTTP(t *testing.T) {
	t.Parallel()
	h := newPolicyHome(t, `{"hooks": {"Stop": [{"hooks": [{"type": "command", "id": "more", "command": "sleep 0.3; echo The tests fail. >&2; exit 2"}]}]}}`)
	url := startServe(t, h.env)
	post := func(name, more string) string {
		_, answer := postTo(t, url+"/hook", fmt.Sprintf(`{"session_id":"s1","cwd":%q,"hook_event_name":%q%s}`, h.dir, name, more))
		return answer
	}
	state := func() string {
		_, row := h.getFrom(t, url+"/api/sessions/s1")
		return gjson.Get(row, "state").Str
	}
	post("UserPromptSubmit", `,"prompt":"go"`)
	if answer := post("Stop", `,"stop_hook_active":false`); !strings.HasPrefix(answer, `{"decision":"block","reason":"The tests fail. (policy global/more)"}`) || state() != "working" {
		t.Errorf("the first: %s, %s", answer, state())
	}
	if answer := post("Stop", `,"stop_hook_active":true`); strings.Contains(answer, `"decision"`) || state() != "idle" {
		t.Errorf("the second: %s, %s", answer, state())
	}
}

// A project's policy applies to what is posted from within the project. A policy that an agent
// puts into a directory of its own does not replace it, and commands run where only the user
// can have changed anything.
func TestServedPolicyAndDirectories(t *testing.T) {
	t.Parallel()
	h := newPolicyHome(t, `{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "id": "where", "command": "echo \"$PWD|$CLAUDE_PROJECT_DIR|\""}]}]}}`)
	h.write(t, "proj/.git/HEAD", "ref: refs/heads/main\n")
	file := h.write(t, "proj/.beckon/policy.json", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "rule", "id": "no-env", "decision": "deny", "reason": "Secret.", "paths": [".env"]}]}]}}`)
	h.write(t, "proj/sub/.beckon/policy.json", `{}`)
	proj := filepath.Dir(filepath.Dir(file))
	p := office{bin: filepath.Dir(program(t)), env: h.env}
	trust := p.command("beckon", "policy", "trust")
	trust.Dir = proj
	if out, err := trust.CombinedOutput(); err != nil {
		t.Fatalf("trust: %v, %s", err, out)
	}
	url := startServe(t, h.env)
	for _, cwd := range []string{proj, filepath.Join(proj, "sub")} {
		_, answer := postTo(t, url+"/hook", fmt.Sprintf(`{"session_id":"s1","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":%q}}`, cwd, filepath.Join(proj, ".env")))
		if !strings.Contains(answer, "Secret. (policy project/no-env)") {
			t.Errorf("in %s: %s", cwd, answer)
		}
	}
	// The project's policy applies there, too; commands do not run there.
	open := h.write(t, "proj/open/file", "")
	open = filepath.Dir(open)
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	_, answer := postTo(t, url+"/hook", fmt.Sprintf(`{"session_id":"s1","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":%q}}`, open, filepath.Join(proj, ".env")))
	if !strings.Contains(answer, "Secret. (policy project/no-env)") {
		t.Errorf("in %s: %s", open, answer)
	}
	sub, elsewhere := filepath.Join(proj, "sub"), h.dir+"|"+h.dir
	for cwd, want := range map[string]string{proj: proj + "|" + proj, sub: sub + "|" + proj, open: elsewhere, "/tmp": elsewhere, "relative": elsewhere, "": elsewhere} {
		_, answer := postTo(t, url+"/hook", fmt.Sprintf(`{"session_id":"s2","cwd":%q,"hook_event_name":"UserPromptSubmit","prompt":%q}`, cwd, "in "+cwd))
		if got := gjson.Get(answer, "hookSpecificOutput.additionalContext").Str; got != want+"|" {
			t.Errorf("in %q it ran in %q, want %q (%s)", cwd, got, want, answer)
		}
	}
	// A sender that has the token but is not a process of the user's cannot choose the
	// directory; a project that the user trusts still has its policy.
	token, err := os.ReadFile(filepath.Join(h.dir, "state", "token"))
	if err != nil {
		t.Fatal(err)
	}
	foreign := []string{"Authorization: Bearer " + strings.TrimSpace(string(token)), "X-Forwarded-For: 192.0.2.7"}
	for _, cwd := range []string{h.dir, proj, sub, filepath.Join(h.dir, "none")} {
		_, answer := postTo(t, url+"/hook", fmt.Sprintf(`{"session_id":"s3","cwd":%q,"hook_event_name":"UserPromptSubmit","prompt":%q}`, cwd, "from elsewhere in "+cwd), foreign...)
		if got := gjson.Get(answer, "hookSpecificOutput.additionalContext").Str; got != elsewhere+"|" {
			t.Errorf("from elsewhere, in %q it ran in %q (%s)", cwd, got, answer)
		}
	}
	_, answer = postTo(t, url+"/hook", fmt.Sprintf(`{"session_id":"s3","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":%q}}`, sub, filepath.Join(proj, ".env")), foreign...)
	if !strings.Contains(answer, "Secret. (policy project/no-env)") {
		t.Errorf("from elsewhere, in %s: %s", sub, answer)
	}
}

// A policy that asks its own server does not loop, and reports that.
func TestPolicyCircle(t *testing.T) {
	t.Parallel()
	h := newPolicyHome(t, `{}`)
	url := startServe(t, h.env)
	h.write(t, ".config/beckon/policy.json", fmt.Sprintf(`{"servers": [{"server_url": "%s/hook"}], "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "id": "count", "command": "echo x >> %s/count"}]}]}}`, url, h.dir))
	status, answer := postTo(t, url+"/hook", fmt.Sprintf(`{"session_id":"s1","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"ls"}}`, h.dir))
	count, _ := os.ReadFile(filepath.Join(h.dir, "count"))
	if n := bytes.Count(count, []byte("x")); status != http.StatusOK || n != 3 {
		t.Errorf("%d %s, the command ran %d times", status, answer, n)
	}
	if !strings.Contains(answer, "400") {
		t.Errorf("nobody is told: %s", answer)
	}
}
