package match

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"beckon/event/policy/command"

	"github.com/tidwall/gjson"
)

// Compiled is a rule ready for Judge. It is safe for concurrent use.
type Compiled struct {
	rule   Rule
	conds  conditions
	unless *conditions
}

// Compile prepares a rule. It is cheap, and never fails: what Check calls an error matches
// nothing. Entries are parsed when a call first may match them.
func (r Rule) Compile() *Compiled {
	c := &Compiled{rule: r, conds: prepare(r.Conditions, r.Allow, r.Exact)}
	if r.Unless != nil {
		u := prepare(*r.Unless, true, r.Exact)
		c.unless = &u
	}
	return c
}

// conditions are Conditions, prepared.
type conditions struct {
	Conditions
	heads []string // the programs of Commands, in small letters
	plain []string // the word after each, if it is plain: usually a subcommand
	read  func() parts
	exact bool
}

// parts are Conditions, parsed once one of them may match.
type parts struct {
	patterns []*pattern // nil for an invalid entry
	regex    []*regexp.Regexp
}

func prepare(c Conditions, whole, exact bool) conditions {
	out := conditions{Conditions: c, exact: exact}
	for _, text := range c.Commands {
		out.heads = append(out.heads, head(text))
		out.plain = append(out.plain, second(text))
	}
	out.read = sync.OnceValue(func() (p parts) {
		for _, text := range c.Commands {
			one, _ := readPattern(text) // nil for a mistake
			p.patterns = append(p.patterns, one)
		}
		for _, text := range c.Regex {
			if whole {
				text = "^(?:" + text + ")$"
			}
			if re, err := regexp.Compile(text); err == nil {
				p.regex = append(p.regex, re)
			}
		}
		return p
	})
	return out
}

// Judge says whether the rule covers c.
func (r *Compiled) Judge(c *Call) Verdict {
	real := r.takes(c.Tool)
	if !real && (r.rule.Allow || len(r.rule.Paths) == 0) {
		return no
	}
	if len(r.rule.Words) > 0 && !c.hasWord(r.rule.Words) {
		return no
	}
	if _, shell := c.shellCommand(); !shell {
		return r.call(c, real)
	}
	if r.rule.Allow {
		return r.approve(c)
	}
	return r.refuse(c, real)
}

func (r *Compiled) takes(tool string) bool {
	return !slices.ContainsFunc(r.rule.Tools, func(m Matcher) bool { return !m.Match(tool) })
}

// call judges a call that is not a command line.
func (r *Compiled) call(c *Call, real bool) Verdict {
	if r.conds.ofCommands() {
		return no
	}
	if len(r.rule.Paths) == 0 {
		if real && !r.excepted(c, -1) {
			return yes
		}
		return no
	}
	files := c.known().files
	if r.rule.Allow {
		if real && len(files) > 0 && !slices.ContainsFunc(files, func(f file) bool { return !f.within(c, r.rule.Paths) }) {
			return yes
		}
		return no
	}
	a := r.files(c, files, real)
	if a.Result > No && r.excepted(c, -1) {
		return no
	}
	return a
}

// files says whether a file on which the rule's tools work matches.
func (r *Compiled) files(c *Call, files []file, real bool) (a Verdict) {
	for _, f := range files {
		if !real && !slices.ContainsFunc(f.tools(), r.takes) || r.unless.excepts(c, f) {
			continue
		}
		a = either(a, f.fits(c, r.rule.Paths))
	}
	return a
}

func (c conditions) ofCommands() bool { return len(c.Commands) > 0 || len(c.Regex) > 0 }

// refuse judges a command line for a rule that refuses: one matching command is enough.
func (r *Compiled) refuse(c *Call, real bool) Verdict {
	f := c.known()
	if !r.conds.ofCommands() && len(r.rule.Paths) == 0 {
		return yes
	}
	best := no
	if r.conds.ofCommands() && !r.near(f) {
		return f.rest(best)
	}
	better := func(at int, a Verdict) {
		if a.Result > best.Result && !r.excepted(c, at) {
			best = a
		}
	}
	for at := range f.line.Commands {
		if best.Result == Yes {
			return best
		}
		a := yes
		if r.conds.ofCommands() {
			a = r.conds.fits(f.line, at)
		}
		if a.Result > No && len(r.rule.Paths) > 0 {
			a = both(a, r.files(c, c.filesOf(at), real))
		}
		better(at, a)
	}
	if best.Result < Yes {
		better(-1, r.inCode(c, f, real))
	}
	if !r.conds.ofCommands() {
		return best
	}
	return f.rest(best)
}

// rest is the verdict if no command matches: there may be others.
func (f *facts) rest(v Verdict) Verdict {
	if v.Result == No && f.anything != "" {
		return unsure(f.anything)
	}
	return v
}

// near reports whether one of the rule's programs is on the line.
func (r *Compiled) near(f *facts) bool {
	for i, name := range r.conds.heads {
		if name == "" || f.tokens[name] != nil || f.programs[name] != nil && (r.conds.plain[i] == "" || f.words == nil || f.words[r.conds.plain[i]]) {
			return true
		}
	}
	return len(r.conds.heads) == 0
}

