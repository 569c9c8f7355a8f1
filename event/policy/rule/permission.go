package rule

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"beckon/event/policy/shell"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tidwall/gjson"
)

// Permission is one permission rule of the client, as in "if": TOOL or TOOL(WHAT).
type Permission struct {
	text, tool, what string
}

var errPermission = errors.New("is not one permission rule")

// NewPermission parses an "if".
func NewPermission(text string) (*Permission, error) {
	p := Permission{text: text, tool: text}
	if tool, what, ok := strings.Cut(text, "("); ok {
		p.tool = tool
		if p.what, ok = strings.CutSuffix(what, ")"); !ok {
			return nil, errPermission
		}
	}
	if p.tool == "" || strings.ContainsAny(p.tool, " &|,;)") {
		return nil, errPermission
	}
	return &p, nil
}

// Text returns the rule as written.
func (p *Permission) Text() string { return p.text }

// OfClient returns the rule that an entry of "deny", "ask" or "allow" is. To refuse a file, or ask about it,
// covers the commands that read or write it, too.
func OfClient(text string, allow bool) (Rule, error) {
	p, err := NewPermission(text)
	if err != nil {
		return Rule{}, err
	}
	if p.tool == "WebFetch" && !p.bare() && !strings.HasPrefix(p.what, domain) {
		return Rule{}, errors.New("names no domain: WebFetch(domain:NAME)")
	}
	if !p.ofFiles() || p.bare() || allow {
		return Rule{Says: p, Allow: allow}, nil
	}
	if !doublestar.ValidatePattern(p.what) {
		return Rule{}, errPattern
	}
	tools := strings.Fields(p.tool + " " + groups[p.tool])
	m := Matcher{text: strings.Join(tools, "|"), exact: tools}
	return Rule{Tools: []Matcher{m}, Conditions: Conditions{Paths: []string{p.pattern()}}}, nil
}

// bare reports whether the rule is about a whole tool.
func (p *Permission) bare() bool { return p.what == "" || p.what == "*" }

func (p *Permission) runs() bool { return shell.In(runners, p.tool) }

func (p *Permission) ofFiles() bool {
	return shell.In("Edit Write Read NotebookEdit MultiEdit Glob Grep", p.tool)
}

const domain = "domain:"

// groups are the tools that a rule for one of them covers, too, as in the client.
var groups = map[string]string{
	"Edit":  "Write NotebookEdit MultiEdit",
	"Read":  "Glob Grep NotebookRead",
	"Agent": "Task",
	"Task":  "Agent",
	"Bash":  "Monitor",
}

func (p *Permission) toolFits(tool string) bool {
	switch {
	case p.tool == tool || shell.In(groups[p.tool], tool):
		return true
	case !strings.HasPrefix(p.tool, "mcp__"):
		return false
	case strings.Count(p.tool, "__") == 1: // a server stands for all of its tools
		return strings.HasPrefix(tool, p.tool+"__")
	}
	return wild(p.tool, tool)
}

// Match reports whether the rule covers c, or a command of it that cannot be judged.
func (p *Permission) Match(c *Call) bool {
	if p.evaluate(c).Result > No {
		return true
	}
	l := c.known().line
	return p.runs() && p.toolFits(c.Tool) && (l == nil || l.Strange != "" || slices.ContainsFunc(l.Commands, p.mayFit))
}

// evaluate says whether the rule covers c.
func (p *Permission) evaluate(c *Call) Verdict {
	switch {
	case !p.toolFits(c.Tool):
		return Verdict{}
	case p.bare():
		return Verdict{Result: Yes}
	case p.runs():
		return p.commandFits(c)
	case p.ofFiles():
		pattern := []string{p.pathPattern(c)}
		return verdict(slices.ContainsFunc(c.known().files, func(f file) bool { return f.fits(c, pattern) }))
	}
	return verdict(p.inputFits(c, true))
}

// Covers reports whether the rule covers everything that a call does, as an approval needs.
func (p *Permission) Covers(c *Call) bool { return Allows([]*Rule{{Says: p}}, c) != nil }

