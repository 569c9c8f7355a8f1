// Package rule says whether a rule of a policy covers a call: its tool, its commands, the files
// that it reads or writes, its words.
//
// A rule that refuses or asks covers a call if any part of it fits: one command of a line, at any
// depth, in any spelling. Rules that allow are the opposite, and share nothing with them but the
// reader of lines: see Allows.
package rule

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"beckon/event/policy/shell"
)

// Result is how well a rule covers a call.
type Result uint8

// The results.
const (
	No Result = iota
	// Unsure: the call does not say it, and the user should.
	Unsure
	Yes
)

// Verdict is the answer of Judge.
type Verdict struct {
	Result Result
	Why    string // what the call does not say, if Unsure
}

// Conditions are what a call must match: one entry of each list that is set, all for the same
// command. Without any, every call matches.
type Conditions struct {
	// Commands are commands by their words, as in "git push --force"; see Pattern.
	Commands []string
	// Regex are Go regular expressions, searched in a command's words joined by single blanks,
	// without quotes, in its input and in the texts of programs. Variables that the line does not set
	// stand behind the words, as $NAME.
	Regex []string
	// Paths are patterns of files that are read or written: a name or pattern without a slash
	// matches in any directory; ./x below the project; ~/x and /x exactly there; a/b below the
	// project, too. ** spans directories.
	Paths []string
	// Words are texts in the prompt or the tool's input, ignoring letter case.
	Words []string
}

// Rule is a rule as written.
type Rule struct {
	Conditions
	// Tools are matchers for the tool's name; all must match. A tool that runs command lines counts
	// as Bash, and for a rule with Paths a command that reads or writes a file counts as a Read,
	// Write or Edit of it.
	Tools []Matcher
	// Unless excepts what all of its conditions match, completely.
	Unless *Conditions
	// Only restricts it to what a permission of the client's covers; nil for everything.
	Only *Permission
	// Says is the whole condition, in the client's own words; nil if it is in ours. See OfClient.
	Says *Permission
	// Allow: the rule approves.
	Allow bool
}

// Problem is an error or a doubt about one entry of a rule.
type Problem struct {
	Field string // "commands", "regex", "paths", "words"; with "unless." before it
	What  string // as an error message
	// Doubt: the rule is valid but probably not what is meant.
	Doubt bool
}

// Compiled is a rule ready for Judge. It is safe for concurrent use.
type Compiled struct {
	rule   Rule
	conds  conditions
	unless *conditions
}

// conditions are Conditions, parsed when a call first may match them.
type conditions struct {
	Conditions
	heads []string // the programs of Commands
	regex func() []*regexp.Regexp
}

// Compile prepares a rule. It is cheap and never fails: what Check calls an error matches nothing.
func (r Rule) Compile() *Compiled {
	c := &Compiled{rule: r, conds: prepare(r.Conditions, r.Allow)}
	if r.Unless != nil {
		u := prepare(*r.Unless, true)
		c.unless = &u
	}
	return c
}

func prepare(c Conditions, whole bool) conditions {
	out := conditions{Conditions: c}
	for _, text := range c.Commands {
		out.heads = append(out.heads, headOf(text))
	}
	out.regex = sync.OnceValue(func() (list []*regexp.Regexp) {
		for _, text := range c.Regex {
			if whole {
				text = "^(?s:" + text + ")$"
			}
			if re, err := regexp.Compile(text); err == nil {
				list = append(list, re)
			}
		}
		return list
	})
	return out
}

func (c *conditions) ofCommands() bool { return len(c.Commands) > 0 || len(c.Regex) > 0 }

func (c *conditions) finds(text string) bool {
	return slices.ContainsFunc(c.regex(), func(re *regexp.Regexp) bool { return re.MatchString(text) })
}

