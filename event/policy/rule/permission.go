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
	if open := strings.IndexByte(text, '('); open >= 0 {
		if !strings.HasSuffix(text, ")") || open == 0 {
			return nil, errPermission
		}
		p.tool, p.what = text[:open], text[open+1:len(text)-1]
	}
	if p.tool == "" || strings.ContainsAny(p.tool, " &|,;()") {
		return nil, errPermission
	}
	return &p, nil
}

// Text returns the rule as written.
func (p *Permission) Text() string { return p.text }

// OfClient returns the rule that an entry of "deny", "ask" or "allow" is. To refuse a file, or ask
// about it, covers the commands that read or write it, too.
func OfClient(text string, allow bool) (Rule, error) {
	p, err := NewPermission(text)
	if err != nil {
		return Rule{}, err
	}
	if p.tool == "WebFetch" && !p.bare() && !strings.HasPrefix(p.what, "domain:") {
		return Rule{}, errors.New("names no domain: WebFetch(domain:NAME)")
	}
	if !p.ofFiles() || p.bare() || allow {
		return Rule{Says: p, Allow: allow}, nil
	}
	tools := groups[p.tool]
	if tools == nil {
		tools = []string{p.tool}
	}
	pattern := strings.TrimPrefix(p.what, "/")
	switch {
	case strings.HasPrefix(p.what, "/") && !strings.HasPrefix(p.what, "//"):
		pattern = "." + p.what
	case !doublestar.ValidatePattern(p.what):
		return Rule{}, errPattern
	}
	return Rule{Tools: []Matcher{{text: strings.Join(tools, "|"), exact: tools}}, Conditions: Conditions{Paths: []string{pattern}}}, nil
}

// bare reports whether the rule is about a whole tool.
func (p *Permission) bare() bool { return p.what == "" || p.what == "*" }

func (p *Permission) runs() bool { return shell.In("Bash PowerShell Monitor", p.tool) }

func (p *Permission) ofFiles() bool {
	return shell.In("Edit Write Read NotebookEdit MultiEdit Glob Grep", p.tool)
}

// Match reports whether the rule covers c. For a command that cannot be judged the answer is
// yes: the handler then runs and decides.
func (p *Permission) Match(c *Call) bool {
	if v := p.judge(c); v.Result > No || !p.runs() || !p.toolFits(c.Tool) {
		return v.Result > No
	}
	l := c.known().line
	return l == nil || l.Strange != "" || slices.ContainsFunc(l.Commands, func(one shell.Command) bool { return p.mayFit(one.Words) })
}

// judge says whether the rule covers c.
func (p *Permission) judge(c *Call) Verdict {
	switch {
	case !p.toolFits(c.Tool):
		return Verdict{}
	case p.bare():
		return Verdict{Result: Yes}
	case p.runs():
		return p.commandFits(c)
	case p.ofFiles():
		pattern := p.pathPattern(c)
		return verdict(slices.ContainsFunc(c.known().files, func(f file) bool { return f.fits(c, []string{pattern}) }))
	}
	switch p.tool {
	case "WebFetch":
		return verdict(p.domainFits(gjson.GetBytes(c.Input, "url").String()))
	case "Agent", "Task":
		return verdict(gjson.GetBytes(c.Input, "subagent_type").String() == p.what)
	case "Skill":
		return verdict(wild(p.what, gjson.GetBytes(c.Input, "skill").String()))
	}
	return verdict(wild(p.what, string(c.Input)))
}

// groups are the tools that a rule for one of them covers: the client judges every writing
// tool by Edit and every reading one by Read.
var groups = map[string][]string{
	"Edit":  {"Edit", "Write", "NotebookEdit", "MultiEdit"},
	"Read":  {"Read", "Glob", "Grep", "NotebookRead"},
	"Agent": {"Agent", "Task"},
	"Task":  {"Agent", "Task"},
	"Bash":  {"Bash", "Monitor"},
}

