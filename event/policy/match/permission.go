package match

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"beckon/event/policy/command"

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
		return slices.ContainsFunc(c.known().files, func(f file) bool { return f.fits(c, []string{pattern}).Result > No })
	case "WebFetch":
		return p.domainFits(gjson.GetBytes(c.Input, "url").String())
	case "Agent", "Task":
		return gjson.GetBytes(c.Input, "subagent_type").String() == p.what
	case "Skill":
		return command.Wild(p.what, gjson.GetBytes(c.Input, "skill").String())
	}
	return command.Wild(p.what, string(c.Input))
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
	return command.Wild(p.tool, tool)
}

// commandFits judges every simple command of a line, including carried ones. One that matches
// is enough, or one that may.
func (p *Permission) commandFits(c *Call) bool {
	f := c.known()
	return f.anything != "" || p.textFits(f.line.Text) || slices.ContainsFunc(f.line.Commands, func(c command.Command) bool {
		text := c.Joined()
		_, args, _ := strings.Cut(text, " ")
		return p.textFits(text) || p.textFits(strings.TrimSpace(c.Args.Program+" "+args)) || p.mayFit(c)
	})
}

// mayFit: the unknown part of a command may match the rule.
func (p *Permission) mayFit(c command.Command) bool {
	words := strings.Fields(strings.TrimSuffix(p.what, ":*"))
	for i, w := range c.Words {
		switch {
		case i >= len(words):
			return false
		case !w.Known:
			return w.Could(words[i]) || strings.Contains(words[i], "*")
		case !command.Wild(words[i], w.Text) && (i > 0 || !command.Wild(words[i], c.Args.Program)):
			return false
		}
	}
	return c.More
}

// Covers reports whether the rule covers everything that a call does, as an approval needs:
// every command of a line, in every form of a path, and nothing hidden.
func (p *Permission) Covers(c *Call) bool {
	if !p.Match(c) || p.what == "" || p.what == "*" {
		return p.Match(c)
	}
	switch p.tool {
	case "Bash", "PowerShell", "Monitor":
		f := c.known()
		return f.anything == "" && !f.line.Sets && len(f.line.Commands) > 0 && !slices.ContainsFunc(f.line.Commands, func(c command.Command) bool { return !p.covers(c) })
	case "Edit", "Write", "Read", "NotebookEdit", "MultiEdit", "Glob", "Grep":
		pattern := p.pathPattern(c)
		return !slices.ContainsFunc(c.known().files, func(f file) bool { return !f.within(c, []string{pattern}) })
	case "WebFetch":
		u, err := url.Parse(gjson.GetBytes(c.Input, "url").String())
		return err == nil && u.Hostname() != "" && strings.HasPrefix(p.what, "domain:")
	}
	return true
}

// covers reports whether a command is what the rule says and nothing more; a carried command
// is covered with its carrier.
func (p *Permission) covers(c command.Command) bool {
	if c.By >= 0 {
		return true
	}
	return c.Plain && len(c.Sets) == 0 && !c.More && !slices.ContainsFunc(c.Words, func(w command.Word) bool { return !w.Known }) && p.textFits(c.Joined())
}

func (p *Permission) textFits(text string) bool {
	if prefix, ok := strings.CutSuffix(p.what, ":*"); ok {
		return text == prefix || strings.HasPrefix(text, prefix+" ")
	}
	if prefix, ok := strings.CutSuffix(p.what, " *"); ok && !strings.Contains(prefix, "*") {
		return text == prefix || strings.HasPrefix(text, prefix+" ")
	}
	return command.Wild(p.what, text)
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
	return command.Wild(strings.ToLower(domain), strings.TrimSuffix(strings.ToLower(u.Hostname()), "."))
}
