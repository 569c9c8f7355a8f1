package installer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"beckon/event"
)

// laxSettings are files that Gemini CLI and Qwen Code read.
var laxSettings = map[string]string{
	"comments":           "{\n  // mine\n  \"ui\": {\"theme\": \"x\"} // dark\n  /* the end */\n}\n// bye\n",
	"crlf":               "{\r\n  \"ui\": 1 // dark\r\n}\r\n",
	"blank behind":       "{\n  \"ui\": 1 // dark  \n}\n",
	"one line":           "{\"ui\": 1 /* dark */} // bye",
	"first line":         "{\"ui\": 1 // dark\n}",
	"nothing else":       "{\n  // \"ui\": {}\n}\n",
	"in front":           "// mine\n{}\n",
	"comma behind":       "{\n  \"ui\": 1 // dark\n  , \"a\": 2 // \"b\": 3, {\n}\n",
	"in hooks":           "{\n  \"hooks\": {\n    // none yet\n  }\n}\n",
	"another's hook":     "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"x\" /* y */}]} // theirs\n    ] // all\n  }\n}\n",
	"text like comments": "{\"a\": \"http://x /* \", \"b\": \"\\\"//\" /* , */}",
	"switches":           "{\"hooks\": {\"enabled\": true, \"disabled\": [\"x\"], \"notifications\": false}}",
	"a group without":    "{\"hooks\": {\"SessionStart\": [{\"matcher\": \"x\"}]}}",
}

func laxSpec(agent string) Spec { return AgentSpec(event.AgentOf(agent), "/opt/beckon-hook") }

func unmarshalLax(text []byte, to any) error {
	plain, err := hujson.Standardize(append(bytes.Clone(text), '\n'))
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, to)
}

func TestLaxSettings(t *testing.T) {
	for name, old := range laxSettings {
		for _, agent := range []string{"gemini", "qwen"} {
			t.Run(name+" "+agent, func(t *testing.T) {
				spec := laxSpec(agent)
				text := mustEdit(t, []byte(old), spec)
				var all map[string]any
				if err := unmarshalLax(text, &all); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				for _, line := range strings.Split(strings.TrimSuffix(old, "\n"), "\n") {
					_, comment, ok := strings.Cut(line, " //")
					if ok && !strings.Contains(string(text), strings.TrimSpace(comment)) {
						t.Errorf("lost %q\n%s", comment, text)
					}
				}
				if again := mustEdit(t, text, spec); !bytes.Equal(again, text) {
					t.Errorf("another edit changes it:\n%s", again)
				}
				got, err := remove(text)
				var left, was map[string]any
				if err := errors.Join(err, unmarshalLax(got, &left), unmarshalLax([]byte(old), &was)); err != nil {
					t.Fatalf("removing leaves\n%q: %v", got, err)
				}
				prune(left)
				prune(was)
				if !reflect.DeepEqual(left, was) || strings.Count(string(got), "//") != strings.Count(old, "//") {
					t.Errorf("removing leaves\n%q, want\n%q", got, old)
				}
				h := newHome(t).with(old)
				h.agent = spec.agent
				h.apply(Install(spec))
				now, err := Plan(h.Target, Install(spec))
				if err != nil || !now.Noop() {
					t.Errorf("a second time: %v", err)
				}
				if r := InspectFile(h.Target); r.Err != nil || len(r.Entries) != len(spec.Events) {
					t.Errorf("%+v", r)
				}
				h.apply(Uninstall())
				h.is(old)
			})
		}
	}
}

func TestLaxRoundTripGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := generator{t, rapid.SampledFrom([]string{"", "\n  ", "mixed"}).Draw(t, "style"), "", true}.settings()
		spec := laxSpec("gemini")
		spec.Events = testSpec.Events
		text, err := Edit(old, spec)
		if err != nil {
			t.Fatalf("%q: %v", old, err)
		}
		var any json.RawMessage
		if _, bare := cutBOM(text); unmarshalLax(bare, &any) != nil {
			t.Fatalf("no JSON any more:\n%s", text)
		}
		got, err := remove(text)
		if err != nil || owns(got) || bytes.Count(got, []byte("/*")) != bytes.Count(old, []byte("/*")) {
			t.Fatalf("removing leaves %q, %v, want %q", got, err, old)
		}
	})
}

// What the user writes around our entries later stays, and stays JSON.
func TestLaxCommentsAddedLater(t *testing.T) {
	spec := laxSpec("gemini")
	spec.Events = []string{"A", "B", "C"}
	text := string(mustEdit(t, []byte("{\n  \"ui\": 1 // dark\n}\n"), spec))
	for _, name := range spec.Events {
		ours := `"` + name + `": [`
		if !strings.Contains(text, ours) {
			t.Fatalf("%s is not in\n%s", ours, text)
		}
		text = strings.Replace(text, ours, "// before "+name+"\n    \"Mine"+name+"\": [], // mine "+name+"\n    "+ours, 1)
	}
	text = strings.Replace(text, "\n}\n", " // behind\n, \"z\": 0 // last\n}\n", 1)
	got, err := remove([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var left struct {
		Hooks map[string][]int
		Z     int
	}
	if err := unmarshalLax(got, &left); err != nil || len(left.Hooks) != 3 {
		t.Errorf("%v: %v\n%s", left, err, got)
	}
	for _, comment := range []string{"// dark", "// before A", "// mine A", "// before B", "// mine B", "// before C", "// mine C", "// behind", "// last"} {
		if !strings.Contains(string(got), comment) {
			t.Errorf("%s is gone:\n%s", comment, got)
		}
	}
}

// A comment in front of an entry of ours that reaches to the end of its line never covers what
// follows the entry.
func TestLaxLineComments(t *testing.T) {
	ours := `[{"hooks": [{"type": "command", "command": "/b/beckon-hook A"}]}]`
	for _, hooks := range []string{
		"{\"A\": []\n // mine\n, \"B\": %s}", "{\"A\": [], // mine\n \"B\": %s}",
		"{\"A\": [], // mine\n \"B\": %s, \"C\": []}", "{\"A\": [] // mine\n, \"B\": %s, \"C\": []}",
		"{// mine\n \"B\": %s, \"C\": []}", "{\"B\": %s // mine\n, \"C\": []}",
	} {
		got, err := remove([]byte("{\"hooks\": " + fmt.Sprintf(hooks, ours) + "}"))
		if err != nil {
			t.Fatalf("%s: %v", hooks, err)
		}
		var left struct{ Hooks map[string][]any }
		want := strings.Count(hooks, "[]")
		if err := unmarshalLax(got, &left); err != nil || len(left.Hooks) != want || !strings.Contains(string(got), "// mine\n") {
			t.Errorf("%s leaves %s: %v", hooks, got, err)
		}
	}
}

// Other clients do not read comments: a file with them stays refused.
func TestStrictSettings(t *testing.T) {
	for name, text := range laxSettings {
		if !strings.Contains(text, "//") && !strings.Contains(text, "/*") {
			continue
		}
		if name == "text like comments" {
			text = strings.Replace(text, "/* , */", "//", 1)
		}
		if _, err := Edit([]byte(text), laxSpec("codex")); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	for _, text := range []string{"{ /* x", "/"} {
		if _, err := Edit([]byte(text), laxSpec("gemini")); err == nil || strings.Contains(err.Error(), "Claude") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
