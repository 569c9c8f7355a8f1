package rule

import (
	"slices"
	"strings"

	"beckon/event/policy/shell"
)

// Allows reports whether rules that allow approve a call together: for a command line, each of its
// commands begins with exactly the words of an entry, has no flags but the named ones ([-v] may be
// there), no variable, substitution or assignment, and writes no file.
func Allows(rules []*Compiled, c *Call) bool {
	f := c.known()
	if f.line == nil {
		return slices.ContainsFunc(rules, func(r *Compiled) bool { return r.allowsCall(c) })
	}
	if slices.ContainsFunc(rules, func(r *Compiled) bool { return r.allowsAny(c) }) {
		return true
	}
	if f.line.Strange != "" || f.line.Sets || len(f.line.Commands) == 0 {
		return false
	}
	for at := range f.line.Commands {
		if !slices.ContainsFunc(rules, func(r *Compiled) bool { return r.approves(c, at) }) {
			return false
		}
	}
	return true
}

// Shares reports whether a rule approves at least one command of a call's line, or the whole call.
func (r *Compiled) Shares(c *Call) bool {
	f := c.known()
	if f.line == nil {
		return r.allowsCall(c)
	}
	for at := range f.line.Commands {
		if r.approves(c, at) {
			return true
		}
	}
	return r.allowsAny(c)
}

// allowsAny: the rule has no condition on what the tool does.
func (r *Compiled) allowsAny(c *Call) bool {
	if p := r.rule.Says; p != nil {
		return p.bare() && p.toolFits(c.Tool)
	}
	return r.takes(c.Tool) && !r.conds.ofCommands() && len(r.rule.Paths) == 0 && r.unless == nil && (len(r.rule.Words) == 0 || c.hasWord(r.rule.Words))
}

func (r *Compiled) allowsCall(c *Call) bool {
	if r.allowsAny(c) {
		return true
	}
	if r.rule.Says != nil {
		return r.rule.Says.Covers(c)
	}
	if !r.takes(c.Tool) || r.conds.ofCommands() || len(r.rule.Words) > 0 && !c.hasWord(r.rule.Words) || r.unless != nil && len(r.unless.Words) > 0 && c.hasWord(r.unless.Words) {
		return false
	}
	files := c.known().files
	return len(files) > 0 && !slices.ContainsFunc(files, func(f file) bool { return !r.allowsFile(c, f) }) || len(r.rule.Paths) == 0 && !r.exceptsFiles(c, files)
}

func (r *Compiled) exceptsFiles(c *Call, files []file) bool {
	return r.unless != nil && slices.ContainsFunc(files, func(f file) bool { return f.fits(c, r.unless.Paths) })
}

// allowsFile reports whether a file is one of the rule's, and none that it excepts.
func (r *Compiled) allowsFile(c *Call, f file) bool {
	if len(r.rule.Paths) > 0 && !f.within(c, r.rule.Paths) {
		return false
	}
	return r.unless == nil || !f.fits(c, r.unless.Paths)
}

// approves reports whether the rule approves one command of a call's line.
func (r *Compiled) approves(c *Call, at int) bool {
	got := &c.known().line.Commands[at]
	if p := r.rule.Says; p != nil {
		return p.toolFits(c.Tool) && p.runs() && p.covers(*got)
	}
	if len(r.rule.Paths) > 0 && got.Words[0] == "git" {
		return false // what it names may be a revision
	}
	if !r.takes(c.Tool) || !r.conds.ofCommands() || !got.Plain || len(got.Env) > 0 || len(got.Writes) > 0 || len(r.rule.Words) > 0 && !c.hasWord(r.rule.Words) {
		return false
	}
	for i, w := range got.Words {
		if strings.Contains(w, shell.Hole) || got.Globs[i] {
			return false
		}
	}
	if len(r.conds.Commands) > 0 && !slices.ContainsFunc(r.conds.Commands, func(entry string) bool { return names(strings.Fields(entry), got.Words) }) {
		return false
	}
	text := strings.Join(got.Words, " ")
	if len(r.conds.Regex) > 0 && !r.conds.finds(text) || r.excepted(c, at, text) {
		return false
	}
	return !slices.ContainsFunc(c.filesOf(at), func(f file) bool { return !r.allowsFile(c, f) })
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
	var operands, flags []string
	for _, w := range got {
		anyText := shell.In("grep egrep fgrep rg", entry[0]) // they take it as a pattern, and run nothing
		switch {
		case !anyText && (!isHarmless(w) || shell.IsAssignment(w)), w == "--", w != "" && (w[0] == '+' || w[0] == ':'): // make SHELL=x
			return false
		case shell.IsFlag(w):
			flags = append(flags, w)
		default:
			operands = append(operands, w)
		}
	}
	for _, m := range must {
		if !slices.ContainsFunc(flags, func(f string) bool { return f == m || len(m) == 2 && f[1] != '-' && strings.Contains(f, m[1:]) }) {
			return false
		}
	}
	named := append(slices.Clone(must), may...)
	if slices.ContainsFunc(flags, func(f string) bool { return !isNamed(f, named) }) || len(operands) < len(words) {
		return false
	}
	for i, w := range words {
		if w != operands[i] && (i == 0 || !wild(w, tidy(operands[i]))) {
			return false
		}
	}
	name := shell.Base(words[0])
	runs := runsAny(name) || name == "sed"
	closed := len(words) > 1 && shell.In(writesAll, name) || len(words) == 1 && runs || shell.In(targets, name)
	return !closed || len(operands) == len(words)
}

// isNamed reports whether a flag, or each letter of several that are joined, is among those of an
// entry. A number is a short form of -n.
func isNamed(got string, named []string) bool {
	if slices.ContainsFunc(named, func(n string) bool { return wild(n, got) }) {
		return true
	}
	if got[1] == '-' || strings.Contains(got, "=") {
		return false
	}
	if strings.Trim(got[1:], "0123456789") == "" {
		return slices.Contains(named, "-n")
	}
	return !strings.ContainsFunc(got[1:], func(c rune) bool { return !slices.Contains(named, "-"+string(c)) })
}

// isHarmless reports whether a word has none of the characters with which programs are told to run
// others.
func isHarmless(w string) bool {
	return !strings.ContainsFunc(w, func(c rune) bool {
		return !strings.ContainsRune("./:@%^~,=+-_", c) && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
	})
}
