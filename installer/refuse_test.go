package installer

import (
	"errors"
	"strings"
	"testing"
)

// refused are settings that must not be changed, each with the place of the mistake.
var refused = []struct {
	name, text   string
	line, column int
	path         string
	problem      string
}{
	{"line comment", "{\n  // mine\n  \"a\": 1\n}", 2, 3, "", "comment"},
	{"block comment", "{\"env\": {\"A\": /* x */ \"1\"}}", 1, 15, "env.A", "comment"},
	{"trailing comma in object", "{\n  \"a\": 1,\n}\n", 2, 9, "", "trailing comma"},
	{"trailing comma in array", "{\"hooks\": {\"Stop\": [{}, ]}}", 1, 23, "hooks.Stop[1]", "trailing comma"},
	{"cut off", "{\"hooks\": {\"Stop\": [", 1, 21, "hooks.Stop[0]", "ends too early"},
	{"cut off in a string", "{\"a\": \"sec", 1, 11, "a", "ends too early"},
	{"two documents", "{}\n{}", 2, 1, "", "not valid JSON"},
	{"missing comma", "{\"a\": 1\n \"b\": 2}", 2, 2, "", "not valid JSON"},
	{"single quotes", "{'a': 1}", 1, 2, "", "single quote"},
	{"line end in a string", "{\"a\": \"b\n\"}", 1, 9, "a", "control character"},
	{"bare word", "{\"a\": undefined}", 1, 7, "a", "not valid JSON"},
	{"characters, not bytes", "{\"é\": \"ü\", x}", 1, 12, "", "not valid JSON"},
	{"array", "[]", 1, 1, "", "not an object"},
	{"null", " null\n", 1, 2, "", "not an object"},
	{"string", "\"hooks\"", 1, 1, "", "not an object"},
	{"utf-16", "\xff\xfe{\x00}\x00", 1, 1, "", "not UTF-8"},
	{"byte order mark twice", "\xef\xbb\xbf\xef\xbb\xbf{}", 1, 1, "", "not valid JSON"},
	{"hooks null", "{\"hooks\": null}", 1, 11, "hooks", "not an object"},
	{"hooks array", "{\n  \"hooks\": []\n}", 2, 12, "hooks", "not an object"},
	{"hooks string", "{\"hooks\": \"none\"}", 1, 11, "hooks", "not an object"},
	{"hooks twice", "{\"hooks\": {},\n \"h\\u006foks\": {}}", 2, 2, "hooks", "twice"},
	{"event twice", "{\"hooks\": {\"Stop\": [], \"Stop\": []}}", 1, 24, "hooks.Stop", "twice"},
	{"event object", "{\"hooks\": {\"Stop\": {}}}", 1, 20, "hooks.Stop", "not an array"},
	{"event null", "{\"hooks\": {\"Stop\": null}}", 1, 20, "hooks.Stop", "not an array"},
	{"event with an odd name", "{\"hooks\": {\"my event\": 1}}", 1, 24, `hooks["my event"]`, "not an array"},
	{"group string", "{\"hooks\": {\"Stop\": [{}, \"x\"]}}", 1, 25, "hooks.Stop[1]", "not an object"},
	{"group hooks object", "{\"hooks\": {\"Stop\": [{\"hooks\": {}}]}}", 1, 31, "hooks.Stop[0].hooks", "not an array"},
	{"group hooks twice", "{\"hooks\": {\"Stop\": [{\"hooks\": [], \"hooks\": []}]}}", 1, 35, "hooks.Stop[0].hooks", "twice"},
	{"entry string", "{\"hooks\": {\"Stop\": [{\"hooks\": [{}, \"x\"]}]}}", 1, 36, "hooks.Stop[0].hooks[1]", "not an object"},
	{"deep", strings.Repeat("[", 20000), 1, 10001, strings.Repeat("[0]", 16) + "...", "not valid JSON"},
}

func TestRefused(t *testing.T) {
	for _, r := range refused {
		t.Run(r.name, func(t *testing.T) {
			got, err := Edit([]byte(r.text), testSpec)
			e, ok := errors.AsType[*settingsError](err)
			if !ok || got != nil {
				t.Fatalf("got %q, %v", got, err)
			}
			if e.Line != r.line || e.Column != r.column || e.Path != r.path || !strings.Contains(e.Problem, r.problem) {
				t.Errorf("got %d:%d %q %q, want %d:%d %q %q", e.Line, e.Column, e.Path, e.Problem, r.line, r.column, r.path, r.problem)
			}
			if _, err := remove([]byte(r.text), false); err == nil {
				t.Error("Remove takes it")
			}
		})
	}
}

