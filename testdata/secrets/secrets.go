// Package secrets has the corpus that the redactor is measured with: invented secrets where
// people and agents put them, and harmless texts that look like them.
package secrets

import (
	_ "embed"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

//go:embed secrets.txt
var secret string

//go:embed harmless.txt
var harmless string

// Case is one text of the corpus.
type Case struct {
	Line   string // as the file has it
	Place  string // env, arg, header ...; empty for a harmless text
	Text   string
	Secret string // the part of Text that must be removed; empty for a harmless text
	// Apart marks a held-out case: nobody looks at it when writing rules. It is every third of
	// the cases that existed before the rules.
	Apart bool
}

// Secrets returns the texts that hold a secret.
func Secrets() []Case {
	all := cases(secret)
	for i := range all {
		c := &all[i]
		place, rest, _ := strings.Cut(c.Text, " ")
		before, rest, _ := strings.Cut(rest, "«")
		within, after, _ := strings.Cut(rest, "»")
		c.Place, c.Text, c.Secret = place, before+within+after, within
	}
	return all
}

// Harmless returns the texts that hold none.
func Harmless() []Case { return cases(harmless) }

// first is how many cases of each kind existed before the rules were written.
const first = 150

func cases(file string) (all []Case) {
	random := rand.New(rand.NewPCG(16, 1))
	for line := range strings.Lines(file) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "# ") {
			continue
		}
		text := strings.ReplaceAll(expand(line, random), `\n`, "\n")
		all = append(all, Case{Line: line, Text: text, Apart: len(all)%3 == 2 && len(all) < first})
	}
	return all
}

var class = regexp.MustCompile(`<([alsuhHdwWtb])([0-9]+)>`)

// expand replaces each class by random characters of it.
func expand(line string, random *rand.Rand) string {
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	sets := map[string]string{
		"a": lower + upper + digits,
		"l": lower + digits,
		"u": upper + digits,
		"h": digits + "abcdef",
		"H": digits + "ABCDEF",
		"s": upper + "234567",
		"d": digits,
		"w": lower,
		"W": lower + upper,
		"t": lower + upper + digits + "_-",
		"b": lower + upper + digits + "+/",
	}
	return class.ReplaceAllStringFunc(line, func(m string) string {
		set := sets[m[1:2]]
		n, _ := strconv.Atoi(m[2 : len(m)-1])
		out := make([]byte, n)
		for i := range out {
			out[i] = set[random.IntN(len(set))]
		}
		return string(out)
	})
}
