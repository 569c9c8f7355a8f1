package rule

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/policy/shell"

	"github.com/tidwall/gjson"
)

// Call is a tool call, or a prompt, as rules see it. Its fields must not change after the first
// rule has seen it. It is not safe for concurrent use.
type Call struct {
	Tool   string // empty for an event that is not a tool call
	Input  []byte // the tool's input, a JSON object
	Prompt string // the prompt of an event that has one
	// Cwd is the base of relative paths, Project that of patterns like ./x, Home is ~; absolute.
	Cwd, Project, Home string

	facts    *facts
	globs    map[string][]glob
	dirs     map[string]string // directories, with their links followed
	followed int               // how many files
	ignored  map[string]ignores
}

// facts are what a call does, found once for all rules.
type facts struct {
	line     *shell.Line     // nil if the call runs no command line
	names    map[string]bool // of the programs, in small letters
	files    []file          // of the tool's input
	owned    [][]file        // of each command
	literals []string        // of the line's program texts
}

// commandLine returns the command line of a tool that runs one: the client's own, and any whose input has a command.
func (c *Call) commandLine() (text string, ok bool) {
	for _, name := range []string{"command", "cmd", "script"} {
		if v := gjson.GetBytes(c.Input, name); v.Type == gjson.String && v.Str != "" {
			return v.Str, true
		}
	}
	return "", shell.In(runners, c.Tool)
}

// runners are the client's tools that run command lines.
const runners = "Bash PowerShell Monitor"

func (c *Call) known() *facts {
	if c.facts != nil {
		return c.facts
	}
	f := &facts{names: map[string]bool{"remove-item": true}} // it has many names
	c.facts, c.globs, c.dirs, c.ignored = f, map[string][]glob{}, map[string]string{}, map[string]ignores{}
	text, ok := c.commandLine()
	if !ok || !shell.In(runners, c.Tool) {
		f.files = c.toolFiles()
	}
	if !ok {
		return f
	}
	read := shell.Read
	if c.Tool == "PowerShell" {
		read = shell.ReadPower
	}
	f.line = read(text)
	f.owned = make([][]file, len(f.line.Commands))
	for i := range f.line.Commands {
		one := &f.line.Commands[i]
		for _, p := range one.Programs() {
			name := strings.ToLower(p.Name)
			f.names[withoutExtension(name)] = true
			for _, other := range strings.Fields(family(name)) {
				f.names[other] = true
			}
		}
		f.names["sh"] = f.names["sh"] || len(one.Writers) > 0 // it runs what another command wrote
	}
	for _, code := range f.line.Code {
		f.literals = append(f.literals, shell.Literals(code.Text)...)
	}
	return f
}

// hasWord reports whether one of the words is in the prompt, or in the input.
func (c *Call) hasWord(words []string) bool {
	text, runs := c.commandLine()
	switch {
	case runs:
	case c.Input != nil:
		var all strings.Builder // decoded, too: JSON writes quotes and new lines differently
		all.Write(c.Input)
		members(gjson.ParseBytes(c.Input), 0, func(_ string, v gjson.Result) { all.WriteString("\n" + v.Str) })
		text = all.String()
	default:
		text = c.Prompt
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}

// members calls f with each member of a value, at any depth.
func members(v gjson.Result, depth int, f func(name string, v gjson.Result)) {
	const deep = 32 // no tool's input is nested this deep
	if depth == deep || !v.IsObject() && !v.IsArray() {
		return
	}
	v.ForEach(func(name, item gjson.Result) bool {
		f(name.Str, item)
		members(item, depth+1, f)
		return true
	})
}

// Matcher selects invocations of an event: all, those with a value of a list, or that an expression matches.
type Matcher struct {
	Text  string   // as written
	Names []string // the values of a list; nil for an expression
	re    *regexp.Regexp
}

// NewMatcher parses a matcher for events of kind k; an expression that the client reads differently is an error.
func NewMatcher(k event.Kind, text string) (Matcher, error) {
	m := Matcher{Text: text}
	if text == "" || text == "*" || text == ".*" {
		return m, nil
	}
	if info, _ := event.Lookup(k); info.Matcher == "" {
		return m, errors.New("the event has nothing to match; the client would ignore the matcher")
	}
	if list, ok := exactList(k, text); ok {
		m.Names = list
		return m, nil
	}
	if err := foreign(text); err != nil {
		return m, err
	}
	re, err := regexp.Compile(text)
	m.re = re
	return m, err
}

// exactList splits a list of plain names; false if text is an expression.
func exactList(k event.Kind, text string) ([]string, bool) {
	separators, more := "|,", "- ,"
	if k == event.FileChanged || k == event.StopFailure {
		separators, more = "|", ""
	}
	if strings.Trim(text, shell.Alphanumeric+"_|"+more) != "" {
		return nil, false
	}
	list := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) })
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list, true
}

// foreign reports an escape that means something else in JavaScript, where matchers come from.
func foreign(text string) error {
	escapes := strings.Split(strings.ReplaceAll(text, `\\`, ""), `\`)
	for _, e := range escapes[1:] {
		if e != "" && strings.IndexByte("AzQEaCpP", e[0]) >= 0 {
			return errors.New("error parsing regexp: `\\" + e[:1] + "` means something else to the client")
		}
	}
	return nil
}

// All reports whether m matches every invocation.
func (m Matcher) All() bool { return m.Names == nil && m.re == nil }

// Match reports whether m matches the value.
func (m Matcher) Match(value string) bool {
	switch {
	case m.re != nil:
		return m.re.MatchString(value)
	case m.Names != nil:
		return slices.Contains(m.Names, value)
	}
	return true
}
