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

// Example returns the call of an example in a policy: a command of Bash, or "read FILE" or
// "write FILE" of those tools, in a project of its own; for an event without tools, a prompt.
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

// Check returns the errors in the rule: entries that are empty or cannot be parsed. It also returns
// doubts: entries that approve more than they seem to, that cover not even the command that they
// are, or that the client reads more narrowly than their author may think.
func (r Rule) Check() []Problem {
	list := r.check("")
	if r.Unless != nil {
		list = append(list, r.Unless.check("unless.")...)
	}
	if len(list) > 0 {
		return list
	}
	for _, text := range r.Commands {
		if what := loose(text); r.Allow && what != "" {
			list = append(list, doubt("commands", what))
		}
	}
	for _, text := range r.Regex {
		if r.Allow && (strings.Contains(text, ".*") || strings.Contains(text, ".+")) {
			list = append(list, doubt("regex", "approves whatever stands at .* or .+, flags that run programs among them"))
		}
	}
	return slices.Concat(list, r.vain(), r.missed())
}

func doubt(field, what string) Problem { return Problem{Field: field, What: what, Doubt: true} }

// vain returns the entries that do not cover what they say: a word that counts as the value of a
// flag, a command that only shows help, or an exception that excepts it.
func (r Rule) vain() (list []Problem) {
	if len(r.Paths)+len(r.Regex)+len(r.Words) > 0 {
		return nil // the entry alone is not what the rule covers
	}
	r.Tools = nil
	for _, entry := range r.Commands {
		words := slices.DeleteFunc(strings.Fields(entry), func(w string) bool { return w[0] == '[' && len(w) > 1 })
		line := strings.ReplaceAll(strings.Join(words, " "), "*", "x")
		if r.Evaluate(Example(line, true)).Result == No {
			list = append(list, doubt("commands", fmt.Sprintf("%q does not even cover the command %q", entry, line)))
		}
	}
	return list
}

// missed returns a common spelling of the command that a permission of the client's names, if it does not cover it.
func (r Rule) missed() []Problem {
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
	what := fmt.Sprintf(
		"%s misses %q: the client compares the beginning of a command; a rule with \"commands\": [%q] covers it",
		r.Says.text,
		strings.Join(words, " "),
		entry,
	)
	return []Problem{doubt("", what)}
}

var (
	errEmpty   = errors.New("is empty")
	errPattern = errors.New("is no pattern: a bracket or brace does not close")
)

func (c Conditions) check(prefix string) (list []Problem) {
	for i, entries := range c.lists() {
		field := [...]string{"commands", "regex", "paths", "words"}[i]
		for _, text := range *entries {
			var err error
			switch {
			case strings.TrimSpace(text) == "":
				err = errEmpty
			case field == "commands":
				_, err = Parse(text)
			case field == "regex":
				_, err = regexp.Compile(text)
			case field == "paths" && !doublestar.ValidatePattern(text):
				err = errPattern
			}
			if err != nil {
				list = append(list, Problem{Field: prefix + field, What: err.Error()})
			}
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
	case len(fields) == 1 && runsAny(name):
		return name + " runs whatever it is given"
	case len(fields) == 1 && shell.In("git gh docker kubectl npm pnpm yarn cargo go terraform aws gcloud az", name):
		return "approves every subcommand of " + name
	}
	for _, w := range fields[1:] {
		if w = strings.Trim(w, "[]"); len(w) > 2 && shell.IsFlag(w) && shell.Marks(w) {
			return fmt.Sprintf("%s of %s may run other programs", w, name)
		}
	}
	return ""
}

// runsAny reports whether a program runs what its words name.
func runsAny(name string) bool {
	return shell.In(shell.Carriers, name) || shell.In(shell.Shells, name) || shell.In(shell.Languages, name)
}
