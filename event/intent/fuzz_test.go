package intent

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// FuzzOfMessage checks that no text causes a panic; that a verdict is a row of the table and
// always the same; that a question has a sentence to show, in one line, whose words are in the
// text; and that text in front of the window changes nothing.
func FuzzOfMessage(f *testing.F) {
	for _, half := range halves {
		for _, m := range load(f, half) {
			f.Add(m.Text)
		}
	}
	for _, s := range []string{"?", "```", "``` ```", "`", "'", "\"?", "(?", "(?)", "[](", "http://", "- ?", "1. ?", "**?**", "# ?", "\xff?", "？", "¿?", "…?", "a\x00?", "| ?", "> ?", "\t\t?", "TASK COMPLETE", "Der Exd, wenst fertwg. Sag Bescheiport in du noch etias JJJJändern m\u061c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := OfMessage(text, false)
		if again := OfMessage(text, false); again != r {
			t.Fatalf("%v, then %v", r, again)
		}
		checkResult(t, r.Rule)
		checkQuestion(t, text, r)
		far := strings.Repeat("Nothing to see here.\n", Window/8) + "\n"
		if a, b := OfMessage(far+text, false), OfMessage(far+far+text, false); a != b {
			t.Fatalf("what is far up changes %v into %v", a, b)
		}
	})
}

func checkResult(t *testing.T, r Rule) {
	t.Helper()
	if !slices.Contains(rules[:], r) || r.Confidence < 0 || r.Confidence > 1 {
		t.Fatalf("%v is no row", r)
	}
}

func checkQuestion(t *testing.T, text string, r Message) {
	t.Helper()
	q := r.Question
	if (q != "") != (r.Intent == IntentQuestion) {
		t.Fatalf("%v, but the question is %q", r, q)
	}
	if !utf8.ValidString(q) || strings.TrimSpace(q) != q || len(q) > Window {
		t.Fatalf("the question is %q", q)
	}
	for _, c := range q {
		if unicode.IsControl(c) || unicode.Is(unicode.Zl, c) || unicode.Is(unicode.Zp, c) || unicode.Is(unicode.Bidi_Control, c) {
			t.Fatalf("%q holds %U", q, c)
		}
	}
	if plain := oneLine(strings.ToValidUTF8(text, "")); !strings.Contains(squeeze(plain), squeeze(q)) {
		t.Fatalf("%q is not in %q", q, plain)
	}
}

// squeeze removes what a display may add or drop: space and emphasis.
func squeeze(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || c == '*' {
			return -1
		}
		return c
	}, s)
}

// A message cut to its last 2 KiB gets the verdict of the whole message, wherever the cut is.
func TestCut(t *testing.T) {
	const kept = 2 << 10
	code := strings.Repeat("\tif why := ask(); why != \"really?\" { return }\n", 80)
	for _, front := range []string{
		strings.Repeat("The reader takes one line after the other, and keeps none of them.\n\n", 60),
		"The reader:\n\n```go\n" + code + "```\n\n",
		"The reader:\n\n```\n" + code + "```\n\n",
	} {
		for _, half := range halves {
			if testing.Short() && half != halves[0] {
				continue
			}
			for _, m := range load(t, half) {
				whole := front + m.Text
				if m.Actor == "user" || len(m.Text) > kept-200 || strings.Count(m.Text, "```")%2 > 0 {
					continue
				}
				if a, b := OfMessage(whole, false), OfMessage(strings.ToValidUTF8(whole[len(whole)-kept:], ""), false); a != b {
					t.Errorf("%s: %v, cut %v", m.ID, a, b)
				}
			}
		}
	}
}

// The work does not grow with the message, however awkward it is. The limit is a thousand
// times the usual work.
func TestBounded(t *testing.T) {
	for _, s := range []string{"?", "? ", "a? ", "?\n", "- ?\n", "`", "``", "` ", "'a ", "\"", "(", "[", "](", "http://", "“", "```\n", "a ", "I'll ", "**", "_", "？", "\xf0", "let me know * "} {
		text := strings.Repeat(s, 1<<20/len(s))
		start := time.Now()
		OfMessage(text, false)
		if took := time.Since(start); took > time.Second {
			t.Errorf("1 MiB of %q takes %v", s, took)
		}
	}
}

func ofMessage(b *testing.B, text string) {
	for b.Loop() {
		OfMessage(text, false)
	}
}

func BenchmarkOfMessage(b *testing.B) {
	all := load(b, "dev")
	b.Run("typical", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			OfMessage(all[i%len(all)].Text, false)
		}
	})
	long := strings.Repeat("The second worker reads `queue.go` and waits until the first is done; nothing is lost.\n\n", 100)
	b.Run("2KiB", func(b *testing.B) {
		b.ReportAllocs()
		ofMessage(b, long[:2<<10])
	})
	b.Run("4KiB", func(b *testing.B) {
		b.ReportAllocs()
		ofMessage(b, long[:4<<10])
	})
	b.Run("1MiB", func(b *testing.B) {
		b.ReportAllocs()
		ofMessage(b, strings.Repeat(long, 1<<20/len(long)))
	})
	b.Run("worst", func(b *testing.B) {
		b.ReportAllocs()
		ofMessage(b, strings.Repeat("why not a? ", Window/11))
	})
}
