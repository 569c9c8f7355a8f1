package rule

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"beckon/event"
)

func TestMatcher(t *testing.T) {
	for _, c := range []struct {
		kind           event.Kind
		text, yes, not string
	}{
		{event.PreToolUse, "", "Bash,x", ""},
		{event.PreToolUse, "*", "Bash", ""},
		{event.PreToolUse, ".*", "Bash", ""},
		{event.PreToolUse, "Bash", "Bash", "bash,BashOutput"},
		{event.PreToolUse, "Edit|Write", "Edit,Write", "NotebookEdit"},
		{event.PreToolUse, "Edit, Write", "Edit,Write", "Edi"},
		{event.PreToolUse, "Edit.*", "Edit,NotebookEdit", "Write"},
		{event.PreToolUse, "^Edit$", "Edit", "NotebookEdit"},
		{event.PreToolUse, "mcp__memory", "mcp__memory", "mcp__memory__read"},
		{event.PreToolUse, "mcp__memory__.*", "mcp__memory__read", "mcp__other__read"},
		{event.PreToolUse, "mcp__a-b__c", "mcp__a-b__c", "xmcp__a-b__c"},
		{event.SubagentStop, "^my-plugin:reviewer$", "my-plugin:reviewer", "my-plugin:reviewers"},
		{event.StopFailure, "rate_limit|overloaded", "rate_limit,overloaded", "server_error"},
		{event.StopFailure, "rate-limit", "xrate-limit", "rate_limit"}, // the hyphen makes it an expression there
	} {
		m, err := NewMatcher(c.kind, c.text)
		if err != nil {
			t.Errorf("%s %q: %v", c.kind, c.text, err)
			continue
		}
		for _, v := range strings.Split(c.yes, ",") {
			if !m.Match(v) {
				t.Errorf("%s %q does not match %q", c.kind, c.text, v)
			}
		}
		for _, v := range strings.Split(c.not, ",") {
			if v != "" && m.Match(v) {
				t.Errorf("%s %q matches %q", c.kind, c.text, v)
			}
		}
	}
}

func quote(s string) string { b, _ := json.Marshal(s); return string(b) }

func call(tool, input string) *Call {
	return &Call{Tool: tool, Input: []byte(input), Cwd: "/w/p/sub", Project: "/w/p", Home: "/home/u"}
}

func bash(text string) *Call { return call("Bash", `{"command":`+quote(text)+`}`) }

func onFile(tool, path string) *Call { return call(tool, `{"file_path":`+quote(path)+`}`) }

func TestPermission(t *testing.T) {
	for _, c := range []struct {
		rule string
		call *Call
		want bool
	}{
		{"Bash", bash("ls"), true},
		{"Bash", onFile("Read", "/x"), false},
		{"Bash(npm test)", bash("npm test"), true},
		{"Bash(npm test)", bash("npm test -- x"), false},
		{"Bash(npm run:*)", bash("npm run lint"), true},
		{"Bash(npm run:*)", bash("npm running"), false},
		{"Bash(git push *)", bash("git push origin"), true},
		{"Bash(git push *)", bash("A=1 git push origin"), true},
		{"Bash(git push *)", bash("cd x && git push origin"), true},
		{"Bash(git push *)", bash("echo $(git push origin)"), true},
		{"Bash(git push *)", bash("git pull"), false},
		{"Bash(git push *)", bash("$CMD origin"), true}, // cannot be told
		{"Bash(rm *)", bash("echo 'unclosed"), true},
		{"Bash(git * main)", bash("git merge main"), true},
		{"Bash(git push *)", bash("git  push\torigin"), true},
		{"Bash(git push *)", bash(`"git" pu\sh origin`), true},
		{"Bash(git push *)", bash("2>x git push origin"), true},
		{"Bash(git push *)", bash("sudo /usr/bin/git push origin"), true},
		{"Bash(git push *)", bash("echo git push origin"), false},
		{"Edit(src/**)", onFile("Edit", "/w/p/sub/src/a/b.go"), true},
		{"Edit(src/**)", onFile("Write", "src/b.go"), true},
		{"Edit(src/**)", onFile("Edit", "/w/p/src/b.go"), false},
		{"Edit(/src/**)", onFile("Edit", "/w/p/src/b.go"), true},
		{"Edit(//etc/**)", onFile("Edit", "/etc/passwd"), true},
		{"Edit(~/x)", onFile("Edit", "/home/u/x"), true},
		{"Edit(src/**)", onFile("Read", "/w/p/sub/src/a"), false},
		{"Read(.env)", onFile("Read", "/w/p/sub/a/.env"), true},
		{"Read(.env)", call("Grep", `{"path":".env"}`), true},
		{"Write(*.go)", onFile("Write", "/w/p/sub/x.go"), true},
		{"mcp__memory", call("mcp__memory__read", `{}`), true},
		{"mcp__memory", call("mcp__memory2__read", `{}`), false},
		{"mcp__memory__*", call("mcp__memory__read", `{}`), true},
		{"mcp__memory__read", call("mcp__memory__write", `{}`), false},
		{"WebFetch(domain:example.com)", call("WebFetch", `{"url":"https://example.com/x"}`), true},
		{"WebFetch(domain:example.com)", call("WebFetch", `{"url":"https://other.com/x"}`), false},
		{"Agent(Explore)", call("Task", `{"subagent_type":"Explore"}`), true},
	} {
		p, err := NewPermission(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Match(c.call); got != c.want {
			t.Errorf("%s on %s: %v", c.rule, c.call.Input, got)
		}
	}
}

// FuzzMatcher checks that any expression either is an error or gives a matcher that works.
func FuzzMatcher(f *testing.F) {
	f.Add("Edit|Write", "Edit")
	f.Add("^mcp__.*$", "mcp__a__b")
	f.Add(`(?!a)\A`, "x")
	f.Add(",", "")
	f.Fuzz(func(t *testing.T, text, value string) {
		m, err := NewMatcher(event.PreToolUse, text)
		if err != nil {
			return
		}
		if m.All() && !m.Match(value) || m.Names != nil && m.re != nil {
			t.Fatalf("%q", text)
		}
		if m.Match(value) != (m.All() || slices.Contains(m.Names, value) || m.re != nil && m.re.MatchString(value)) {
			t.Fatalf("%q on %q", text, value)
		}
	})
}
