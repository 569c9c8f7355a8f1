package term

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func stringWidth(s string) int { return ansi.StringWidth(s) }
func strip(s string) string    { return ansi.Strip(s) }

func TestWidthOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]*`), rapid.SampledFrom([]string{"\x1b[31mred\x1b[0m", "日本", "e\u0301", "\x7f", "a\tb"})).Draw(t, "s")
		if got, want := widthOf(s), ansi.StringWidth(s); got != want {
			t.Fatalf("%q is %d columns wide, not %d", s, got, want)
		}
	})
}
