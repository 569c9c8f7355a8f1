package command

import (
	"strings"
	"testing"
)

// The result of parsing a line is bounded, not only the line: short statements can build long
// values from each other, and each subshell has all variables.
func TestBounded(t *testing.T) {
	repeat := func(text string) string { return strings.Repeat(text, maxText/2/len(text)) }
	for name, text := range map[string]string{
		"array":        repeat("a+=(b);"),
		"value":        repeat("a+=b;"),
		"doubled":      "x=aaaa;" + repeat("x=$x$x;"),
		"redirections": repeat(">b;"),
		"exports":      repeat("export a=b;"),
		"nested":       strings.Repeat("x <(", 300) + strings.Repeat("a;", 10_000) + strings.Repeat(")", 300),
		"evals":        "x=a;if a; then " + strings.Repeat("x=b;", 60) + "fi;" + repeat("eval $x;"),
		"subshells":    variables(5000) + repeat("(a);"),
		"aliases":      "git " + repeat("-c alias.x=!a ") + "x",
	} {
		l := Parse(text, Bash)
		if len(l.Unknown) == 0 {
			t.Errorf("%s: the whole line was read", name)
		}
		if len(l.Commands) > maxCommands {
			t.Errorf("%s: %d commands", name, len(l.Commands))
		}
	}
	if l := Parse("cat <<'E' >a\n"+strings.Repeat("some text of a file, as agents write it\n", 3000)+"E\n", Bash); len(l.Unknown) > 0 {
		t.Errorf("a large file: %q", l.Unknown)
	}
}

// variables returns a line that sets n variables.
func variables(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("v" + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + "=1;")
	}
	return b.String()
}
