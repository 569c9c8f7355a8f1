// Package rule says whether a rule of a policy covers a call: its tool, its commands, the files that it
// reads or writes, its words. A rule that refuses or asks does if any part fits: one command of a line, at
// any depth, in any spelling. Rules that allow are the opposite: see Allows.
package rule

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"beckon/event"
	"beckon/event/policy/shell"
)

// Result is how well a rule covers a call.
type Result uint8

// The results.
const (
	No     Result = iota
	Unsure        // the call does not say it, and the user should
	Yes
)

// Verdict is the answer of Evaluate.
type Verdict struct {
	Result Result
	Why    string // what the call does not say, if Unsure
}

// Conditions are what a call must match: one entry of each list that is set, all for the same
// command. Without any, every call matches.
type Conditions struct {
	// Commands are commands by their words, as in "git push --force"; see Pattern.
	Commands []string
	// Regex are Go regular expressions, searched in a command's words joined by single blanks, without quotes, in its
	// input and in the texts of programs. Variables that the line does not set stand behind the words, as $NAME.
	Regex []string
	// Paths are patterns of files that are read or written: a name or pattern without a slash matches in any
	// directory; ./x below the project; ~/x and /x exactly there; a/b below the project, too. ** spans directories.
	Paths []string
	// Words are texts in the prompt or the tool's input, ignoring letter case.
	Words []string
}

// Rule is a rule as written.
type Rule struct {
	Conditions
	// Tools are matchers for the tool's name; all must match. A tool that runs command lines counts as Bash, and for
	// a rule with Paths a command that reads or writes a file counts as a Read, Write or Edit of it.
	Tools  []Matcher
	Unless *Conditions // excepts what all of its conditions match, completely
	Only   *Permission // restricts it to what this covers; nil for everything
	Says   *Permission // the whole condition, in the client's words; nil if it is in ours
	Allow  bool        // the rule approves
}

// Problem is an error in one entry of a condition.
type Problem struct {
	Field string // "commands", "regex", "paths", "words"
	What  string // as an error message
}

// ofCommands reports whether there is a condition on commands.
func (c *Conditions) ofCommands() bool { return len(c.Commands) > 0 || len(c.Regex) > 0 }

var expressions sync.Map // that have been compiled; nil for those that cannot be

// finds reports whether an expression is in a text, or with whole is all of it.
func (c *Conditions) finds(text string, whole bool) bool {
	return slices.ContainsFunc(c.Regex, func(source string) bool {
		if whole {
			source = "^(?s:" + source + ")$"
		}
		re, known := expressions.Load(source)
		if !known {
			re, _ = regexp.Compile(source) // Check reports what is no expression
			expressions.Store(source, re)
		}
		return re.(*regexp.Regexp) != nil && re.(*regexp.Regexp).MatchString(text)
	})
}

// Evaluate says whether a rule covers a call.
func (r *Rule) Evaluate(c *Call) Verdict {
	if r.Allow {
		return verdict(Allows([]*Rule{r}, c) != nil)
	}
	if r.Says != nil {
		return r.Says.evaluate(c)
	}
	f, u := c.known(), r.Unless
	named := r.takes(c.Tool) || f.line != nil && r.takes("Bash")
	excepted := u != nil && len(u.Words) > 0 && !u.ofCommands() && len(u.Paths) == 0 && c.hasWord(u.Words)
	if !named && len(r.Paths) == 0 || !r.hasWord(c) || excepted {
		return Verdict{}
	}
	switch commands := r.ofCommands(); {
	case !commands && len(r.Paths) == 0:
		return verdict(named)
	case !commands && r.files(c, f.files):
		return Verdict{Result: Yes}
	case f.line == nil:
		return Verdict{}
	}
	return r.line(c)
}

func (r *Rule) takes(tool string) bool {
	return !slices.ContainsFunc(r.Tools, func(m Matcher) bool { return !m.Match(tool) })
}

func verdict(covers bool) Verdict {
	if covers {
		return Verdict{Result: Yes}
	}
	return Verdict{}
}

