package term

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func stringWidth(s string) int { return ansi.StringWidth(s) }
func strip(s string) string    { return ansi.Strip(s) }

// drawn returns text as it is drawn: without control characters, except those of its colours.
func drawn() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for _, s := range rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]*`), rapid.SampledFrom([]string{"日本", "e\u0301", "a\tb", "👩‍💻"})), 0, 4).Draw(t, "texts") {
			b.WriteString(Style{Color: rapid.Bool().Draw(t, "color")}.Paint("31", clean(s)))
		}
		return b.String()
	})
}

// Text is as wide as package ansi says, which the screens use, and is cut to fit.
func TestWidths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := drawn().Draw(t, "s"), rapid.IntRange(1, 20).Draw(t, "width")
		if got, want := Width(s), ansi.StringWidth(s); got != want {
			t.Fatalf("%q is %d columns wide, not %d", s, got, want)
		}
		plain, fits := ansi.Strip(s), ansi.StringWidth(s) <= n
		got := ansi.Strip(truncate(s, n, "…"))
		if head, cut := strings.CutSuffix(got, "…"); ansi.StringWidth(got) > n || fits && got != plain || !fits && !(cut && strings.HasPrefix(plain, head)) {
			t.Fatalf("%q cut to %d is %q", s, n, got)
		}
		if got := Middle(plain, n); ansi.StringWidth(got) > n || fits && got != plain {
			t.Fatalf("the middle of %q cut to %d is %q", plain, n, got)
		}
	})
	for s, want := range map[string]string{"abcdefghij": "ab…ij", "日本語日本語": "日…語"} {
		if got := Middle(s, 5); got != want {
			t.Errorf("the middle of %q cut to 5 is %q, not %q", s, got, want)
		}
	}
}
