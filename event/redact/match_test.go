package redact

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"beckon/event/redact/rules"

	"pgregory.net/rapid"
)

// compiled returns the rules with Go's own regular expressions.
var compiled = sync.OnceValues(func() (all []compiledRule, err error) {
	loaded, err := rules.Load()
	for _, r := range loaded {
		all = append(all, compiledRule{r, regexp.MustCompile("^(?:" + r.Regex + ")")})
	}
	return all, err
})

type compiledRule struct {
	rules.Rule
	re *regexp.Regexp
}

// The table is what go generate would write for the rules.
func TestTableIsOfTheseRules(t *testing.T) {
	all, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	made, err := rules.Compile(all)
	if err != nil {
		t.Fatal(err)
	}
	want, err := made.Source()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("table.go"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("table.go is old: run go generate ./event/redact (%v)", err)
	}
}

// same checks a rule's program against Go's regexp: both find the same secret at the beginning
// of s, or none.
func same(t interface{ Fatalf(string, ...any) }, i int, r compiledRule, s string) (found bool) {
	m := matcher{s: s}
	got := m.run(int(table[i].pc), 0)
	want := r.re.FindStringSubmatchIndex(s)
	if got != (want != nil) {
		t.Fatalf("%s: match of %q is %t", r.ID, s, got)
	}
	if got && (m.from != want[2*r.Group] || m.to != want[2*r.Group+1]) {
		t.Fatalf("%s: the secret in %q is %d to %d, not %v", r.ID, s, m.from, m.to, want)
	}
	return got
}

// ascii reduces a text to ASCII. The table leaves out what a regular expression matches beyond
// it, because of an unescaped full stop, or because the Kelvin sign is a k.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u212a':
			return 'k'
		case r == '\u017f':
			return 's'
		case r >= utf8.RuneSelf:
			return '.'
		}
		return r
	}, s)
}

// The matcher that the hook uses instead of regular expressions finds what they find.
func TestRulesMatchAsRegexpDoes(t *testing.T) {
	all, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 200 || len(all) != len(table) {
		t.Fatalf("%d rules, %d in the table", len(all), len(table))
	}
	for i, r := range all {
		samples := sampler(r)
		matched := 0
		for seed := range 12 {
			s := ascii(samples.Example(seed))
			for _, variant := range []string{s, s + " ", s + "x", s[:len(s)-1], strings.ToUpper(s), s[:len(s)/2] + "-" + s[len(s)/2:], s[:len(s)*2/3] + s[len(s)/3:]} {
				if same(t, i, r, variant) {
					matched++
				}
			}
		}
		if matched == 0 {
			t.Errorf("%s: no sample matched", r.ID)
		}
	}
}

// sampler returns short texts that a rule matches.
func sampler(r compiledRule) *rapid.Generator[string] {
	return rapid.StringMatching(atLeast.ReplaceAllString(r.Regex, "{$1}"))
}

var atLeast = regexp.MustCompile(`\{(\d+),\}`)

func FuzzRules(f *testing.F) {
	f.Add(0, "sk-ant-api03-"+fake(40))
	f.Add(60, "adobe_key = '"+strings.ToLower(fake(32))+"'")
	f.Fuzz(func(t *testing.T, i int, s string) {
		all, err := compiled()
		if err != nil || len(s) > longest {
			t.Skip(err)
		}
		i = (i%len(all) + len(all)) % len(all)
		same(t, i, all[i], ascii(s))
	})
}

// Every rule is found by the byte with which it begins or which it contains.
func TestRulesAreFoundInTexts(t *testing.T) {
	all, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range all {
		samples := sampler(r)
		found := false
		for seed := 0; seed < 20 && !found; seed++ {
			s := ascii(samples.Example(seed))
			found = Text("see "+s+"\n") != "see "+s+"\n"
		}
		if !found {
			t.Errorf("%s (%d): not found in a text", r.ID, i)
		}
	}
}