// inputFits compares the input of a tool without commands and files; unread is the result if it cannot be told.
func (p *Permission) inputFits(c *Call, unread bool) bool {
	get := func(name string) string { return gjson.GetBytes(c.Input, name).String() }
	switch p.tool {
	case "WebFetch":
		name, ok := strings.CutPrefix(p.what, domain)
		u, err := url.Parse(get("url"))
		if !ok || err != nil || u.Hostname() == "" && !unread {
			return unread
		}
		return wild(strings.ToLower(name), strings.TrimSuffix(strings.ToLower(u.Hostname()), "."))
	case "Agent", "Task":
		return get("subagent_type") == p.what
	case "Skill":
		return wild(p.what, get("skill"))
	}
	return wild(p.what, string(c.Input))
}

// commandFits says whether a command of a line is what the rule names.
func (p *Permission) commandFits(c *Call) (best Verdict) {
	l := c.known().line
	if l == nil {
		return Verdict{}
	}
	if p.textFits(l.Text) {
		return Verdict{Result: Yes}
	}
	for i := range l.Commands {
		one := &l.Commands[i]
		for _, place := range one.Programs() {
			if !place.Weak && (p.textFits(strings.Join(one.Words[place.At:], " ")) || p.textFits(joined(one, place.At))) {
				return Verdict{Result: Yes}
			}
		}
		// Any program may be in a variable: that alone is no reason to ask.
		if best.Result == No && !strings.Contains(one.Words[0], hole) && p.mayFit(*one) {
			text := strings.ReplaceAll(strings.Join(one.Words, " "), hole, "$…")
			best = Verdict{Unsure, "a variable in " + text + " may be what it names"}
		}
	}
	if program, _, _ := strings.Cut(p.what, " "); best.Result == No && l.Strange != "" &&
		strings.Contains(l.Text, strings.Trim(program, ":*")) {
		return Verdict{Unsure, l.Strange}
	}
	return best
}

// mayFit reports whether what is unknown of a command may be what the rule names.
func (p *Permission) mayFit(c shell.Command) bool {
	for i, want := range strings.Fields(strings.TrimSuffix(p.what, ":*")) {
		switch {
		case i >= len(c.Words):
			return false
		case strings.Contains(c.Words[i], hole):
			return wild(strings.ReplaceAll(c.Words[i], hole, "*"), want)
		case !wild(want, c.Words[i]) && (i > 0 || !wild(want, shell.Base(c.Words[i]))):
			return false
		}
	}
	return false
}

// covers reports whether a command is what the rule says and nothing more.
func (p *Permission) covers(c *shell.Command) bool {
	text := strings.Join(c.Words, " ")
	return c.Plain && len(c.Env)+len(c.Writes) == 0 && !obeysInput(c) && !strings.Contains(text, hole) && p.textFits(text)
}

func (p *Permission) textFits(text string) bool {
	prefix, cut := strings.CutSuffix(p.what, ":*")
	if !cut {
		prefix, cut = strings.CutSuffix(p.what, " *")
		cut = cut && !strings.Contains(prefix, "*")
	}
	if cut {
		return text == prefix || strings.HasPrefix(text, prefix+" ")
	}
	return wild(p.what, text)
}

// pattern converts the rule's pattern to a policy rule's. The client's //x is absolute, and /x below the project.
func (p *Permission) pattern() string {
	if strings.HasPrefix(p.what, "/") && !strings.HasPrefix(p.what, "//") {
		return "." + p.what
	}
	return strings.TrimPrefix(p.what, "/")
}

// pathPattern is pattern for an "if", in which what names no place is below the working directory.
func (p *Permission) pathPattern(c *Call) string {
	switch {
	case rooted(p.what):
		return p.pattern()
	case !strings.Contains(strings.TrimSuffix(p.what, "/"), "/"):
		return Quote(c.Cwd) + "/**/" + p.what
	}
	return Quote(c.Cwd) + "/" + strings.TrimPrefix(p.what, "./")
}
