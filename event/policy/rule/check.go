package rule

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"beckon/event/policy/shell"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tidwall/gjson"
)

// Example returns the call of an example in a policy: a command of Bash, or "read FILE" or
// "write FILE" of those tools, in a project of its own; for an event without tools, a prompt.
func Example(text string, tool bool) *Call {
	c := &Call{Tool: "Bash", Cwd: "/example/project", Project: "/example/project", Home: "/example"}
	name := `{"command":`
	for word, of := range map[string]string{"read ": "Read", "write ": "Write"} {
		if file, ok := strings.CutPrefix(text, word); ok {
			c.Tool, text, name = of, file, `{"file_path":`
		}
	}
	if !tool {
		c.Tool, c.Prompt = "", text
		return c
	}
	c.Input = append(gjson.AppendJSONString([]byte(name), text), '}')
	return c
}

// Check returns the errors in the rule: entries that are empty or cannot be parsed. For a rule
// that approves it also returns doubts: entries that approve more than they seem to.
func (r Rule) Check() []Problem {
	list := r.check("", r.Allow)
	if r.Unless != nil {
		list = append(list, r.Unless.check("unless.", false)...)
	}
	return list
}

var (
	errEmpty   = errors.New("is empty")
	errPattern = errors.New("is no pattern: a bracket or brace does not close")
)

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
	each("commands", c.Commands, func(text string) error { _, err := Parse(text); return err })
	each("regex", c.Regex, func(text string) error { _, err := regexp.Compile(text); return err })
	each("paths", c.Paths, func(text string) error {
		if !doublestar.ValidatePattern(text) {
			return errPattern
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

// loose says how an approval of a command can become one of anything; empty if it cannot.
func loose(text string) string {
	fields := strings.Fields(text)
	name := shell.Base(fields[0])
	switch {
	case strings.Contains(text, "|"):
		return "a pipe is never approved; write an entry for each of its commands"
	case strings.Contains(fields[0], "*"):
		return "approves programs of any name that fits"
	case len(fields) == 1 && (shell.IsCarrier(name) || shell.IsShell(name) || shell.IsLanguage(name)):
		return name + " runs whatever it is given"
	case len(fields) == 1 && shell.In("git gh docker kubectl npm pnpm yarn cargo go terraform aws gcloud az", name):
		return fmt.Sprintf("approves every subcommand of %s", name)
	}
	for _, w := range fields[1:] {
		if w = strings.Trim(w, "[]"); len(w) > 2 && shell.IsFlag(w) && shell.Marks(w) {
			return fmt.Sprintf("%s of %s may run other programs", w, name)
		}
	}
	return ""
}
