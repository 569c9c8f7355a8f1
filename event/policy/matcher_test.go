package policy

import (
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/handler"
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
		{event.StopFailure, "rate-limit", "xrate-limit", "rate_limit"}, // a hyphen makes it an expression there
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

// Every event's matcher looks at the field that the client's does.
func TestSubject(t *testing.T) {
	payload := []byte(`{"source":"startup","tool_name":"Bash","notification_type":"idle_prompt","file_path":"/a/b/.env","error":"rate_limit","reason":"clear","trigger":"auto","agent_type":"Explore","mcp_server_name":"m","command_name":"c","load_reason":"include","to_model":"x"}`)
	for kind, want := range map[event.Kind]string{event.SessionStart: "startup", event.PreToolUse: "Bash", event.Notification: "idle_prompt",
		event.FileChanged: ".env", event.StopFailure: "rate_limit", event.SessionEnd: "clear", event.PreCompact: "auto", event.SubagentStop: "Explore",
		event.Elicitation: "m", event.UserPromptExpansion: "c", event.InstructionsLoaded: "include", event.PreModelSwitch: "x", event.Stop: ""} {
		if got := subject(kind, payload); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

func call(tool, input string) handler.Call {
	return handler.Call{Event: "PreToolUse", ToolName: tool, ToolInput: []byte(input), Cwd: "/w/p/sub", ProjectDir: "/w/p",
		Payload: []byte(`{"tool_name":"` + tool + `","tool_input":` + input + `}`)}
}

func command(text string) handler.Call { return call("Bash", `{"command":`+quote(text)+`}`) }

func quote(s string) string { return string(text(s)) }

func file(tool, path string) handler.Call { return call(tool, `{"file_path":`+quote(path)+`}`) }

func TestPermission(t *testing.T) {
	for _, c := range []struct {
		rule string
		call handler.Call
		want bool
	}{
		{"Bash", command("ls"), true},
		{"Bash", file("Read", "/x"), false},
		{"Bash(npm test)", command("npm test"), true},
		{"Bash(npm test)", command("npm test -- x"), false},
		{"Bash(npm run:*)", command("npm run lint"), true},
		{"Bash(npm run:*)", command("npm running"), false},
		{"Bash(git push *)", command("git push origin"), true},
		{"Bash(git push *)", command("A=1 git push origin"), true},
		{"Bash(git push *)", command("cd x && git push origin"), true},
		{"Bash(git push *)", command("echo $(git push origin)"), true},
		{"Bash(git push *)", command("git pull"), false},
		{"Bash(git push *)", command("$CMD origin"), true}, // cannot be told
		{"Bash(rm *)", command("echo 'unclosed"), true},
		{"Bash(git * main)", command("git merge main"), true},
		{"Bash(git push *)", command("git  push\torigin"), true},
		{"Bash(git push *)", command(`"git" pu\sh origin`), true},
		{"Bash(git push *)", command("2>x git push origin"), true},
		{"Bash(git push *)", command("sudo /usr/bin/git push origin"), true},
		{"Bash(git push *)", command("echo git push origin"), false},
		{"Edit(src/**)", file("Edit", "/w/p/sub/src/a/b.go"), true},
		{"Edit(src/**)", file("Write", "src/b.go"), true},
		{"Edit(src/**)", file("Edit", "/w/p/src/b.go"), false},
		{"Edit(/src/**)", file("Edit", "/w/p/src/b.go"), true},
		{"Edit(//etc/**)", file("Edit", "/etc/passwd"), true},
		{"Edit(~/x)", file("Edit", "/home/u/x"), true},
		{"Edit(src/**)", file("Read", "/w/p/sub/src/a"), false},
		{"Read(.env)", file("Read", "/w/p/sub/a/.env"), true},
		{"Read(.env)", call("Grep", `{"path":".env"}`), true},
		{"Write(*.go)", file("Write", "/w/p/sub/x.go"), true},
		{"mcp__memory", call("mcp__memory__read", `{}`), true},
		{"mcp__memory", call("mcp__memory2__read", `{}`), false},
		{"mcp__memory__*", call("mcp__memory__read", `{}`), true},
		{"mcp__memory__read", call("mcp__memory__write", `{}`), false},
		{"WebFetch(domain:example.com)", call("WebFetch", `{"url":"https://example.com/x"}`), true},
		{"WebFetch(domain:example.com)", call("WebFetch", `{"url":"https://other.com/x"}`), false},
		{"Agent(Explore)", call("Task", `{"subagent_type":"Explore"}`), true},
	} {
		p, err := NewPermission(c.rule, "/home/u")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Match(c.call); got != c.want {
			t.Errorf("%s on %s: %v", c.rule, c.call.Payload, got)
		}
	}
}

// Whatever the expression, a matcher either cannot be made or answers.
func FuzzMatcher(f *testing.F) {
	f.Add("Edit|Write", "Edit")
	f.Add("^mcp__.*$", "mcp__a__b")
	f.Add(`(?!a)\A`, "x")
	f.Fuzz(func(t *testing.T, text, value string) {
		m, err := NewMatcher(event.PreToolUse, text)
		if err != nil {
			return
		}
		if m.All() && !m.Match(value) || m.exact != nil && m.re != nil {
			t.Fatalf("%q", text)
		}
		if m.Match(value) != m.Match(value) {
			t.Fatal("two answers")
		}
	})
}
