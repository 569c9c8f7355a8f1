package config

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/policy/wire"
)

func decoded(t testing.TB, text string) []*Hook {
	t.Helper()
	c, err := Decode("policy.json", Global, []byte(text), false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func hooks(kind, group string) string { return `{"hooks":{"` + kind + `":[` + group + `]}}` }

// one returns a policy with one handler of PreToolUse.
func one(h string) string { return hooks("PreToolUse", `{"hooks":[`+h+`]}`) }

func TestSeed003LoadsWithItsConvention(t *testing.T) {
	text, err := os.ReadFile("testdata/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	// As written, 5000 can only be milliseconds, and the hint says how to write that.
	_, err = Decode("policy.json", Global, text, false)
	var list Problems
	if !errors.As(err, &list) || len(list) != 1 || list[0].Line != 10 || list[0].Path != "$.hooks.PreToolUse[0].hooks[0].timeout" ||
		!strings.Contains(list[0].Advice, `"convention": "simple"`) {
		t.Fatalf("got %v", err)
	}
	c := decoded(t, strings.Replace(string(text), "{", `{"convention": "simple",`, 1))
	if len(c) != 4 || c[0].Timeout != 5*time.Second || c[0].Spec.Convention != Simple || !c[2].Matcher.All() {
		t.Fatalf("got %+v", c[0])
	}
}

func TestSeed004LoadsWithItsComment(t *testing.T) {
	text, err := os.ReadFile("testdata/server.json")
	if err != nil {
		t.Fatal(err)
	}
	c := decoded(t, string(text))
	var kinds []event.Kind
	for _, h := range c {
		kinds = append(kinds, h.Event)
		if h.Type != Server || h.Spec.URL != "http://localhost:8080/hook" || h.Timeout != 5*time.Second || h.Spec.Retries != 3 || h.Spec.RetryDelay != time.Second || h.FailClosed {
			t.Errorf("got %+v", h)
		}
	}
	if !slices.Equal(kinds, []event.Kind{
		event.Notification, event.PostToolUse, event.PreCompact, event.PreToolUse, event.Stop, event.SubagentStop,
		event.UserPromptSubmit,
	}) {
		t.Errorf("events %v", kinds)
	}
}

func TestServerDefaultsAndFailClosed(t *testing.T) {
	c := decoded(t, `{"servers":[{"server_url":"http://localhost:1/","fail_open":false,"events":["Stop","PreToolUse","PreToolUse"],"matcher":"Bash"}]}`)
	if len(c) != 2 || c[0].Event != event.PreToolUse || !c[0].FailClosed || c[1].FailClosed {
		t.Fatalf("got %+v", c)
	}
	if c[0].Matcher.Match("Read") || !c[1].Matcher.All() {
		t.Error("the matcher is for tool events")
	}
}

// Every mistake is reported with its line, its place and what to do.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, what, path, advice string }{
		{`{"hooks":`, "", "", ""},
		{`[]`, "is a list, not an object", "$", ""},
		{`{"hook":{}}`, `unknown key "hook"`, "$.hook", `did you mean "hooks"?`},
		{`{"convention":"sipmle"}`, `no such value "sipmle"`, "$.convention", "client, simple"},
		{`{"hooks":{"PreTool":[]}}`, `unknown event "PreTool"`, "$.hooks.PreTool", ""},
		{`{"hooks":{"PreToolUze":[]}}`, `unknown event "PreToolUze"`, "$.hooks.PreToolUze", `did you mean "PreToolUse"?`},
		{`{"hooks":{"WorktreeCreate":[]}}`, "no hook may answer WorktreeCreate", "", "never registers"},
		{`{"hooks":{"Stop":[{"matcher":"x","hooks":[]}]}}`, "Stop has nothing to match", "$.hooks.Stop[0].matcher", "leave the matcher out"},
		{hooks("PreToolUse", `{"matcher":"(?!x)","hooks":[]}`), "no expression", "$.hooks.PreToolUse[0].matcher", "lookahead"},
		{hooks("PreToolUse", `{"matcher":"\\Abc$","hooks":[]}`), "means something else", "", ""},
		{hooks("PreToolUse", `{"matcher":"|,","hooks":[]}`), "matches nothing", "", ""},
		{hooks("Stop", `{"if":"Bash(ls)","hooks":[]}`), "Stop is not a tool event", "$.hooks.Stop[0].if", "never runs"},
		{hooks("PreToolUse", `{"if":"Bash(ls) && Edit","hooks":[]}`), "is not one permission rule", "", ""},
		{hooks("PreToolUse", `{}`), "has no hooks", "$.hooks.PreToolUse[0]", ""},
		{one(`{}`), "has no type", "$.hooks.PreToolUse[0].hooks[0]", ""},
		{one(`{"type":"mcp_tool"}`), "the client's own", "", ""},
		{one(`{"type":"comand"}`), `no such value "comand"`, "", ""},
		{one(`{"type":"command"}`), `a command needs "command"`, "", ""},
		{one(`{"type":"command","command":" "}`), "is empty", "", ""},
		{one(`{"type":"command","command":"x","url":"y"}`), `unknown key "url"`, "", ""},
		{one(`{"type":"command","command":"x","command":"y"}`), "is set twice", "", ""},
		{one(`{"type":"prompt","prompt":"x","headers":{}}`), `unknown key "headers"`, "", ""},
		{one(`{"type":"http","url":"http://x","grant":true}`), `unknown key "grant"`, "", ""},
		{one(`{"type":"command","command":"x","timeout":5000}`), "can only be meant as milliseconds", "", "timeout_ms"},
		{one(`{"type":"command","command":"x","timeout":0}`), "is 0", "", ""},
		{one(`{"type":"command","command":"x","timeout":"5"}`), `no time: "5"`, "", ""},
		{one(`{"type":"command","command":"x","timeout":"5s","timeout_ms":50}`), "both set", "", ""},
		{one(`{"type":"command","command":"x","timeout":5,"timeout_ms":50}`), "both set", "", ""},
		{one(`{"type":"command","command":"x","timeout_ms":5}`), "too few", "", ""},
		{`{"convention":"simple",` + one(`{"type":"command","command":"x","timeout":5}`)[1:], "too few", "", "in milliseconds"},
		{one(`{"type":"command","command":"x","args":"y"}`), "is a text, not a list", "", ""},
		{one(`{"type":"command","Command":"x"}`), `unknown key "Command"`, "", `did you mean "command"?`},
		{one(`{"type":"rule","decision":"allow","commands":null}`), "is null, not a list", "$.hooks.PreToolUse[0].hooks[0].commands", ""},
		{one(`{"type":"rule","decision":"allow","commands":["ls",""]}`), "is empty", "$.hooks.PreToolUse[0].hooks[0].commands[1]", ""},
		{one(`{"type":"server","server_url":"localhost"}`), `no address: "localhost"`, "", "http://"},
		{one(`{"type":"server","server_url":"localhost:8080/hook"}`), "no address", "", "http://"},
		{one(`{"type":"server","server_url":"ftp://h/x"}`), "no address", "", "http://"},
		{one(`{"type":"http","url":"http:///hook"}`), "no address", "", "http://"},
		{one(`{"type":"http","url":"http://:80/hook"}`), "no address", "", "http://"},
		{one(`{"type":"http","url":"http://[::1/"}`), "no address", "", "http://"},
		{one(`{"type":"server","server_url":"http://x","retry_count":1.5}`), "a whole number", "", ""},
		{one(`{"type":"rule","decision":"deny"}`), `a rule needs "reason"`, "", ""},
		{one(`{"type":"rule","decision":"block","reason":"x"}`), `no such value "block"`, "", "deny, ask, warn, allow"},
		{one(`{"type":"rule","decision":"deny","reason":"x","id":"a b"}`), `no id: "a b"`, "", ""},
		{one(`{"type":"rule","id":"a","decision":"deny","reason":"x"},{"type":"rule","id":"a","decision":"deny","reason":"y"}`), `id "a" is already on line 1`, "", ""},
		{hooks("Notification", `{"hooks":[{"type":"rule","decision":"deny","reason":"x"}]}`), "Notification cannot be refused", "", ""},
		{hooks("Stop", `{"hooks":[{"type":"rule","decision":"ask","reason":"x"}]}`), "the user cannot be asked", "", ""},
		{hooks("Stop", `{"hooks":[{"type":"rule","decision":"allow"}]}`), "needs no approval", "", ""},
		{hooks("Stop", `{"hooks":[{"type":"rule","decision":"deny","reason":"x","paths":"a"}]}`), "not a tool event", "", ""},
		{hooks("Notification", `{"hooks":[{"type":"prompt","prompt":"x"}]}`), "nothing to judge", "", ""},
		{hooks("Stop", `{"hooks":[{"type":"command","command":"x","fail":"closed"}]}`), "cannot be refused for a handler's failure", "", ""},
		{`{"servers":[{"server_url":"http://x","evens":[]}]}`, `unknown key "evens"`, "$.servers[0].evens", `did you mean "events"?`},
		{`{"servers":[{}]}`, `a server needs "server_url"`, "$.servers[0]", ""},
	} {
		_, err := Decode("policy.json", Global, []byte(c.text), false)
		var list Problems
		if !errors.As(err, &list) {
			t.Errorf("%s: got %v", c.text, err)
			continue
		}
		ok := slices.ContainsFunc(list, func(p Problem) bool {
			return strings.Contains(p.What, c.what) && (c.path == "" || p.Path == c.path) && strings.Contains(p.Advice, c.advice) && p.Line == 1
		})
		if !ok {
			t.Errorf("%s: got %v; want %q at %q, hint %q", c.text, list, c.what, c.path, c.advice)
		}
	}
}

func TestAllMistakesAtOnceWithTheirLines(t *testing.T) {
	_, err := Decode("p.json", Global, []byte("{\n  // one\n  \"a\": 1,\n  \"hooks\": {\n    \"Nope\": [],\n    \"Stop\": 3,\n  },\n}"), false)
	var list Problems
	if !errors.As(err, &list) {
		t.Fatal(err)
	}
	var lines []int
	for _, p := range list {
		lines = append(lines, p.Line)
	}
	if !slices.Equal(lines, []int{3, 5, 6}) || !strings.HasPrefix(list[0].Error(), "p.json:3: $.a: unknown key") {
		t.Errorf("got %v", list)
	}
}

func TestProjectMayOnlyTighten(t *testing.T) {
	for _, text := range []string{
		one(`{"type":"rule","decision":"allow"}`),
		one(`{"type":"prompt","prompt":"x","grant":true}`),
		`{"servers":[{"server_url":"http://x","grant":true}]}`,
	} {
		if _, err := Decode("p.json", Project, []byte(text), false); err == nil || !strings.Contains(err.Error(), "cannot allow") {
			t.Errorf("%s: got %v", text, err)
		}
		decoded(t, text)
	}
}

// Repeating a hook in another file does not weaken it.
func TestMerge(t *testing.T) {
	global := decoded(t, one(`{"type":"command","command":"a","fail":"closed","timeout":9},{"type":"command","command":"b"}`))
	project := decoded(t, one(`{"type":"command","command":"c"},{"type":"command","command":"a","timeout":1,"enabled":false},{"type":"command","command":"c"}`))
	for _, h := range project {
		h.Level = Project
	}
	merged := Merge(project, global)
	var got []string
	for _, h := range merged {
		got = append(got, string(h.Level)+" "+h.Spec.Command)
	}
	if want := []string{"project c", "global a", "global b"}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if a := merged[1]; !a.FailClosed || a.Timeout != 9*time.Second {
		t.Errorf("the stricter of both is %+v", a)
	}
}

func TestIDsStay(t *testing.T) {
	a := decoded(t, one(`{"type":"command","command":"a"},{"type":"command","command":"b"}`))
	b := decoded(t, one(`{"type":"command","command":"b","timeout":3}`))
	if a[1].ID != b[0].ID || a[0].ID == a[1].ID {
		t.Errorf("ids %q %q %q", a[0].ID, a[1].ID, b[0].ID)
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"testdata/hooks.json", "testdata/server.json"} {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(one(`{"type":"rule","decision":"deny","reason":"x","commands":["rm -rf"],"paths":["**/[a-"]}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode("p.json", Project, data, false)
		if (c == nil) == (err == nil) {
			t.Fatal("neither a policy nor an error, or both")
		}
		var list Problems
		if err != nil {
			if !errors.As(err, &list) || len(list) == 0 {
				t.Fatalf("an error of another kind: %v", err)
			}
			for _, p := range list {
				if p.Line < 1 || p.What == "" || p.Line > 1+strings.Count(string(data), "\n") {
					t.Fatalf("problem %+v", p)
				}
			}
			return
		}
		for _, h := range c {
			if h.ID == "" || wire.RulesOf(h.Event).Never != "" || h.Grant {
				t.Fatalf("hook %+v", h)
			}
		}
		again, err := Decode("p.json", Project, data, false)
		if err != nil || len(Merge(c, again)) != len(c) {
			t.Fatal("a policy merged with itself is another one")
		}
	})
}
