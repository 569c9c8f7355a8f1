package rule

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"beckon/event/policy/shell"

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

// Match reports whether the rule covers c. For a command that cannot be judged the answer is
// yes: the handler then runs and decides.
func (p *Permission) Match(c *Call) bool {
	if !p.toolFits(c.Tool) {
		return false
	}
	if p.what == "" || p.what == "*" {
		return true
	}
	switch p.tool {
	case "Bash", "PowerShell", "Monitor":
		return p.commandFits(c)
	case "Edit", "Write", "Read", "NotebookEdit", "MultiEdit", "Glob", "Grep":
		pattern := p.pathPattern(c)
		return slices.ContainsFunc(c.known().files, func(f file) bool { return f.fits(c, []string{pattern}) })
	case "WebFetch":
		return p.domainFits(gjson.GetBytes(c.Input, "url").String())
	case "Agent", "Task":
		return gjson.GetBytes(c.Input, "subagent_type").String() == p.what
	case "Skill":
		return wild(p.what, gjson.GetBytes(c.Input, "skill").String())
	}
	return wild(p.what, string(c.Input))
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

// commandFits judges every simple command of a line. One that matches is enough, or one that may.
func (p *Permission) commandFits(c *Call) bool {
	l := c.known().line
	return l == nil || l.Strange != "" || p.textFits(l.Text) || slices.ContainsFunc(l.Commands, func(c shell.Command) bool {
		for _, place := range c.Programs() {
			if !place.Weak && (p.textFits(strings.Join(c.Words[place.At:], " ")) || p.textFits(joined(&c, place.At))) {
				return true
			}
		}
		return p.mayFit(c.Words)
	})
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
	if !p.Match(c) || p.what == "" || p.what == "*" {
		return p.Match(c)
	}
	switch p.tool {
	case "Bash", "PowerShell", "Monitor":
		l := c.known().line
		return l != nil && l.Strange == "" && !l.Sets && len(l.Commands) > 0 && !slices.ContainsFunc(l.Commands, func(c shell.Command) bool { return !p.covers(c) })
	case "Edit", "Write", "Read", "NotebookEdit", "MultiEdit", "Glob", "Grep":
		pattern := p.pathPattern(c)
		return !slices.ContainsFunc(c.known().files, func(f file) bool { return !f.within(c, []string{pattern}) })
	case "WebFetch":
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
