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
	Text       string // as written
	tool, what string
}

var errPermission = errors.New("is not one permission rule")

// NewPermission parses an "if".
func NewPermission(text string) (*Permission, error) {
	p := Permission{Text: text, tool: text}
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
	m := Matcher{Text: strings.Join(tools, "|"), Names: tools}
	return Rule{Tools: []Matcher{m}, Conditions: Conditions{Paths: []string{p.pattern("")}}}, nil
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
	return p.runs() && p.toolFits(c.Tool) && (l.Strange != "" || slices.ContainsFunc(l.Commands, p.mayFit))
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
		pattern := []string{p.pattern(c.Cwd)}
		return verdict(slices.ContainsFunc(c.known().files, func(f file) bool { return f.fits(c, pattern) }))
	}
	return verdict(p.inputFits(c, true))
}

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
	known, _, unknown := strings.Cut(strings.Join(c.Words, " "), hole)
	fixed, _, _ := strings.Cut(strings.TrimSuffix(p.what, ":*"), "*")
	return unknown && (strings.HasPrefix(fixed, known) || strings.HasPrefix(known, fixed))
}

func (p *Permission) textFits(text string) bool {
	prefix, cut := strings.CutSuffix(p.what, ":*")
	if !cut {
		prefix, cut = strings.CutSuffix(p.what, " *")
		cut = cut && !strings.Contains(prefix, "*")
	}
	if cut {
		return strings.HasPrefix(text+" ", prefix+" ")
	}
	return wild(p.what, text)
}

// pattern converts the rule's pattern to a policy rule's: the client's //x is absolute, and /x below the project.
// For an "if", what names no place is below the working directory.
func (p *Permission) pattern(cwd string) string {
	switch {
	case strings.HasPrefix(p.what, "/") && !strings.HasPrefix(p.what, "//"):
		return "." + p.what
	case cwd == "" || rooted(p.what):
		return strings.TrimPrefix(p.what, "/")
	case !strings.Contains(strings.TrimSuffix(p.what, "/"), "/"):
		return Quote(cwd) + "/**/" + p.what
	}
	return Quote(cwd) + "/" + strings.TrimPrefix(p.what, "./")
}

// Allows returns the rules that approve a call together, nil if they do not: each command of a line begins
// with exactly the words of an entry, has no flags but the named ones ([-v] may be there), no variable,
// substitution or assignment, and writes no file.
func Allows(rules []*Rule, c *Call) (by []*Rule) {
	l := c.known().line
	for _, r := range rules {
		if r.allowsAny(c) || l == nil && r.allowsCall(c) {
			by = append(by, r)
		}
	}
	if len(by) > 0 || l == nil || l.Strange != "" || l.Sets {
		return by
	}
	for at := range l.Commands {
		before := len(by)
		for _, r := range rules {
			if r.approves(c, at) {
				by = append(by, r)
			}
		}
		if len(by) == before {
			return nil
		}
	}
	return by
}

// allowsAny: the rule has no condition on what the tool does.
func (r *Rule) allowsAny(c *Call) bool {
	if p := r.Says; p != nil {
		return p.bare() && p.toolFits(c.Tool)
	}
	return r.takes(c.Tool) && !r.ofCommands() && len(r.Paths) == 0 && r.Unless == nil && r.hasWord(c)
}

// hasWord reports whether a call has one of the rule's words, if it has some.
func (r *Rule) hasWord(c *Call) bool { return len(r.Words) == 0 || c.hasWord(r.Words) }

// allowsCall: the rule approves a tool that runs no commands.
func (r *Rule) allowsCall(c *Call) bool {
	files := c.known().files
	switch p := r.Says; {
	case p != nil && p.ofFiles():
		below := &Rule{Conditions: Conditions{Paths: []string{p.pattern(c.Cwd)}}}
		return p.toolFits(c.Tool) && len(files) > 0 && below.allowsFiles(c, files)
	case p != nil:
		return p.toolFits(c.Tool) && !p.runs() && p.inputFits(c, false)
	}
	if !r.takes(c.Tool) || r.ofCommands() || !r.hasWord(c) || r.Unless != nil && c.hasWord(r.Unless.Words) {
		return false
	}
	named := slices.ContainsFunc(r.Tools, func(m Matcher) bool { return !m.All() }) // else what it does is not known
	known := len(r.Paths) == 0 || len(files) > 0 && (named || !strings.HasPrefix(c.Tool, "mcp__"))
	return known && r.allowsFiles(c, files)
}

