package rule

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"beckon/event/policy/shell"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tidwall/gjson"
)

// Example returns the call of an example: a command, "read FILE" or "write FILE"; without tools, a prompt.
func Example(text string, tool bool) *Call {
	c := &Call{Tool: "Bash", Cwd: "/example/project", Project: "/example/project", Home: "/example"}
	if !tool {
		c.Tool, c.Prompt = "", text
		return c
	}
	name := `{"command":`
	for word, of := range map[string]string{"read ": "Read", "write ": "Write"} {
		if file, ok := strings.CutPrefix(text, word); ok {
			c.Tool, text, name = of, file, `{"file_path":`
		}
	}
	c.Input = append(gjson.AppendJSONString([]byte(name), text), '}')
	return c
}

// Doubts returns what is probably not meant: entries that do not cover what they say, or that the client reads more
// narrowly.
func (r Rule) Doubts() []string { return append(r.vain(), r.missed()...) }

// vain returns the entries that do not cover what they say.
func (r Rule) vain() (list []string) {
	if len(r.Paths)+len(r.Regex)+len(r.Words) > 0 {
		return nil // the entry alone is not what the rule covers
	}
	r.Tools = nil
	for _, entry := range r.Commands {
		words := slices.DeleteFunc(strings.Fields(entry), func(w string) bool { return w[0] == '[' && len(w) > 1 })
		line := strings.ReplaceAll(strings.Join(words, " "), "*", "x")
		if r.Evaluate(Example(line, true)).Result == No {
			list = append(list, fmt.Sprintf("commands: %q does not even cover the command %q", entry, line))
		}
	}
	return list
}

// missed returns a common spelling of its command that a permission of the client's does not cover.
func (r Rule) missed() []string {
	if r.Says == nil || r.Allow || !r.Says.runs() || r.Says.bare() {
		return nil
	}
	entry := strings.TrimRight(strings.TrimSuffix(r.Says.what, ":*"), " *")
	words := strings.Fields(entry)
	at := slices.IndexFunc(words, shell.IsFlag)
	if at < 1 || strings.Contains(entry, "*") {
		return nil
	}
	operands := []string{"x"}
	if strings.HasPrefix(entry, "git push ") {
		operands = []string{"origin", "main"}
	}
	words = slices.Concat(words[:at], words[at+1:], operands, words[at:at+1])
	const text = "%s misses %q: the client compares the beginning of a command; a rule with \"commands\": [%q] covers it"
	return []string{fmt.Sprintf(text, r.Says.Text, strings.Join(words, " "), entry)}
}

var errPattern = errors.New("is no pattern: a bracket or brace does not close")

// Check returns the entries that are empty or cannot be parsed.
func (c *Conditions) Check() (list []Problem) {
	for i, entries := range c.lists() {
		field := fields[i]
		for _, text := range *entries {
			var err error
			switch {
			case strings.TrimSpace(text) == "":
				err = errors.New("is empty")
			case field == "commands":
				_, err = Parse(text)
			case field == "regex":
				_, err = regexp.Compile(text)
			case field == "paths" && !doublestar.ValidatePattern(text):
				err = errPattern
			}
			if err != nil {
				list = append(list, Problem{fields[i], err.Error()})
			}
		}
	}
	return list
}

// runsAny reports whether a program runs what its words name.
func runsAny(name string) bool {
	return shell.In(shell.Carriers, name) || shell.In(shell.Shells, name) || shell.In(shell.Languages, name)
}
