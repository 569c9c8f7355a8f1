package config

import (
	"slices"
	"strings"
	"testing"

	"beckon/event/policy/rule"

	"github.com/tidwall/gjson"
)

func callOf(c string) *rule.Call {
	tool, input := inputOf(c)
	return &rule.Call{Tool: tool, Input: input, Cwd: "/w/p", Project: "/w/p", Home: "/home/u"}
}

// Each pack is a policy without a mistake or doubt, and each rule decides its cases as they state.
func TestRules(t *testing.T) {
	files, err := packs.ReadDir("packs")
	if err != nil || len(files) != len(Packs()) {
		t.Fatalf("%v, %v; Packs are %v", files, err, Packs())
	}
	var ids []string
	for _, name := range Packs() {
		text, err := packs.ReadFile("packs/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		written := gjson.GetBytes(text, "hooks.PreToolUse.0.hooks").Array()
		hooks := decoded(t, string(text))
		if len(hooks) == 0 || len(hooks) != len(written) {
			t.Errorf("%s has %d rules, %d are written", name, len(hooks), len(written))
		}
		for i, h := range hooks {
			r := h.Spec.Rule
			ids = append(ids, name+"/"+h.ID)
			for _, text := range r.Match.Doubts() {
				t.Errorf("%s: %s", h.ID, text)
			}
			fits, passes := written[i].Get("match").Array(), written[i].Get("not_match").Array()
			if r.Reason == "" || !slices.Contains([]string{"deny", "ask", "allow"}, string(r.Decision)) || len(fits) == 0 || len(passes) == 0 {
				t.Errorf("%s: %q, %d cases fit, %d pass, reason %q", h.ID, r.Decision, len(fits), len(passes), r.Reason)
			}
			for at, c := range slices.Concat(fits, passes) {
				if v := r.Match.Evaluate(callOf(c.Str)); (v.Result == rule.Yes) != (at < len(fits)) {
					t.Errorf("%s on %q: %+v", h.ID, c.Str, v)
				}
			}
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Error("an id is there twice: " + strings.Join(ids, " "))
	}
	if _, err := Decode("p.json", Global, []byte(`{"packs":["none"]}`), false); err == nil {
		t.Error("there is no such pack")
	}
}

// inputOf returns the tool of a case's call and its input as JSON.
func inputOf(c string) (tool string, input []byte) {
	for word, tool := range map[string]string{"read ": "Read", "write ": "Write"} {
		if file, ok := strings.CutPrefix(c, word); ok {
			return tool, append(gjson.AppendJSONString([]byte(`{"file_path":`), file), '}')
		}
	}
	return "Bash", append(gjson.AppendJSONString([]byte(`{"command":`), c), '}')
}
