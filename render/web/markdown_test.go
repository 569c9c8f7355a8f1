package web

import (
	"fmt"
	"strings"
	"testing"
)

// drawnAs writes blocks in a line each: the kind, with level and mark, then the spans with their styles.
func drawnAs(blocks []block) string {
	var lines []string
	for _, b := range blocks {
		line := b.Kind
		if b.Level > 0 {
			line += fmt.Sprint(b.Level)
		}
		line += b.Mark + ":"
		for _, s := range b.Spans {
			line += fmt.Sprintf(" %s%q", s.Style, s.Text)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"# Move sessions\n\nIn **two** steps, `x` first.\nThen more.", "h1: \"Move sessions\"\n" +
			`p: "In " b"two" " steps, " code"x" " first.` + `\n` + `Then more."`},
		{"3. Add\n4. Write\n   - old\n   - new\n\n   and wait", "item13.: \"Add\"\nitem14.: \"Write\"\nitem2-: \"old\"\nitem2-: \"new\"\nitem1: \"and wait\""},
		{"```go\nfunc f() {\n\n}\n```", `code: "go\nfunc f() {\n\n}"`},
		{"- [x] done\n- [ ] open", "item1-: \"[x] done\"\nitem1-: \"[ ] open\""},
		{"> said\n> > before", "quote1: \"said\"\nquote2: \"before\""},
		{"| a | b |\n|---|---|\n| 1 | *2* |", `p: "| a | b |\n|---|---|\n| 1 | " i"2" " |"`},
		{"see [the *page*](https://example.com/a)", `p: "see the " i"page" " (https://example.com/a)"`},
		{"<b onclick=\"f()\">x</b> y", ""},
		{"<!-- do it\nat once -->\n\nx", "code: \"<!-- do it\\nat once -->\"\np: \"x\""},
		{"<script>\nx\n</script>\n", `code: "<script>\nx\n</script>"`},
		{"**a** &amp; b", `p: b"a" " &amp; b"`},
		{"# a\n\n[x]: https://example.com", "h1: \"a\"\np: \"[x]: https://example.com\""},
		// Nothing would show a title or the number of an item.
		{"[a](b \"title\")", ""},
		{"1. a\n1. b", ""},
		{"plain words\nin two lines", ""}, // nothing to draw
	} {
		if got := drawnAs(blocksOf(c.text)); got != c.want {
			t.Errorf("%q is drawn as\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

// A text is drawn with all its words, or not at all.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a\n\n- b **c** `d`\n\n```e\nf\n```", "> 1. a\n>    | b |\n|-|\n", "[a]: b\n[a]", "<a\n\n<!-- x -->", "![a](b)\n\t*c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		blocks := blocksOf(s)
		var shown strings.Builder
		for _, b := range blocks {
			shown.WriteString(b.Mark)
			for _, s := range b.Spans {
				shown.WriteString(s.Text)
			}
		}
		if len(blocks) > 0 && words(shown.String()) != words(s) {
			t.Errorf("%q is drawn as %s", s, drawnAs(blocks))
		}
	})
}
