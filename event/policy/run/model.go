package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// api asks the Messages API.
type api struct {
	to    endpoint
	model string
}

const (
	apiVersion   = "2023-06-01"
	answerTokens = 300 // one word and one sentence
)

func newAPI(c PromptConfig) (model, error) {
	headers := map[string]string{"anthropic-version": apiVersion}
	if key := value(c.Env, "ANTHROPIC_API_KEY"); key != "" {
		headers["x-api-key"] = key
	} else {
		headers["authorization"] = "Bearer " + value(c.Env, "ANTHROPIC_AUTH_TOKEN")
	}
	base := cmp.Or(value(c.Env, "ANTHROPIC_BASE_URL"), "https://api.anthropic.com")
	to, err := newEndpoint(strings.TrimRight(base, "/")+"/v1/messages", headers)
	if err != nil {
		return nil, fmt.Errorf("ANTHROPIC_BASE_URL: %w", err)
	}
	return api{to, cmp.Or(c.Model, value(c.Env, "ANTHROPIC_DEFAULT_HAIKU_MODEL"), defaultModel)}, nil
}

func (a api) name() string { return a.to.url + " " + a.model }

func (a api) ask(ctx context.Context, system, user string) (string, int, error) {
	body, err := json.Marshal(map[string]any{
		"model": a.model, "max_tokens": answerTokens, "system": system,
		"messages": []map[string]string{{"role": "user", "content": user}},
	})
	if err != nil {
		return "", 0, fmt.Errorf("writing the question: %w", err)
	}
	got, tries, err := a.to.ask(ctx, body, retries{count: 2, delay: time.Second / 2})
	if err != nil {
		return "", tries, err
	}
	text, err := a.read(got)
	return text, tries, err
}

// read extracts the text from a message.
func (a api) read(got replied) (string, error) {
	v := gjson.ParseBytes(got.body)
	valid := json.Valid(got.body)
	switch {
	case got.status != http.StatusOK && valid:
		return "", fmt.Errorf("%w (%s)", a.to.unexpected(got.status), wire.Printable(v.Get("error.type").Str, 60))
	case got.status != http.StatusOK:
		return "", a.to.unexpected(got.status)
	case !valid || !v.Get("content").IsArray():
		return "", fmt.Errorf("the answer of %s is not a message", a.to)
	case v.Get("stop_reason").Str == "refusal":
		return "", errors.New("the model refused to judge it")
	}
	var text strings.Builder
	for _, block := range v.Get("content").Array() {
		if block.Get("type").Str == "text" {
			text.WriteString(block.Get("text").Str)
		}
	}
	return text.String(), nil
}

// cli asks `claude -p`: a user without a key has logged the client in.
type cli struct {
	program, model string
	env            []string
}

// inherited are the variables that would make a client take itself for a part of the session
// that sent the event.
var inherited = map[string]bool{
	"CLAUDECODE": true, "CLAUDE_CODE_CHILD_SESSION": true, "CLAUDE_CODE_ENTRYPOINT": true, "CLAUDE_CODE_SESSION_ID": true,
	"CLAUDE_CODE_MESSAGING_SOCKET": true, "CLAUDE_CODE_MESSAGING_TOKEN": true, "CLAUDE_CODE_SESSION_ATTENDED": true,
	"CLAUDE_ENV_FILE": true, "CLAUDE_PID": true, "CLAUDE_PROJECT_DIR": true,
}

func (m cli) name() string { return m.program + " " + m.model }

// ask runs the client without hooks, tools, servers or skills, in an empty directory:
// neither the project's settings nor its CLAUDE.md may influence how the project is judged,
// and a hook there would be this program again. The question is passed on stdin, where other
// users cannot see it.
func (m cli) ask(ctx context.Context, system, user string) (string, int, error) {
	path, err := exec.LookPath(m.program)
	if err != nil {
		return "", 0, fmt.Errorf("there is no ANTHROPIC_API_KEY, and finding %q: %w", m.program, cause(err))
	}
	dir, err := os.MkdirTemp("", event.JudgeDir)
	if err != nil {
		return "", 0, fmt.Errorf("making a directory for the client: %w", err)
	}
	defer os.RemoveAll(dir)
	argv := append([]string{m.program, "-p", "--output-format", "text", "--model", m.model},
		"--settings", `{"disableAllHooks":true}`, "--tools", "", "--strict-mcp-config", "--disable-slash-commands",
		"--no-session-persistence", "--system-prompt", system)
	r := process{path: path, dir: dir, env: m.env, stdin: []byte(user), argv: argv}.run(ctx)
	switch {
	case r.err != nil:
		return "", 1, fmt.Errorf("asking %q: %w", m.program, r.err)
	case r.code != 0:
		return "", 1, fmt.Errorf("asking %q: %w", m.program, failure(r))
	}
	return r.stdout, 1, nil
}