// flawed are settings whose hooks clients 2.1.197 or 2.1.329 were seen to ignore. Nothing is
// added to them, but our entries can be removed.
var flawed = []struct {
	name, group  string
	line, column int
	path         string
	problem      string
}{
	{"no hooks", `{}`, 2, 12, "hooks.Stop[0]", "no hooks"},
	{"matcher null", `{"matcher": null, "hooks": []}`, 2, 24, "hooks.Stop[0].matcher", "not a string"},
	{"matcher object", `{"hooks": [], "matcher": {}}`, 2, 37, "hooks.Stop[0].matcher", "not a string"},
	{"no type", `{"hooks": [{"command": "x"}]}`, 2, 23, "hooks.Stop[0].hooks[0]", "no type"},
	{"type null", `{"hooks": [{"type": null}]}`, 2, 23, "hooks.Stop[0].hooks[0]", "no type"},
	{"no command", `{"hooks": [{"type": "command"}]}`, 2, 23, "hooks.Stop[0].hooks[0]", "no command"},
	{"command a number", `{"hooks": [{"type": "command", "command": 7}]}`, 2, 23, "hooks.Stop[0].hooks[0]", "no command"},
}

func TestFlawed(t *testing.T) {
	for _, f := range flawed {
		t.Run(f.name, func(t *testing.T) {
			text := "{\"hooks\": {\n  \"Stop\": [" + f.group + "]}}"
			got, err := Edit([]byte(text), testSpec)
			e, ok := errors.AsType[*settingsError](err)
			if !ok || got != nil {
				t.Fatalf("got %q, %v", got, err)
			}
			if e.Line != f.line || e.Column != f.column || e.Path != f.path || !strings.Contains(e.Problem, f.problem) {
				t.Errorf("%v", e)
			}
			ours := `, {"hooks": [{"type": "command", "command": "/b/beckon-hook"}]}`
			if got := mustRemove(t, []byte(strings.TrimSuffix(text, "]}}")+ours+"]}}")); string(got) != text {
				t.Errorf("Remove gives %s", got)
			}
		})
	}
}

// An entry of ours that has lost its type is rewritten, not refused.
func TestFlawedEntryOfOurs(t *testing.T) {
	got := mustEdit(t, []byte(`{"hooks": {"PreToolUse": [{"hooks": [{"command": "/b/beckon-hook"}]}]}}`), testSpec)
	checkEntries(t, got, testSpec)
}

// An error may be copied into a bug report, so it must not contain values of the settings.
func TestErrorsHoldNoValues(t *testing.T) {
	for _, text := range []string{
		`{"env": {"KEY": "sk-SECRET}`,
		`{"env": {"KEY": sk-SECRET}}`,
		`{"env": {"KEY": "sk-SECRET",}}`,
		`{"env": {"KEY": "sk-SECRET\q"}}`,
		`{"hooks": "sk-SECRET"}`,
		`{"hooks": {"Stop": [{"hooks": ["sk-SECRET"]}]}}`,
	} {
		_, err := Edit([]byte(text), testSpec)
		if err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSpecRefused(t *testing.T) {
	for _, s := range []Spec{
		{Command: "beckon-hook", Events: []string{"Stop"}},
		{Command: "./beckon-hook", Events: []string{"Stop"}},
		{Command: "/bin/other", Events: []string{"Stop"}},
		{Command: "/bin/beckon", Events: []string{"Stop"}},
		{Command: "/b\n/beckon-hook", Events: []string{"Stop"}},
		{Command: "/\xff/beckon-hook", Events: []string{"Stop"}},
		{Command: "/${X}/beckon-hook", Events: []string{"Stop"}},
		{Command: "/bin/beckon-hook"},
	} {
		if _, err := Edit([]byte("{}"), s); err == nil {
			t.Errorf("%+v is taken", s)
		} else if _, ok := errors.AsType[*pathError](err); !ok {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
