package packs

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/rule"

	"github.com/tidwall/gjson"
)

func callOf(c string) *rule.Call {
	tool, input := inputOf(c)
	return &rule.Call{Tool: tool, Input: input, Cwd: "/w/p", Project: "/w/p", Home: "/home/u"}
}

// Each rule decides its cases as they state, and none of its entries is a mistake.
func TestRules(t *testing.T) {
	files, err := fs.Glob(files, "*.json")
	if err != nil || len(files) != len(Names()) {
		t.Fatalf("%v, %v; Names are %v", files, err, Names())
	}
	var ids []string
	for _, name := range Names() {
		rules, ok := Load(name)
		if !ok || len(rules) == 0 {
			t.Errorf("%s has no rules", name)
		}
		for _, r := range rules {
			if _, err := rule.NewMatcher(event.PreToolUse, r.Tools); err != nil {
				t.Errorf("%s: %v", r.ID, err)
			}
			ids = append(ids, r.ID)
			for _, p := range r.Match().Check() {
				t.Errorf("%s: %s: %s", r.ID, p.Field, p.What)
			}
			if r.Reason == "" || !slices.Contains([]string{"deny", "ask", "allow"}, r.Decision) || len(r.Fits) == 0 || len(r.Passes) == 0 {
				t.Errorf("%s: %q, %d cases fit, %d pass, reason %q", r.ID, r.Decision, len(r.Fits), len(r.Passes), r.Reason)
			}
			match := r.Match()
			for _, c := range slices.Concat(r.Fits, r.Passes) {
				if v := match.Evaluate(callOf(c)); (v.Result == rule.Yes) != slices.Contains(r.Fits, c) {
					t.Errorf("%s on %q: %+v", r.ID, c, v)
				}
			}
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Error("an id is there twice: " + strings.Join(ids, " "))
	}
	if _, ok := Load("none"); ok {
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
