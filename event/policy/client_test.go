package policy

import (
	"context"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/rule"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// judged returns the decision of a policy on a call of a tool, with its reason.
func judged(t *testing.T, policy, tool, member, input string) wire.Verdict {
	t.Helper()
	c, err := config.Decode("p", config.Global, []byte(policy), false)
	if err != nil {
		t.Fatal(err)
	}
	quoted := string(gjson.AppendJSONString(nil, input))
	payload := `{"cwd":"/w","tool_name":"` + tool + `","tool_input":{"` + member + `":` + quoted + `}}`
	return Engine{Hooks: c}.Trigger(context.Background(), Event{
		Kind: event.PreToolUse, Payload: []byte(payload), ProjectDir: "/w", Home: "/home/u",
	}).Verdict
}

// Lists in the client's own words mean what they mean there.
func TestClientsLists(t *testing.T) {
	const policy = `{
		"deny": ["Bash(git push *)", "Read(./.env)", "Read(~/.ssh/**)", "Edit(/dist/**)", "mcp__github__delete_repo", "mcp__aws", "WebFetch(domain:evil.example)", "WebSearch"],
		"ask": ["Bash(make deploy:*)", "WebFetch(domain:*.internal)"],
		"allow": ["Bash(npm test *)", "Bash(tail *)", "Read(/src/**)", "mcp__github__get_issue", "WebFetch(domain:go.dev)"]
	}`
	cases := []struct {
		tool, member, input string
		want                wire.Decision
	}{
		{"Bash", "command", "git push", wire.Deny},
		{"Bash", "command", "cd x && git push origin main", wire.Deny},
		{"Bash", "command", "sudo git push", wire.Deny},
		{"Bash", "command", "git pushy", wire.Silence},
		{"Bash", "command", "git pull", wire.Silence},
		{"Bash", "command", "git $X origin", wire.Ask},
		{"Bash", "command", "$EDITOR origin", wire.Silence},
		{"Bash", "command", "npm test <(rm x)", wire.Silence},
		{"Bash", "command", "npm test <<X\n$(rm x)\nX", wire.Silence},
		{"Bash", "command", "npm() { rm x; }; npm test", wire.Silence},
		{"Bash", "command", "npm test | sh", wire.Silence},
		{"Bash", "command", "sudo npm test", wire.Silence},
		{"Bash", "command", "PATH=/tmp npm test", wire.Silence},
		{"Bash", "command", "export PATH=/tmp; npm test", wire.Silence},
		{"Bash", "command", "/tmp/npm test", wire.Silence},
		{"Bash", "command", "ls; git push 'x", wire.Ask},
		{"Bash", "command", "make 'x", wire.Ask},
		{"Bash", "command", "ls 'x", wire.Silence},
		{"Read", "file_path", "/w/.env", wire.Deny},
		{"Read", "file_path", ".env", wire.Deny},
		{"Bash", "command", "cat .env", wire.Deny},
		{"Edit", "file_path", "/w/.env", wire.Silence},
		{"Read", "file_path", "/home/u/.ssh/id_rsa", wire.Deny},
		{"Bash", "command", "cp ~/.ssh/id_rsa x", wire.Deny},
		{"Write", "file_path", "/w/dist/a.js", wire.Deny},
		{"Bash", "command", "echo x > dist/a.js", wire.Deny},
		{"Read", "file_path", "/w/dist/a.js", wire.Silence},
		{"mcp__github__delete_repo", "name", "x", wire.Deny},
		{"mcp__github__list", "name", "x", wire.Silence},
		{"mcp__aws__run", "name", "x", wire.Deny},
		{"WebFetch", "url", "https://evil.example/x", wire.Deny},
		{"WebFetch", "url", "https://good.example/x", wire.Silence},
		{"WebFetch", "url", "https://a.internal/x", wire.Ask},
		{"WebSearch", "query", "x", wire.Deny},
		{"Bash", "command", "make deploy", wire.Ask},
		{"Bash", "command", "make deploy prod", wire.Ask},
		{"Bash", "command", "make build", wire.Silence},
		{"Bash", "command", "npm test", wire.Allow},
		{"Bash", "command", "npm test 2>&1 | tail -20", wire.Allow},
		{"Bash", "command", "npm test && tail -f x", wire.Allow},
		{"Bash", "command", "npm test && git push", wire.Deny},
		{"Bash", "command", "npm test; rm x", wire.Silence},
		{"Bash", "command", "npm test $(rm x)", wire.Silence},
		{"Bash", "command", "npm test $X", wire.Silence},
		{"Bash", "command", "npm test > out", wire.Silence},
		{"Bash", "command", "X=1 npm test", wire.Silence},
		{"Bash", "command", "npm testing", wire.Silence},
		{"Bash", "command", "npm test\nrm x", wire.Silence},
		{"Bash", "command", "npm test &", wire.Allow},
		{"Bash", "command", "npm test 'x", wire.Silence},
		{"Read", "file_path", "/w/src/a.go", wire.Allow},
		{"Read", "file_path", "/w/src/../.git/config", wire.Silence},
		{"Read", "file_path", "/src/a.go", wire.Silence},
		{"Write", "file_path", "/w/src/a.go", wire.Silence},
		{"mcp__github__get_issue", "name", "x", wire.Allow},
		{"mcp__github__get_issues", "name", "x", wire.Silence},
		{"WebFetch", "url", "https://go.dev/x", wire.Allow},
		{"WebFetch", "url", "https://go.dev.evil.com/x", wire.Silence},
		{"WebFetch", "url", "https://go.dev@evil.com/x", wire.Silence},
	}
	for _, c := range cases {
		v := judged(t, policy, c.tool, c.member, c.input)
		if v.Decision != c.want {
			t.Errorf("%s %q: %q (%s), want %q", c.tool, c.input, v.Decision, v.Reason, c.want)
		}
	}
	c, err := config.Decode("p", config.Global, []byte(policy), false)
	if err != nil {
		t.Fatal(err)
	}
	flat := Loaded{Hooks: c}.Flat()
	for _, c := range cases {
		in := append(gjson.AppendJSONString([]byte(`{"`+c.member+`":`), c.input), '}')
		may := rule.May(flat, &rule.Call{Tool: c.tool, Input: in, Cwd: "/w", Project: "/w", Home: "/home/u"})
		if may != (c.want != wire.Silence) {
			t.Errorf("%s %q: the hook says %v, want %q", c.tool, c.input, may, c.want)
		}
	}
	if v := judged(t, policy, "Bash", "command", "git push"); !strings.Contains(v.Reason, "Bash(git push *)") {
		t.Errorf("the reason is %q", v.Reason)
	}
	if v := judged(t, policy, "Bash", "command", "ls; git push 'x"); strings.Contains(v.Reason, "denies") {
		t.Errorf("what is not certain is said: %q", v.Reason)
	}
}