// files says whether one of the files matches on which the rule's tools work.
func (r *Rule) files(c *Call, files []file) bool {
	named := r.takes(c.Tool)
	return slices.ContainsFunc(files, func(f file) bool {
		opens := f.read && r.takes("Read") || f.write && (r.takes("Write") || r.takes("Edit"))
		if !named && (f.direct || !opens) || !f.fits(c, r.Paths) {
			return false
		}
		u := r.Unless
		excepted := u != nil && len(u.Paths) > 0 && !u.ofCommands() &&
			(f.template != nil && f.template.probably(c, u.Paths) || f.probably(c, u.Paths))
		return !excepted
	})
}

// line judges a command line: one command that fits is enough.
func (r *Rule) line(c *Call) (best Verdict) {
	f := c.known()
	near := r.near(f)
	for at := 0; at < len(f.line.Commands) && best.Result < Yes; at++ {
		if v := r.command(c, at, near); v.Result > best.Result {
			best = v
		}
	}
	switch {
	case best.Result < Yes && r.inCode(c):
		return Verdict{Result: Yes}
	case best.Result == No && f.line.Strange != "" && r.mentioned(f.line.Text):
		return Verdict{Unsure, f.line.Strange}
	}
	return best
}

// near returns the entries whose program is on the line.
func (c *Conditions) near(f *facts) (list []*Pattern) {
	for _, entry := range c.Commands {
		if name := headOf(entry); name == "" || f.names[name] {
			if p, err := Parse(entry); err == nil {
				list = append(list, p)
			}
		}
	}
	return list
}

// mentioned reports whether the text of a line that cannot be read has an entry's program and first word.
func (r *Rule) mentioned(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(r.Commands, func(entry string) bool {
		p, err := Parse(entry)
		head := headOf(entry)
		return head != "" && strings.Contains(text, head) && err == nil && strings.Contains(text, strings.ToLower(p.first()))
	})
}

// command judges one command of a line.
func (r *Rule) command(c *Call, at int, near []*Pattern) (best Verdict) {
	got := &c.known().line.Commands[at]
	found := []fit{{}}
	if len(r.Commands) > 0 {
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
		switch {
		case asksHelp(got.Words[one.at:]),
			len(r.Regex) > 0 && !r.finds(text, false) && !r.finds(named, false) && !r.finds(got.Input, false),
			r.excepted(c, at, text),
			len(r.Paths) > 0 && !r.files(c, c.filesOf(at)):
		case one.unsure == "":
			return Verdict{Result: Yes}
		case best.Result == No:
			best = Verdict{Unsure, one.unsure}
		}
	}
	return best
}

// excepted reports whether the rule's "unless" covers a command.
func (r *Rule) excepted(c *Call, at int, text string) bool {
	u := r.Unless
	if u == nil || len(u.Words) > 0 && !c.hasWord(u.Words) {
		return false
	}
	l := c.known().line
	input := l.Commands[at].Input
	switch {
	case len(u.Regex) > 0 && !u.finds(text, true) && (input == "" || !u.finds(input, true)),
		len(u.Commands) > 0 && !slices.ContainsFunc(u.near(c.known()), func(p *Pattern) bool { return p.excepts(l, at) }):
		return false
	case len(u.Paths) == 0:
		return u.ofCommands()
	case len(r.Paths) > 0 && !u.ofCommands():
		return false // each file is excepted by itself
	}
	files := c.filesOf(at)
	return len(files) > 0 && !slices.ContainsFunc(files, func(f file) bool { return !f.probably(c, u.Paths) })
}

// inCode judges the texts of programs: by expressions, and by the files among their texts.
func (r *Rule) inCode(c *Call) bool {
	f := c.known()
	if len(r.Paths) > 0 {
		return !r.ofCommands() && slices.ContainsFunc(f.literals, func(text string) bool {
			return isPath(text) && r.files(c, []file{c.file("", text, use{read: true, write: true})})
		})
	}
	return slices.ContainsFunc(f.line.Code, func(code shell.Code) bool {
		runs := func(entry string) bool {
			name := headOf(entry)
			return strings.Contains(code.Text, name) ||
				slices.ContainsFunc(f.line.Commands[code.By].Programs(), func(p shell.Place) bool { return p.Name == name })
		}
		return r.finds(code.Text, false) && (r.Unless == nil || !r.Unless.finds(code.Text, true)) &&
			(len(r.Commands) == 0 || slices.ContainsFunc(r.Commands, runs))
	})
}

