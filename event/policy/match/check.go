package match

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Check returns the errors in the rule: entries that are empty or cannot be parsed. For a rule
// that approves it also returns doubts: entries that approve more than they seem to.
func (r Rule) Check() []Problem {
	list := r.check("", r.Allow)
	if r.Unless != nil {
		list = append(list, r.Unless.check("unless.", false)...)
	}
	return list
}

var errEmpty = errors.New("is empty")

func (c Conditions) check(prefix string, allow bool) (list []Problem) {
	each := func(field string, entries []string, read func(text string) error) {
		for _, text := range entries {
			err := errEmpty
			if strings.TrimSpace(text) != "" {
				err = read(text)
			}
			if err != nil {
				list = append(list, Problem{Field: prefix + field, What: err.Error()})
			}
		}
	}
	each("commands", c.Commands, func(text string) error { _, err := readPattern(text); return err })
	each("regex", c.Regex, func(text string) error { _, err := regexp.Compile(text); return err })
	each("paths", c.Paths, func(text string) error {
		if !doublestar.ValidatePattern(text) {
			return errors.New("is no pattern: a bracket or brace does not close")
		}
		return nil
	})
	each("words", c.Words, func(string) error { return nil })
	if !allow {
		return list
	}
	for _, text := range c.Commands {
		if what := loose(text); what != "" {
			list = append(list, Problem{Field: prefix + "commands", What: what, Doubt: true})
		}
	}
	for _, text := range c.Regex {
		if strings.Contains(text, ".*") || strings.Contains(text, ".+") {
			list = append(list, Problem{Field: prefix + "regex", What: "approves whatever stands at .* or .+, flags that run programs among them", Doubt: true})
		}
	}
	return list
}

// loose says how an approval of a command can become one of anything; "" if it cannot.
func loose(text string) string {
	p, err := readPattern(text)
	if err != nil {
		return ""
	}
	c := p.line.Commands[p.main]
	switch a := c.Args; {
	case c.To > 0:
		return "a pipe is never approved"
	case strings.Contains(a.Program, "*"):
		return "approves programs of any name that fits"
	case a.Carries() && len(children(p.line, p.main)) == 0 && len(a.Operands) == 0: // the entry names none of the commands that it runs
		return fmt.Sprintf("%s runs whatever it is given", a.Program)
	case a.Runs():
		return fmt.Sprintf("the flags of %q run other programs", text)
	case a.HasSubcommands() && len(a.Sub) == 0:
		return fmt.Sprintf("approves every subcommand of %s", a.Program)
	}
	return ""
}
