package policies

import (
	"strconv"
	"strings"
	"testing"

	"beckon/event"

	"github.com/tidwall/gjson"
)

func TestParseCases(t *testing.T) {
	policy, cases, err := parseCases([]byte(`What must hold.
-- policy.json --
{"hooks": {}}
-- cases --
# comment

deny  Bash   git push --force
pass	Read  config/server.pem
ask   Bash   "make build\nmake deploy"
warn  Grep   {"pattern": "key", "path": "src"}
allow UserPromptSubmit  add a test
`), "/p")
	if err != nil || string(policy) != "{\"hooks\": {}}\n" || len(cases) != 5 {
		t.Fatalf("%s, %+v, %v", policy, cases, err)
	}
	for i, want := range []struct {
		line           int
		decision       string
		kind           event.Kind
		member, equals string
	}{
		{7, "deny", event.PreToolUse, "tool_input.command", "git push --force"},
		{8, "pass", event.PreToolUse, "tool_input.file_path", "config/server.pem"},
		{9, "ask", event.PreToolUse, "tool_input.command", "make build\nmake deploy"},
		{10, "warn", event.PreToolUse, "tool_input.path", "src"},
		{11, "allow", event.UserPromptSubmit, "prompt", "add a test"},
	} {
		c := cases[i]
		got := gjson.GetBytes(c.Payload, want.member).Str
		if c.place != strconv.Itoa(want.line) || c.decision != want.decision || c.Kind != want.kind ||
			got != want.equals || gjson.GetBytes(c.Payload, "cwd").Str != "/p" {
			t.Errorf("case %d: %+v %s", i, c, c.Payload)
		}
	}
}

func TestParseCasesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "line 1: no file",
		"-- cases --\n# none\n":               "line 2: no cases",
		"-- cases --\nrefuse Bash ls\n":       `line 2: "refuse" is not a decision (one of deny, ask`,
		"-- cases --\n\ndeny Bash\n":          "line 3: a case is DECISION TOOL INPUT",
		"-- cases --\ndeny Bash \"open\n":     "line 2: the quoted input",
		"a\n-- cases --\ndeny Grep {\"a\":\n": "line 3: the input {\"a\": is not valid JSON",
	} {
		_, _, err := parseCases([]byte(text), "/p")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
