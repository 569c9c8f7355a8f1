package policy

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"beckon/event/policy/handler"

	"github.com/tidwall/gjson"
)

// Permission is one permission rule of the client, as "if" holds it (CONTRACT
// 1.3): TOOL or TOOL(WHAT).
type Permission struct {
	text, tool, what string
	home             string
}

var errPermission = errors.New("is not one permission rule")

// NewPermission reads an "if".
func NewPermission(text, home string) (*Permission, error) {
	p := Permission{text: text, tool: text, home: home}
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

// Text is the rule as it was written.
func (p *Permission) Text() string { return p.text }

// Match reports whether c is a call that the rule speaks of. Where a command
// cannot be judged the answer is yes: the handler runs and decides.
func (p *Permission) Match(c handler.Call) bool {
	if !p.toolFits(c.ToolName) {
		return false
	}
	if p.what == "" || p.what == "*" {
		return true
	}
	switch p.tool {
	case "Bash", "PowerShell", "Monitor":
		return p.commandFits(gjson.GetBytes(c.ToolInput, "command").String())
	case "Edit", "Write", "Read", "NotebookEdit", "MultiEdit", "Glob", "Grep":
		return p.pathFits(c)
	case "WebFetch":
		return p.domainFits(gjson.GetBytes(c.ToolInput, "url").String())
	case "Agent", "Task":
		return gjson.GetBytes(c.ToolInput, "subagent_type").String() == p.what
	case "Skill":
		return wild(p.what, gjson.GetBytes(c.ToolInput, "skill").String())
	}
	return wild(p.what, string(c.ToolInput))
}

// groups are the tools that a rule for one of them speaks of: the client
// judges every writing tool by Edit and every reading one by Read.
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

// commandFits judges every simple command of a line. One that fits is enough;
// a pattern with more than a name also takes what it cannot look into.
func (p *Permission) commandFits(text string) bool {
	line := readCommand(text)
	if line.broken || line.opaque && strings.ContainsAny(strings.TrimRight(p.what, ":* "), " ") && hidden(text) {
		return true
	}
	if p.textFits(text) {
		return true
	}
	return slices.ContainsFunc(line.texts, p.textFits)
}

// hidden reports whether a line holds a substitution or a variable; a mere
// redirection hides nothing.
func hidden(text string) bool { return strings.ContainsAny(text, "$`") }

func (p *Permission) textFits(text string) bool {
	words := strings.Fields(text)
	for len(words) > 0 && assignment(words[0]) {
		words = words[1:]
		text = strings.Join(words, " ")
	}
	if prefix, ok := strings.CutSuffix(p.what, ":*"); ok {
		return text == prefix || strings.HasPrefix(text, prefix+" ")
	}
	if prefix, ok := strings.CutSuffix(p.what, " *"); ok && !strings.Contains(prefix, "*") {
		return text == prefix || strings.HasPrefix(text, prefix+" ")
	}
	return wild(p.what, text)
}

// wild compares with a pattern whose * stands for anything.
func wild(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	re, err := regexp.Compile("(?s)^" + strings.Join(parts, ".*") + "$")
	return err == nil && re.MatchString(text)
}

// pathFits compares as the client does: //abs is absolute, /x is below the
// project, ~/x below home, anything else below the working directory.
func (p *Permission) pathFits(c handler.Call) bool {
	path := toolPath(c.ToolInput)
	if path == "" {
		return false
	}
	pattern, base := p.what, c.Cwd
	switch {
	case strings.HasPrefix(pattern, "//"):
		pattern = pattern[1:]
	case strings.HasPrefix(pattern, "/"):
		pattern, base = "."+pattern, projectOf(c)
	}
	g, err := newGlob(pattern, base, p.home)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(resolved(path, place{cwd: c.Cwd, home: p.home}), g.match)
}

func (p *Permission) domainFits(raw string) bool {
	domain, ok := strings.CutPrefix(p.what, "domain:")
	u, err := url.Parse(raw)
	if !ok || err != nil {
		return true
	}
	return wild(domain, u.Hostname())
}
