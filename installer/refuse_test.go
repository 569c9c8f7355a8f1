package installer

import (
	"strings"
	"testing"
)

// refused are settings that must not be changed, each with the place of the mistake.
var refused = []struct {
	name, text   string
	line, column int
	problem      string
}{
	{"line comment", "{\n  // mine\n  \"a\": 1\n}", 2, 3, "not valid JSON"},
	{"block comment", "{\"env\": {\"A\": /* x */ \"1\"}}", 1, 15, "not valid JSON"},
	{"trailing comma in object", "{\n  \"a\": 1,\n}\n", 3, 1, "not valid JSON"},
	{"trailing comma in array", "{\"hooks\": {\"Stop\": [{}, ]}}", 1, 25, "not valid JSON"},
	{"cut off", "{\"hooks\": {\"Stop\": [", 1, 21, "ends too early"},
	{"cut off in a string", "{\"a\": \"sec", 1, 11, "ends too early"},
	{"two documents", "{}\n{}", 2, 1, "not valid JSON"},
	{"missing comma", "{\"a\": 1\n \"b\": 2}", 2, 2, "not valid JSON"},
	{"single quotes", "{'a': 1}", 1, 2, "not valid JSON"},
	{"line end in a string", "{\"a\": \"b\n\"}", 1, 7, "not valid JSON"},
	{"bare word", "{\"a\": undefined}", 1, 7, "not valid JSON"},
	{"array", "[]", 1, 1, "not an object"},
	{"null", " null\n", 1, 2, "not an object"},
	{"string", "\"hooks\"", 1, 1, "not an object"},
	{"utf-16", "\xff\xfe{\x00}\x00", 1, 1, "not valid JSON"},
	{"byte order mark twice", "\xef\xbb\xbf\xef\xbb\xbf{}", 1, 1, "not valid JSON"},
	{"hooks array", "{\n  \"hooks\": []\n}", 2, 12, "not what the client reads"},
	{"hooks string", "{\"hooks\": \"none\"}", 1, 11, "not what the client reads"},
	{"deep", `{"a": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}", 1, 10006, "not valid JSON"},
}

func TestRefused(t *testing.T) {
	for _, r := range refused {
		t.Run(r.name, func(t *testing.T) {
			got, err := Edit([]byte(r.text), testSpec)
			line, column, what := placeOf(err)
			if got != nil || line != r.line || column != r.column || !strings.Contains(what, r.problem) {
				t.Errorf("got %v and %q, want %d:%d %q", err, got, r.line, r.column, r.problem)
			}
		})
	}
}

// flawed are hooks of other tools that no client can run. A client skips them and runs the rest of the
// file (2.1.331 was seen to).
var flawed = map[string]string{
	"event null":       `null`,
	"event a string":   `"notify.sh"`,
	"event an object":  `{}`,
	"null in the list": `[null]`,
	"flat entry":       `[{"type": "command", "command": "x"}]`,
	"hooks an object":  `[{"matcher": "*", "hooks": {"type": "command", "command": "x"}}]`,
	"matcher null":     `[{"matcher": null, "hooks": []}]`,
	"entry a string":   `[{"hooks": [{"type": "command", "command": "x"}, "x"]}]`,
	"no type":          `[{"hooks": [{"command": "x"}]}]`,
	"type null":        `[{"hooks": [{"type": null}]}]`,
	"no command":       `[{"hooks": [{"type": "command"}]}]`,
	"command a number": `[{"hooks": [{"type": "command", "command": 7}]}]`,
}

// Install works beside them, and uninstall takes out what is ours.
func TestFlawed(t *testing.T) {
	for name, f := range flawed {
		text := "{\n  \"hooks\": {\n    \"Setup\": " + f + ",\n    \"Other\": []\n  }\n}\n"
		got, err := Edit([]byte(text), testSpec)
		if err != nil || !strings.Contains(string(got), f) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, event := range testSpec.Events {
			if strings.Count(string(got), `"`+event+`": [`) != 1 {
				t.Errorf("%s: no %s in\n%s", name, event, got)
			}
		}
		if again := mustEdit(t, got, testSpec); string(again) != string(got) {
			t.Errorf("%s: a second install changes\n%s", name, Change{Old: got, New: again}.Diff())
		}
		if back := string(mustRemove(t, got)); back != text {
			t.Errorf("%s: Remove gives %s", name, back)
		}
		h := newHome(t).with(text)
		h.apply(Install(testSpec))
		h.apply(Uninstall())
		h.is(text)
	}
}

// Where another tool's mistake stands in an event of ours: null is nothing, what else is there
// stays, and the event goes without our hook.
func TestFlawedEventOfOurs(t *testing.T) {
	for value, want := range map[string]int{`null`: 3, `[null]`: 3, `[]`: 3, `"x"`: 2, `{"a": 1}`: 2, `7`: 2} {
		got, err := Edit([]byte(`{"hooks": {"PreToolUse": `+value+`}}`), testSpec)
		if n := strings.Count(string(got), "beckon-hook"); err != nil || n != want {
			t.Errorf("%s: %d entries, %v\n%s", value, n, err, got)
		}
	}
	got := mustEdit(t, []byte(`{"hooks": null}`), testSpec)
	checkEntries(t, got, testSpec)
}

// What is ours goes from any file whose structure can be read.
func TestRemoveFromOddFiles(t *testing.T) {
	ours := `[{"hooks": [{"type": "command", "command": "/b/beckon-hook"}]}]`
	for text, want := range map[string]string{
		`{"hooks": {"Stop": ` + ours + `}, "hooks": {"Stop": [], "Setup": ` + ours + `}}`: `{"hooks": {"Stop": []}}`,
		`{"hooks": {"Stop": ` + ours + `, "Stop": ` + ours + `}}`:                         `{}`,
		"{\n// mine\n\"a\": 1, \"hooks\": {\"Stop\": " + ours + "},}":                     "{\n// mine\n\"a\": 1}",
	} {
		if got := string(mustRemove(t, []byte(text))); got != want {
			t.Errorf("%s leaves %s", text, got)
		}
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
		} else if !told(err) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// A key that appears twice means its last value to clients: that one gets the entries, and no other
// keeps any.
func TestKeyTwice(t *testing.T) {
	ours := `[{"hooks": [{"type": "command", "command": "/b/beckon-hook", "args": ["PreToolUse"]}]}]`
	for _, text := range []string{
		`{"hooks": {"PreToolUse": ` + ours + `}, "h\u006foks": {"Mine": []}}`,
		`{"hooks": {"PreToolUse": ` + ours + `, "PreToolUse": []}}`,
	} {
		got := mustEdit(t, []byte(text), testSpec)
		checkEntries(t, got, testSpec)
		if n := strings.Count(string(got), "beckon-hook"); n != len(testSpec.Events) {
			t.Errorf("%d entries in\n%s", n, got)
		}
	}
}
