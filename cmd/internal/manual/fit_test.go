package manual

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Every page fits a terminal: no line except in examples is too wide, and no word is lost
// except those of pictures and link targets.
func TestFit(t *testing.T) {
	for _, topic := range Topics() {
		page, err := Page(topic)
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{60, 80, Widest} {
			got := Fit(page, width)
			for line := range strings.Lines(got) {
				line = strings.TrimSuffix(line, "\n")
				if !strings.HasPrefix(line, "    ") && ansi.StringWidth(line) > width && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s at %d columns: %q", topic, width, line)
				}
			}
			if width == Widest {
				want := regexp.MustCompile(`(?m)^!\[.*\n|^\|[-|]*\n`).ReplaceAllString(page, "")
				if missing := without(letters(want), letters(got)); len(missing) > 0 {
					t.Errorf("%s lacks %q", topic, missing)
				}
			}
		}
	}
}

// letters returns the words of a text, reduced to letters, without the targets of links.
func letters(text string) []string {
	text = regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(text, "]")
	return regexp.MustCompile(`[A-Za-z]+`).FindAllString(text, -1)
}

// without returns what is in want and not in got.
func without(want, got []string) (missing []string) {
	for _, w := range want {
		if !slices.Contains(got, w) {
			missing = append(missing, w)
		}
	}
	return missing
}

func TestFitBlocks(t *testing.T) {
	const page = `# Title

![a picture](x.svg)

One two three, see [the topic](topic.md), [there](https://example.org/a) and [a file](../../x/y.md).

- first item with words
  that go on
- second

    $ code stays   as it is, however wide it may be

| | a | b |
|---|---|---|
| one\|two | ` + "`--dry-run`" + ` | |
`
	const want = `# Title

One two three, see the topic
(beckon help topic), there
(https://example.org/a) and a
file.

- first item with words that
  go on
- second

    $ code stays   as it is, however wide it may be

         a            b
---      ---          ---
one|two  ` + "`--dry-run`" + `
`
	if got := Fit(page, 30); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