// Judge says whether a rule that refuses or asks covers a call.
func (r *Compiled) Judge(c *Call) Verdict {
	if r.rule.Allow {
		if Allows([]*Compiled{r}, c) {
			return Verdict{Result: Yes}
		}
		return Verdict{}
	}
	if r.rule.Says != nil {
		return r.rule.Says.judge(c)
	}
	f := c.known()
	named := r.takes(c.Tool) || f.line != nil && r.takes("Bash")
	if !named && len(r.rule.Paths) == 0 || len(r.rule.Words) > 0 && !c.hasWord(r.rule.Words) {
		return Verdict{}
	}
	if r.unless != nil && len(r.unless.Words) > 0 && c.hasWord(r.unless.Words) && !r.unless.ofCommands() && len(r.unless.Paths) == 0 {
		return Verdict{}
	}
	if f.line == nil || len(f.files) > 0 {
		if v := r.call(c, named); v.Result > No || f.line == nil {
			return v
		}
	}
	return r.line(c, named)
}

func (r *Compiled) takes(tool string) bool {
	return !slices.ContainsFunc(r.rule.Tools, func(m Matcher) bool { return !m.Match(tool) })
}

// call judges what a tool's input names.
func (r *Compiled) call(c *Call, named bool) Verdict {
	switch {
	case r.conds.ofCommands():
		return Verdict{}
	case len(r.rule.Paths) == 0:
		return verdict(named)
	}
	return verdict(r.files(c, c.known().files, r.takes(c.Tool)))
}

func verdict(covers bool) Verdict {
	if covers {
		return Verdict{Result: Yes}
	}
	return Verdict{}
}

// files says whether one of the files matches on which the rule's tools work.
func (r *Compiled) files(c *Call, files []file, named bool) bool {
	return slices.ContainsFunc(files, func(f file) bool {
		if !named && !slices.ContainsFunc(f.tools(), r.takes) || !f.fits(c, r.rule.Paths) {
			return false
		}
		if r.unless == nil || len(r.unless.Paths) == 0 || r.unless.ofCommands() {
			return true
		}
		if f.template != "" {
			if from := c.file(opened{path: f.template, dir: f.dir}); from.probably(c, r.unless.Paths) {
				return false
			}
		}
		return !f.probably(c, r.unless.Paths)
	})
}

// line judges a command line: one command that fits is enough.
func (r *Compiled) line(c *Call, named bool) (best Verdict) {
	f := c.known()
	if !r.conds.ofCommands() && len(r.rule.Paths) == 0 {
		return verdict(named)
	}
	near := r.conds.near(f)
	if len(r.conds.Commands) == 0 || len(near) > 0 {
		for at := range f.line.Commands {
			if v := r.command(c, at, near); v.Result > best.Result {
				best = v
			}
			if best.Result == Yes {
				return best
			}
		}
	}
	if r.inCode(c, named) {
		return Verdict{Result: Yes}
	}
	if best.Result == No && f.line.Strange != "" && r.mentioned(f.line.Text) {
		return Verdict{Unsure, f.line.Strange}
	}
	return best
}