// allowsFiles reports whether files are all the rule's, and none is one that it excepts.
func (r *Rule) allowsFiles(c *Call, files []file) bool {
	return !slices.ContainsFunc(files, func(f file) bool {
		within := !f.glob && !strings.Contains(f.ways[0], hole) && f.probably(c, r.Paths)
		return len(r.Paths) > 0 && !within || r.Unless != nil && f.fits(c, r.Unless.Paths)
	})
}

// approves reports whether the rule approves one command of a call's line.
func (r *Rule) approves(c *Call, at int) bool {
	got := &c.known().line.Commands[at]
	text := strings.Join(got.Words, " ")
	if !got.Plain || len(got.Env)+len(got.Writes) > 0 || obeysInput(got) || strings.Contains(text, hole) {
		return false
	}
	if p := r.Says; p != nil {
		return p.toolFits(c.Tool) && p.runs() && p.textFits(text)
	}
	named := func(entry string) bool { return names(strings.Fields(entry), got.Words) }
	switch {
	case len(r.Paths) > 0 && got.Words[0] == "git", // what it names may be a revision
		!r.takes(c.Tool) || !r.ofCommands() || !r.hasWord(c) || slices.Contains(got.Globs, true),
		len(r.Commands) > 0 && !slices.ContainsFunc(r.Commands, named),
		len(r.Regex) > 0 && !r.finds(text, true),
		r.excepted(c, at, text):
		return false
	}
	return r.allowsFiles(c, c.filesOf(at))
}

// obeysInput reports whether a command runs what it reads, which no entry names.
func obeysInput(c *shell.Command) bool {
	name := shell.Base(c.Words[0])
	alone := !slices.ContainsFunc(c.Words[1:], func(w string) bool { return !shell.IsFlag(w) && w != "-" })
	return c.Fed && (shell.In("ssh sftp psql mysql mariadb sqlite3 redis-cli mongosh", name) || alone && runsAny(name))
}

// names reports whether an entry names a command completely.
func names(entry, got []string) bool {
	var must, may, words []string
	for _, e := range entry {
		switch {
		case strings.HasPrefix(e, "["):
			may = append(may, strings.Trim(e, "[]"))
		case shell.IsFlag(e) && len(e) == 3 && e[1] != '-': // -rf
			must = append(must, e[:2], "-"+e[2:])
		case shell.IsFlag(e):
			must = append(must, e)
		default:
			words = append(words, e)
		}
	}
	const harmless = shell.Alphanumeric + "./:@%^~,=+-_" // with other characters programs are told to run others
	anyText := shell.In("grep egrep fgrep rg", entry[0]) // they take it as a pattern, and run nothing
	named := append(slices.Clone(must), may...)
	among := func(list []string, flag string) bool {
		return slices.ContainsFunc(list, func(one string) bool { return wild(one, flag) })
	}
	var operands, flags []string
	for _, w := range got {
		switch {
		case !anyText && (strings.Trim(w, harmless) != "" || shell.IsAssignment(w)),
			w == "--",
			w != "" && (w[0] == '+' || w[0] == ':'): // make SHELL=x
			return false
		case !shell.IsFlag(w):
			operands = append(operands, w)
		case among(named, w):
			flags = append(flags, w)
		case w[1] == '-' || strings.Contains(w, "="):
			return false
		case strings.Trim(w[1:], "0123456789") == "": // -5 is -n
			flags = append(flags, "-n")
		default: // several that are joined
			for _, letter := range w[1:] {
				flags = append(flags, "-"+string(letter))
			}
		}
	}
	missing := func(m string) bool { return !slices.Contains(flags, m) }
	strange := func(f string) bool { return !among(named, f) }
	if slices.ContainsFunc(must, missing) || slices.ContainsFunc(flags, strange) || len(operands) < len(words) {
		return false
	}
	for i, w := range words {
		if w != operands[i] && (i == 0 || !wild(w, tidy(operands[i]))) {
			return false
		}
	}
	name := shell.Base(words[0])
	runs := runsAny(name) || shell.In("sed uniq", name)
	closed := len(words) > 1 && shell.In(writesAll, name) || len(words) == 1 && runs || shell.In(targets, name)
	return !closed || len(operands) == len(words)
}
