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
		return p.commandFits(c.ToolName, gjson.GetBytes(c.ToolInput, "command").String())
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

// commandFits judges every simple command of a line, and every command that
// such a one runs. One that fits is enough; a pattern with more than a name
// also takes what it cannot look into.
func (p *Permission) commandFits(tool, text string) bool {
	line := readShell(tool, text)
	if line.broken || line.opaque && strings.ContainsAny(strings.TrimRight(p.what, ":* "), " ") && hidden(text) {
		return true
	}
	return p.textFits(text) || slices.ContainsFunc(line.texts, p.textFits) || slices.ContainsFunc(line.commands, p.wordsFit)
}

// wordsFit judges a command by its words, so that neither quotes nor blanks nor
// the way to a program make another one of it.
func (p *Permission) wordsFit(words []string) bool {
	commands, ok := carried(words)
	return !ok || slices.ContainsFunc(commands, func(words []string) bool {
		args := strings.Join(words[1:], " ")
		return p.textFits(strings.TrimSpace(words[0]+" "+args)) || p.textFits(strings.TrimSpace(program(words[0])+" "+args))
	})
}

// Covers reports whether the rule speaks of all that a call does, which an
// approval needs: every command of a line, whatever way a path is written, and
// nothing that it cannot look into.
func (p *Permission) Covers(c handler.Call) bool {
	if !p.Match(c) || p.what == "" || p.what == "*" {
		return p.Match(c)
	}
	switch p.tool {
	case "Bash", "PowerShell", "Monitor":
		line := readShell(c.ToolName, gjson.GetBytes(c.ToolInput, "command").String())
		return line.plain() && !slices.ContainsFunc(line.commands, func(words []string) bool { return assignment(words[0]) }) &&
			!slices.ContainsFunc(line.texts, func(text string) bool { return !p.textFits(text) })
	case "Edit", "Write", "Read", "NotebookEdit", "MultiEdit", "Glob", "Grep":
		return p.everyPathFits(c)
	case "WebFetch":
		u, err := url.Parse(gjson.GetBytes(c.ToolInput, "url").String())
		return err == nil && u.Hostname() != "" && strings.HasPrefix(p.what, "domain:")
	}
	return true
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
	pattern, base := p.pathPattern(c)
	return slices.ContainsFunc(resolved(path, place{cwd: c.Cwd, home: p.home}), globs(pattern, base, p.home).match)
}

// everyPathFits is pathFits for every way in which the path may be written.
func (p *Permission) everyPathFits(c handler.Call) bool {
	pattern, base := p.pathPattern(c)
	g, err := newGlob(pattern, base, p.home)
	ways := resolved(toolPath(c.ToolInput), place{cwd: c.Cwd, home: p.home})
	return err == nil && !slices.ContainsFunc(ways, func(w string) bool { return !g.match(w) })
}

func (p *Permission) pathPattern(c handler.Call) (pattern, base string) {
	switch {
	case strings.HasPrefix(p.what, "//"):
		return p.what[1:], c.Cwd
	case strings.HasPrefix(p.what, "/"):
		return "." + p.what, projectOf(c)
	}
	return p.what, c.Cwd
}

func (p *Permission) domainFits(raw string) bool {
	domain, ok := strings.CutPrefix(p.what, "domain:")
	u, err := url.Parse(raw)
	if !ok || err != nil {
		return true
	}
	return wild(strings.ToLower(domain), strings.TrimSuffix(strings.ToLower(u.Hostname()), "."))
}