// near returns the entries whose program is on the line.
func (c *conditions) near(f *facts) (list []*Pattern) {
	for i, name := range c.heads {
		other := f.shells && shell.In(shell.Shells, name) || name == "npm" && (f.names["pnpm"] || f.names["yarn"] || f.names["bun"])
		if name != "" && !f.names[name] && !other {
			continue
		}
		if p, err := Parse(c.Commands[i]); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// mentioned reports whether the text of a line that cannot be read has the program of an entry, and
// the word behind it.
func (r *Compiled) mentioned(text string) bool {
	text = strings.ToLower(text)
	for i, head := range r.conds.heads {
		if head == "" || !strings.Contains(text, head) {
			continue
		}
		if p, err := Parse(r.conds.Commands[i]); err == nil && (len(p.words) == 0 || strings.Contains(text, strings.ToLower(p.words[0].text))) {
			return true
		}
	}
	return false
}

// command judges one command of a line.
func (r *Compiled) command(c *Call, at int, near []*Pattern) (best Verdict) {
	got := &c.known().line.Commands[at]
	found := []fit{{}}
	if len(r.conds.Commands) > 0 {
		found = nil
		for _, p := range near {
			found = append(found, p.fits(c.known().line, at)...)
		}
	}
	for _, one := range found {
		text := joined(got, one.at)
		named := text
		for _, name := range got.Unknown {
			named += " $" + name
		}
		if asksHelp(got.Words[one.at:]) || len(r.conds.Regex) > 0 && !r.conds.finds(text) && !r.conds.finds(named) && (got.Input == "" || !r.conds.finds(got.Input)) {
			continue
		}
		if r.excepted(c, at, text) || len(r.rule.Paths) > 0 && !r.files(c, c.filesOf(at), r.takes(c.Tool)) {
			continue
		}
		switch {
		case one.unsure == "":
			return Verdict{Result: Yes}
		case best.Result == No:
			best = Verdict{Unsure, one.unsure}
		}
	}
	return best
}

// excepted reports whether the rule's "unless" covers a command.
func (r *Compiled) excepted(c *Call, at int, text string) bool {
	u := r.unless
	if u == nil || len(u.Words) > 0 && !c.hasWord(u.Words) {
		return false
	}
	got := &c.known().line.Commands[at]
	if len(u.Regex) > 0 && !u.finds(text) && (got.Input == "" || !u.finds(got.Input)) {
		return false
	}
	if len(u.Commands) > 0 && !slices.ContainsFunc(u.near(c.known()), func(p *Pattern) bool { return p.excepts(c.known().line, at) }) {
		return false
	}
	if len(u.Paths) == 0 {
		return u.ofCommands()
	}
	if len(r.rule.Paths) > 0 && !u.ofCommands() {
		return false // each file is excepted by itself
	}
	files := c.filesOf(at)
	return len(files) > 0 && !slices.ContainsFunc(files, func(f file) bool { return !f.probably(c, u.Paths) })
}

// inCode judges the texts of programs: by expressions, and by the files among their texts.
func (r *Compiled) inCode(c *Call, named bool) bool {
	f := c.known()
	for _, code := range f.line.Code {
		if len(r.conds.Regex) == 0 || !r.conds.finds(code.Text) || r.unless != nil && r.unless.finds(code.Text) {
			continue
		}
		if len(r.rule.Paths) == 0 && (len(r.conds.heads) == 0 || slices.ContainsFunc(r.conds.heads, func(name string) bool {
			return strings.Contains(code.Text, name) || slices.ContainsFunc(f.line.Commands[code.By].Programs(), func(p shell.Place) bool { return p.Name == name })
		})) {
			return true
		}
	}
	if len(r.rule.Paths) == 0 || r.conds.ofCommands() || len(f.line.Code) == 0 {
		return false
	}
	if !f.quoted {
		f.quoted = true
		for _, code := range f.line.Code {
			f.literals = append(f.literals, shell.Literals(code.Text)...)
		}
	}
	for _, text := range f.literals {
		if isPath(text) && r.files(c, []file{c.file(opened{path: text, read: true, write: true})}, r.takes(c.Tool)) {
			return true
		}
	}
	return false
}

// joined returns a command's words from a place on, as expressions see them.
func joined(c *shell.Command, at int) string {
	text := shell.Base(c.Words[at])
	if strings.HasSuffix(c.Words[at], "-cli") {
		text += "-cli"
	}
	if at+1 < len(c.Words) {
		text += " " + strings.Join(c.Words[at+1:], " ")
	}
	if slices.ContainsFunc(c.Words[:at], func(w string) bool { return shell.In("xargs gxargs parallel", shell.Base(w)) }) {
		text += " " + shell.Hole
	}
	return text
}

// dryPrograms do nothing when they are told so, by --dry-run.
const dryPrograms = "git npm pnpm yarn cargo kubectl oc helm rsync skaffold make gem twine aws"

// asksHelp reports whether a command only shows help, its version, or what it would do.
func asksHelp(words []string) bool {
	for i, w := range words[1:] {
		last := i == len(words)-2
		switch {
		case w == "--":
			return false
		case w == "--help", w == "-help", last && (w == "--version" || w == "-h" || w == "help"):
			return true
		case shell.In("--dry-run --dry-run=client --dry-run=server --dryrun", w) && shell.In(dryPrograms, shell.Base(words[0])):
			return true
		case shell.Base(words[0]) == "make" && shell.In("-n --just-print --recon", w):
			return true
		}
	}
	return false
}