func (p *Permission) toolFits(tool string) bool {
	if p.tool == tool || slices.Contains(groups[p.tool], tool) {
		return true
	}
	if !strings.HasPrefix(p.tool, "mcp__") {
		return false
	}
	if strings.Count(p.tool, "__") == 1 { // a server stands for all of its tools
		return strings.HasPrefix(tool, p.tool+"__")
	}
	return wild(p.tool, tool)
}

// commandFits judges every simple command of a line. One that fits is enough.
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
		if best.Result == No && !strings.Contains(one.Words[0], shell.Hole) && p.mayFit(one.Words) {
			best = Verdict{Unsure, "a variable in " + strings.ReplaceAll(strings.Join(one.Words, " "), shell.Hole, "$…") + " may be what it names"}
		}
	}
	if program, _, _ := strings.Cut(p.what, " "); best.Result == No && l.Strange != "" && strings.Contains(l.Text, strings.Trim(program, ":*")) {
		return Verdict{Unsure, l.Strange}
	}
	return best
}

// mayFit reports whether what is unknown of a command may be what the rule names.
func (p *Permission) mayFit(words []string) bool {
	for i, want := range strings.Fields(strings.TrimSuffix(p.what, ":*")) {
		switch {
		case i >= len(words):
			return false
		case strings.Contains(words[i], shell.Hole):
			return wild(strings.ReplaceAll(words[i], shell.Hole, "*"), want)
		case !wild(want, words[i]) && (i > 0 || !wild(want, shell.Base(words[i]))):
			return false
		}
	}
	return false
}

// Covers reports whether the rule covers everything that a call does, as an approval needs:
// every command of a line, in every form of a path, and nothing hidden.
func (p *Permission) Covers(c *Call) bool {
	if !p.Match(c) || p.bare() {
		return p.Match(c)
	}
	switch {
	case p.runs():
		l := c.known().line
		return l != nil && l.Strange == "" && !l.Sets && len(l.Commands) > 0 && !slices.ContainsFunc(l.Commands, func(c shell.Command) bool { return !p.covers(c) })
	case p.ofFiles():
		pattern := p.pathPattern(c)
		return len(c.known().files) > 0 && !slices.ContainsFunc(c.known().files, func(f file) bool { return !f.within(c, []string{pattern}) })
	case p.tool == "WebFetch":
		u, err := url.Parse(gjson.GetBytes(c.Input, "url").String())
		return err == nil && u.Hostname() != "" && strings.HasPrefix(p.what, "domain:")
	}
	return true
}

// covers reports whether a command is what the rule says and nothing more.
func (p *Permission) covers(c shell.Command) bool {
	text := strings.Join(c.Words, " ")
	return c.Plain && len(c.Env) == 0 && len(c.Writes) == 0 && !strings.Contains(text, shell.Hole) && p.textFits(text)
}

func (p *Permission) textFits(text string) bool {
	if prefix, ok := strings.CutSuffix(p.what, ":*"); ok {
		return text == prefix || strings.HasPrefix(text, prefix+" ")
	}
	if prefix, ok := strings.CutSuffix(p.what, " *"); ok && !strings.Contains(prefix, "*") {
		return text == prefix || strings.HasPrefix(text, prefix+" ")
	}
	return wild(p.what, text)
}

// pathPattern converts the rule's pattern to a policy rule's. The client's //x is absolute, /x
// below the project, ~/x below home, and anything else below the working directory.
func (p *Permission) pathPattern(c *Call) string {
	switch {
	case strings.HasPrefix(p.what, "//"):
		return p.what[1:]
	case strings.HasPrefix(p.what, "/"):
		return "." + p.what
	case strings.HasPrefix(p.what, "~/"):
		return p.what
	case !strings.Contains(strings.TrimSuffix(p.what, "/"), "/"):
		return Quote(c.Cwd) + "/**/" + p.what
	}
	return Quote(c.Cwd) + "/" + strings.TrimPrefix(p.what, "./")
}

func (p *Permission) domainFits(raw string) bool {
	domain, ok := strings.CutPrefix(p.what, "domain:")
	u, err := url.Parse(raw)
	if !ok || err != nil {
		return true
	}
	return wild(strings.ToLower(domain), strings.TrimSuffix(strings.ToLower(u.Hostname()), "."))
}
