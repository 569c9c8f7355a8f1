package config

import (
	"os"
	"strings"
	"testing"

	"beckon/event/policy/rule"
)

// corpus reads shell lines: one per line of the file; a line that begins with a tab continues
// the previous one.
func corpus(t *testing.T, file string) (list []string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "\t"); ok || line == "" && len(list) > 0 {
			list[len(list)-1] += "\n" + rest
		} else if !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// all returns the rules of all packs that refuse or ask.
func all(t *testing.T) (hooks []*Hook) {
	for _, h := range decoded(t, `{"packs":["`+strings.Join(Packs(), `","`)+`"]}`) {
		if h.Spec.Rule.Decision != "allow" {
			hooks = append(hooks, h)
		}
	}
	return hooks
}

// The packs let everyday commands pass and find harmful ones, in whatever form these are
// written.
func TestCorpus(t *testing.T) {
	rules := all(t)
	verdict := func(line string) (found string) {
		call := callOf(line)
		for _, h := range rules {
			if h.Spec.Rule.Match.Evaluate(call).Result == rule.Yes {
				return h.ID
			}
		}
		return ""
	}
	for set, least := range map[string]int{"": 250, "2": 180} {
		harmless, harmful := corpus(t, "testdata/harmless"+set+".txt"), corpus(t, "testdata/harmful"+set+".txt")
		refused := 0
		for _, line := range harmless {
			if id := verdict(line); id != "" {
				refused++
				t.Logf("%s on %q", id, line)
			}
		}
		var missed []string
		for _, line := range harmful {
			if verdict(line) == "" {
				missed = append(missed, line)
			}
		}
		found := len(harmful) - len(missed)
		t.Logf("set %q: %d of %d harmless lines are refused; %d of %d harmful ones are found, %.1f %%; missed:\n%s", set, refused, len(harmless),
			found, len(harmful), 100*float64(found)/float64(len(harmful)), strings.Join(missed, "\n"))
		if found*100 < len(harmful)*95 || refused*100 > len(harmless) {
			t.Error("fewer than 95 % of the harmful lines are found, or more than 1 % of the harmless ones")
		}
		if len(harmless) < least || len(harmful) < least {
			t.Error("the corpus has shrunk")
		}
	}
}
