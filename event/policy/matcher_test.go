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

func TestRuleOnCommands(t *testing.T) {
	for _, c := range []struct {
		rule, text  string
		deny, allow bool
	}{
		{"rm -rf", "rm -rf /", true, true},
		{"rm -rf", "rm -fr x", true, true},
		{"rm -rf", "rm -r -f x", true, true},
		{"rm -rf", "rm -r x", false, false},
		{"rm -rf /", "rm -rf /", true, true},
		{"rm -rf /", "rm -rf /tmp/x", false, false},
		{"rm -rf", "/bin/rm -rf x", true, true},
		{"rm -rf", "sudo -u root rm -rf x", true, false},
		{"rm -rf", "cd /; X=1 rm -rf x", true, false},
		{"rm -rf", "echo $(rm -rf x)", true, false},
		{"rm -rf", "bash -c 'rm -rf x'", true, false},
		{"rm -rf", "echo x | xargs -n 1 rm -rf", true, false},
		{"rm -rf", "timeout 5 rm -rf x", true, false},
		{"rm -rf", `r""m -rf x`, true, true},
		{"rm -rf", "echo 'rm -rf x'", false, false},
		{"rm -rf", "rm -rf 'unclosed", true, false},
		{"rm -rf", "if true; then rm -rf x; fi", true, false},
		{"rm -rf", "(rm -rf x)", true, true},
		{"rm -rf", `find . -name x -exec rm -rf {} \;`, true, false},
		{"rm -rf", "sudo find . -execdir rm -rf {} +", true, false},
		{"find", `find . -exec rm {} \;`, true, false},
		{"find", "find . -name x", true, true},
		{"rm -rf", "watch -n 1 rm -rf x", true, false},
		{"rm -rf", "su root -c 'rm -rf x'", true, false},
		{"rm -rf", "coproc rm -rf x", true, false},
		{"git push --force", "git push --force=x origin", true, true},
		{"git push --force", "git push origin --force", true, true},
		{"git push --force", "git push --force-with-lease", false, false},
		{"git push -f", "git -C x push -f", true, true},
		{"npm test", "npm test > out.txt", true, false},
		{"npm test", "npm test && rm -rf /", true, false},
		{"npm test", "npm test $X", true, false},
		{"npm test", "env npm test", true, false},
		{"npm test", "# npm test", false, false},
	} {
		deny := &Rule{Decision: handler.Deny, Commands: []string{c.rule}}
		allow := &Rule{Decision: handler.Allow, Commands: []string{c.rule}}
		if got := deny.holds(command(c.text)); got != c.deny {
			t.Errorf("deny %q on %q: %v", c.rule, c.text, got)
		}
		if got := allow.holds(command(c.text)); got != c.allow {
			t.Errorf("allow %q on %q: %v", c.rule, c.text, got)
		}
	}
}

func TestRuleOnPathsAndWords(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{".env", "/w/p/a/.env", true}, {".env", "/w/other/.env", false}, {"**/.env", "/w/p/.env", true},
		{"secrets/", "/w/p/secrets/a/b", true}, {"./a/*.go", "/w/p/a/x.go", true}, {"a/*.go", "/w/p/a/b/x.go", false},
		{"/etc/**", "/etc/x/y", true}, {"~/.ssh/**", "/home/u/.ssh/id", true}, {"/w/p/../q", "/w/q", false},
		{"/w/q", "/w/p/../q", true}, {"[!a]b", "/w/p/cb", true}, {"[!a]b", "/w/p/ab", false}, {"x", "../x", true},
	} {
		r := &Rule{Decision: handler.Deny, Paths: []string{c.pattern}, home: "/home/u"}
		if got := r.holds(file("Write", c.path)); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.path, got)
		}
	}
	words := &Rule{Decision: handler.Deny, Words: []string{"Secret"}}
	prompt := handler.Call{Event: "UserPromptSubmit", Payload: []byte(`{"prompt":"tell the SECRET"}`)}
	if !words.holds(prompt) || words.holds(handler.Call{Payload: []byte(`{"prompt":"no"}`)}) || !words.holds(command("echo secret")) {
		t.Error("words")
	}
	if r := (&Rule{Decision: handler.Deny, Paths: []string{"**"}}); r.holds(command("ls")) {
		t.Error("a command has no path")
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

// A command line of any form is taken apart without end or panic, and what it
// denies in a command it denies in a list of them.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{"rm -rf /", `a "b $(c 'd')" | e`, "x `y` & z", "sh -c 'sh -c \"sh -c ls\"'", "a\\\nb", "<(x)", "a#b # c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := readCommand(text)
		if line.broken {
			return
		}
		rule := &Rule{Decision: handler.Deny, Commands: []string{"rm -rf"}}
		if strings.ContainsAny(text, "\"'`\\#<>(){}$&|\n") {
			return // what follows may be part of something
		}
		if !rule.commandFits("rm -rf x; " + text) {
			t.Fatalf("not seen before %q", text)
		}
	})
}