// joined returns a command's words from a place on, as expressions see them.
func joined(c *shell.Command, at int) string {
	words := slices.Clone(c.Words[at:])
	words[0] = shell.Base(words[0])
	if slices.ContainsFunc(c.Words[:at], func(w string) bool { return shell.In(givers, shell.Base(w)) }) {
		words = append(words, hole)
	}
	return strings.Join(words, " ")
}

// dryPrograms do nothing when they are told so, by --dry-run.
const dryPrograms = "git npm pnpm yarn cargo kubectl oc helm rsync skaffold make gem twine aws"

// asksHelp reports whether a command only shows help, its version, or what it would do.
func asksHelp(words []string) bool {
	name := shell.Base(words[0])
	for i, w := range words[1:] {
		last := i == len(words)-2
		switch {
		case w == "--":
			return false
		case shell.In("--help -help", w), last && shell.In("--version -h help", w),
			shell.In("--dry-run --dry-run=client --dry-run=server --dryrun", w) && shell.In(dryPrograms, name),
			name == "make" && shell.In("-n --just-print --recon", w):
			return true
		}
	}
	return false
}

// lists returns the lists of conditions, in the order of their numbers in a flat text.
func (c *Conditions) lists() [4]*[]string {
	return [...]*[]string{&c.Commands, &c.Regex, &c.Paths, &c.Words}
}

// fields are the names of the lists.
var fields = [...]string{"commands", "regex", "paths", "words"}

// Texts returns the lists for people, each with a word before its name.
func (c *Conditions) Texts(before string) (out []string) {
	for i, list := range c.lists() {
		if len(*list) > 0 {
			out = append(out, before+fields[i]+" "+strings.Join(*list, ", "))
		}
	}
	return out
}

// Flatten writes rules for May: texts that end with a zero byte, each after a letter for a member of a rule, or the
// number of a list. A rule begins with r; its exception with u, and then with the numbers of that one's lists.
func Flatten(rules []Rule) (out []byte) {
	add := func(kind, text string) { out = append(out, kind+strings.ReplaceAll(text, "\x00", "")+"\x00"...) }
	conditions := func(c *Conditions) {
		for i, list := range c.lists() {
			for _, text := range *list {
				add(strconv.Itoa(i), text)
			}
		}
	}
	for _, r := range rules {
		add("r", strconv.FormatBool(r.Allow))
		for _, m := range r.Tools {
			add("t", m.Text)
		}
		if r.Only != nil {
			add("o", r.Only.Text)
		}
		if r.Says != nil {
			add("s", r.Says.Text)
		}
		if conditions(&r.Conditions); r.Unless != nil {
			add("u", "")
			conditions(r.Unless)
		}
	}
	return out
}

// May reports whether one of the rules of Flatten decides, or may decide, a call. A text that cannot be read may.
func May(flat []byte, c *Call) bool {
	var rules, allow []*Rule
	for text := range strings.SplitAfterSeq(string(flat), "\x00") {
		text, whole := strings.CutSuffix(text, "\x00")
		switch {
		case text == "":
		case whole && text[0] == 'r':
			rules = append(rules, &Rule{Allow: text == "rtrue"})
		case !whole, len(rules) == 0, rules[len(rules)-1].read(text[0], text[1:]) != nil:
			return true
		}
	}
	return slices.ContainsFunc(rules, func(r *Rule) bool {
		switch {
		case r.Only != nil && !r.Only.Match(c):
			return false
		case r.Allow:
			allow = append(allow, r)
			return false
		}
		return r.Evaluate(c).Result > No
	}) || Allows(allow, c) != nil
}

// read adds a line of a flat text.
func (r *Rule) read(kind byte, text string) (err error) {
	switch kind {
	case 't':
		var m Matcher
		m, err = NewMatcher(event.PreToolUse, text)
		r.Tools = append(r.Tools, m)
	case 'o':
		r.Only, err = NewPermission(text)
	case 's':
		r.Says, err = NewPermission(text)
	case 'u':
		r.Unless = &Conditions{}
	case '0', '1', '2', '3':
		into := &r.Conditions
		if r.Unless != nil {
			into = r.Unless
		}
		list := into.lists()[kind-'0']
		*list = append(*list, text)
	default:
		err = strconv.ErrSyntax
	}
	return err
}