// second returns the second word of an entry if it consists of small letters.
func second(text string) string {
	list := strings.Fields(text)
	if len(list) < 2 || strings.Trim(list[1], "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return list[1]
}

// fits says whether a command matches one of the entries and one of the expressions.
func (c conditions) fits(line *command.Line, at int) Verdict {
	a := yes
	if len(c.Commands) > 0 {
		a = c.named(line, at)
	}
	if a.Result > No && len(c.Regex) > 0 && !c.finds(line.Commands[at].Joined()) {
		return no
	}
	return a
}

func (c conditions) finds(text string) bool {
	return slices.ContainsFunc(c.read().regex, func(re *regexp.Regexp) bool { return re.MatchString(text) })
}

func (c conditions) named(line *command.Line, at int) (a Verdict) {
	name := strings.ToLower(line.Commands[at].Args.Program)
	for i, head := range c.heads {
		if head != "" && name != "" && head != name && head != command.Unversioned(name) {
			continue
		}
		if p := c.read().patterns[i]; p != nil {
			a = either(a, p.fits(line, at))
		}
	}
	return a
}

// inCode checks program texts: for the words of commands, for expressions, and for files among
// the quoted texts.
func (r *Compiled) inCode(c *Call, f *facts, real bool) Verdict {
	if len(r.rule.Paths) > 0 {
		if r.conds.ofCommands() {
			return no
		}
		var files []file
		for _, code := range f.line.Code {
			for _, text := range literals(code.Text) {
				if text != "" && !strings.ContainsAny(text, " \n(){};") {
					files = append(files, c.file(command.File{Path: command.Word{Text: text, Known: true}, Access: command.Read | command.Write, Dir: command.Word{Known: true}}))
				}
			}
		}
		return r.files(c, files, real)
	}
	for _, code := range f.line.Code {
		if r.unless != nil && r.unless.finds(code.Text) {
			continue
		}
		if len(r.conds.Regex) > 0 && r.conds.finds(code.Text) && (len(r.conds.Commands) == 0 || r.conds.named(f.line, code.By).Result == Yes) {
			return yes
		}
	}
	for _, name := range r.conds.heads {
		for _, p := range f.tokens[name] {
			found := command.Line{Commands: []command.Command{f.inCode(p)}}
			if a := r.conds.fits(&found, 0); a.Result == Yes {
				return a
			}
		}
	}
	return no
}

// excepts reports whether a file is excepted by itself: "unless" has only paths.
func (u *conditions) excepts(c *Call, f file) bool {
	return u != nil && len(u.Paths) > 0 && !u.ofCommands() && len(u.Words) == 0 && f.probably(c, u.Paths)
}

// excepted reports whether the rule's "unless" covers a command of the line, or a call that
// runs none (-1).
func (r *Compiled) excepted(c *Call, at int) bool {
	u := r.unless
	if u == nil || len(u.Words) > 0 && !c.hasWord(u.Words) {
		return false
	}
	if !u.ofCommands() && len(u.Words) == 0 {
		return false // excepts has checked each file
	}
	files := c.known().files
	if at >= 0 {
		files = c.filesOf(at)
	}
	if u.ofCommands() && (at < 0 || !u.approves(c.known().line, at)) {
		return false
	}
	return len(u.Paths) == 0 || len(files) > 0 && !slices.ContainsFunc(files, func(f file) bool { return !f.probably(c, u.Paths) })
}

// approves reports whether one of the entries names a command completely.
func (c conditions) approves(line *command.Line, at int) bool {
	if len(c.Commands) > 0 && !slices.ContainsFunc(c.read().patterns, func(p *pattern) bool { return p != nil && p.approves(line, at, c.exact) }) {
		return false
	}
	if len(c.Regex) == 0 {
		return true
	}
	got := line.Commands[at]
	if got.More || len(got.Sets) > 0 || len(children(line, at)) > 0 || slices.ContainsFunc(got.Words, func(w command.Word) bool { return !w.Known }) {
		return false
	}
	return c.finds(got.Joined())
}

// approve judges a command line for a rule that approves: every command must be named, and
// nothing hidden.
func (r *Compiled) approve(c *Call) Verdict {
	if !r.conds.ofCommands() {
		if len(r.rule.Paths) == 0 {
			return yes
		}
		return no
	}
	f := c.known()
	if f.anything != "" {
		return unsure(f.anything)
	}
	if len(f.line.Commands) == 0 || f.line.Sets {
		return no
	}
	for at, got := range f.line.Commands {
		if got.By >= 0 {
			continue // approved with the command that carries it
		}
		if !got.Plain || !r.conds.approves(f.line, at) || r.excepted(c, at) {
			return no
		}
		files := c.filesOf(at)
		if len(r.rule.Paths) > 0 && (len(files) == 0 || slices.ContainsFunc(files, func(f file) bool { return !f.within(c, r.rule.Paths) })) {
			return no
		}
	}
	return yes
}

func (c *Call) hasWord(words []string) bool {
	text, shell := c.shellCommand()
	switch {
	case shell:
	case c.Input != nil:
		text = string(c.Input) + "\n" + unquoted(gjson.ParseBytes(c.Input), 0)
	default:
		text = c.Prompt
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}

// unquoted returns the texts in a value, decoded from JSON, which writes quotes and new lines
// differently.
func unquoted(v gjson.Result, depth int) string {
	const deep = 32 // no tool's input is nested this deep
	switch {
	case v.Type == gjson.String:
		return v.Str + "\n"
	case !v.IsObject() && !v.IsArray() || depth == deep:
		return ""
	}
	var all strings.Builder
	v.ForEach(func(_, item gjson.Result) bool {
		all.WriteString(unquoted(item, depth+1))
		return true
	})
	return all.String()
}
