package rule

import (
	"slices"
	"strings"

	"beckon/event/policy/shell"
)

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
		below := &Rule{Conditions: Conditions{Paths: []string{p.pathPattern(c)}}}
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
		within := !f.unsure && !f.glob && f.probably(c, r.Paths)
		return len(r.Paths) > 0 && !within || r.Unless != nil && f.fits(c, r.Unless.Paths)
	})
}

// approves reports whether the rule approves one command of a call's line.
func (r *Rule) approves(c *Call, at int) bool {
	got := &c.known().line.Commands[at]
	if p := r.Says; p != nil {
		return p.toolFits(c.Tool) && p.runs() && p.covers(got)
	}
	text := strings.Join(got.Words, " ")
	named := func(entry string) bool { return names(strings.Fields(entry), got.Words) }
	switch {
	case len(r.Paths) > 0 && got.Words[0] == "git", // what it names may be a revision
		!r.takes(c.Tool) || !r.ofCommands() || !r.hasWord(c),
		!got.Plain || len(got.Env) > 0 || len(got.Writes) > 0 || obeysInput(got),
		strings.Contains(text, hole) || slices.Contains(got.Globs, true),
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
	var operands, flags []string
	for _, w := range got {
		switch {
		case !anyText && (strings.Trim(w, harmless) != "" || shell.IsAssignment(w)),
			w == "--",
			w != "" && (w[0] == '+' || w[0] == ':'): // make SHELL=x
			return false
		case shell.IsFlag(w):
			flags = append(flags, w)
		default:
			operands = append(operands, w)
		}
	}
	missing := func(m string) bool {
		return !slices.ContainsFunc(flags, func(f string) bool {
			return f == m || len(m) == 2 && f[1] != '-' && strings.Contains(f, m[1:])
		})
	}
	named := append(slices.Clone(must), may...)
	strange := func(f string) bool { return !isNamed(f, named) }
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

// isNamed reports whether a flag, or each of several that are joined, is an entry's; a number is -n.
func isNamed(got string, named []string) bool {
	switch {
	case slices.ContainsFunc(named, func(n string) bool { return wild(n, got) }):
		return true
	case got[1] == '-' || strings.Contains(got, "="):
		return false
	case strings.Trim(got[1:], "0123456789") == "":
		return slices.Contains(named, "-n")
	}
	return !strings.ContainsFunc(got[1:], func(c rune) bool { return !slices.Contains(named, "-"+string(c)) })
}
