package manual

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"beckon/event/policy/config"
	"beckon/event/policy/rule"
)

const readme = "../../../README.md"

func TestPage(t *testing.T) {
	if len(Topics()) < 10 {
		t.Errorf("topics: %v", Topics())
	}
	for _, topic := range Topics() {
		page, err := Page(topic)
		if err != nil || !strings.HasPrefix(page, "# ") || strings.Contains(page, "<!--") {
			t.Errorf("%s begins %.40q: %v", topic, page, err)
		}
	}
	for _, name := range []string{"", "nosuch", "../manual/policy", "policy.md"} {
		if _, err := Page(name); err == nil {
			t.Errorf("%q is a topic", name)
		}
	}
}

// TestShort: README and manual can be read in an hour. The bars of tables are not words.
func TestShort(t *testing.T) {
	const limit = 10_000
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 220 {
		t.Errorf("README has %d lines", lines)
	}
	for _, topic := range Topics() {
		page, err := Page(topic)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, page...)
	}
	words := 0
	for word := range strings.FieldsSeq(string(text)) {
		if regexp.MustCompile(`[A-Za-z0-9]`).MatchString(word) {
			words++
		}
	}
	if words > limit {
		t.Errorf("%d words, of at most %d", words, limit)
	}
}

// TestPacks: the manual names every pack of rules.
func TestPacks(t *testing.T) {
	page, err := Page("policy")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range config.Packs() {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the manual lacks the pack %s", name)
		}
	}
}

// TestRuleLines: rules cover the lines of which the manual says so, and no others.
func TestRuleLines(t *testing.T) {
	page, err := Page("policy")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), " | ")
		if len(cells) != 3 || cells[2] != "yes |" && cells[2] != "no |" {
			continue
		}
		plain := func(cell string) string {
			return strings.ReplaceAll(strings.Trim(strings.TrimPrefix(cell, "| "), "`"), "\x00", "|")
		}
		rows++
		r := &rule.Rule{Conditions: rule.Conditions{Commands: []string{plain(cells[0])}}}
		input, err := json.Marshal(map[string]string{"command": plain(cells[1])})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Evaluate(&rule.Call{Tool: "Bash", Input: input, Cwd: "/w/p", Project: "/w/p", Home: "/home/u"})
		if (got.Result == rule.Yes) != (cells[2] == "yes |") {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if rows != 15 {
		t.Errorf("the manual has %d lines of rules", rows)
	}
}

// TestReadme: the README stays short enough to read at once, and names every topic.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n > 250 {
		t.Errorf("the README has %d lines: what is longer belongs into the manual", n)
	}
	for _, topic := range Topics() {
		if !strings.Contains(string(b), "]("+"cmd/internal/manual/"+topic+".md)") {
			t.Errorf("the README has no link to %s.md", topic)
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	symbols = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks: every link of the README and the manual leads to an existing file of the
// repository, and to an existing heading.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, readme) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			path := page
			if file != "" {
				path = filepath.Join(filepath.Dir(page), file)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Errorf("%s: %v", page, err)
			}
			if anchor != "" && !hasAnchor(string(text), anchor) {
				t.Errorf("%s: no heading for the link %q", page, m[1])
			}
		}
	}
}

func hasAnchor(text, anchor string) bool {
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		if strings.ReplaceAll(symbols.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}
