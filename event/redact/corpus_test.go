package redact

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"beckon/testdata/secrets"
)

const resultsFile = "../../testdata/secrets/RESULTS.md"

// least is the smallest share of correct cases that each half of the corpus must reach.
const least = 0.98

// Every secret of the corpus is removed, whatever surrounds it, and a harmless text stays
// unchanged. RESULTS.md lists the exceptions.
func TestCorpus(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What the redactor finds\n\nWritten by `BECKON_UPDATE=1 go test ./event/redact -run TestCorpus`; without it the test compares. The texts are in\n" +
		"secrets.txt and harmless.txt. A third of the first 150 of each is held apart: the rules were written without looking at it.\n" +
		"The first time they were judged by it, 50 of its 50 secrets were gone and 47 of its 50 harmless texts untouched.\n\n" +
		"| texts | seen while the rules were written | held apart |\n|---|---|---|\n")
	wrong := "\n## Secrets that are kept\n\n"
	wrong += row(t, &b, "secrets gone", secrets.Secrets(), func(c secrets.Case) bool { return gone(c) })
	wrong += "\n## Harmless texts that are changed\n\n"
	wrong += row(t, &b, "harmless texts untouched", secrets.Harmless(), func(c secrets.Case) bool { return Text(c.Text) == c.Text })
	b.WriteString(wrong)
	if os.Getenv("BECKON_UPDATE") != "" {
		if err := os.WriteFile(resultsFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if golden, err := os.ReadFile(resultsFile); err != nil || string(golden) != b.String() {
		t.Errorf("%s is not what came out (%v):\n%s", resultsFile, err, b.String())
	}
}

// row adds a row to b and returns the lines of the cases that are wrong.
func row(t *testing.T, b *strings.Builder, what string, all []secrets.Case, right func(secrets.Case) bool) (wrong string) {
	var total, good [2]int
	for _, c := range all {
		half := 0
		if c.Apart {
			half = 1
		}
		total[half]++
		if right(c) {
			good[half]++
			continue
		}
		wrong += fmt.Sprintf("- `%s`\n", strings.ReplaceAll(c.Line, "`", "'"))
		if !c.Apart {
			t.Logf("%s: not so:\n  %s\n  %q\n  %q", what, c.Line, c.Text, Text(c.Text))
		}
	}
	if len(all) < 150 {
		t.Errorf("%s: only %d cases", what, len(all))
	}
	if sum := good[0] + good[1]; float64(sum) < least*float64(len(all)) {
		t.Errorf("%s: %d of %d", what, sum, len(all))
	}
	fmt.Fprintf(b, "| %s | %d of %d | %d of %d |\n", what, good[0], total[0], good[1], total[1])
	if wrong == "" {
		return "None.\n"
	}
	return wrong
}

var markForm = regexp.MustCompile(`\[redacted:[a-z-]+\]`)

// gone reports whether no third of the secret, and no eight characters of it, are left.
func gone(c secrets.Case) bool {
	out := markForm.ReplaceAllString(Text(c.Text), "")
	n := min(max(len(c.Secret)/3, 4), 8)
	for i := 0; i+n <= len(c.Secret); i++ {
		if part := c.Secret[i : i+n]; strings.Contains(out, part) && strings.Count(c.Text, part) == 1 {
			return false
		}
	}
	return true
}
