package match

import (
	"errors"
	"path"
	"slices"
	"strings"

	"beckon/event/policy/command"
)

// pattern is one entry of Conditions.Commands.
type pattern struct {
	line *command.Line // the entry parsed as a shell does
	main int           // the command itself; those before it in a pipe are its sources
}

var (
	errShell   = errors.New("is not a command with its words")
	errSeveral = errors.New("is more than one command; write an entry for each")
)

// readPattern parses an entry: a command by its words, or a pipe.
func readPattern(text string) (*pattern, error) {
	p := &pattern{line: command.Parse(text, command.Bash), main: -1}
	if p.line.Mistake != "" {
		return nil, errors.New("cannot be read: " + p.line.Mistake)
	}
	for i, c := range p.line.Commands {
		switch {
		case slices.ContainsFunc(c.Words, func(w command.Word) bool { return !w.Known }) || len(c.Sets) > 0:
			return nil, errShell
		case c.By >= 0:
		case p.main >= 0 && c.To == 0:
			return nil, errSeveral
		default:
			p.main = i
		}
	}
	if p.main < 0 {
		return nil, errShell
	}
	return p, nil
}

// head returns the program of an entry in small letters; "" if the entry must be parsed to
// know it.
func head(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if strings.ContainsAny(text, "|*?[\\\"'") && (strings.Contains(text, "|") || strings.ContainsAny(word, "*?[\\\"'")) {
		return ""
	}
	return strings.ToLower(command.Name(word))
}

var (
	yes = Verdict{Result: Yes}
	no  = Verdict{Result: No}
)

func unsure(why string) Verdict { return Verdict{Unsure, why} }

// both returns the weaker of two verdicts.
func both(a, b Verdict) Verdict {
	if b.Result < a.Result {
		return b
	}
	return a
}

// either returns the stronger of two verdicts.
func either(a, b Verdict) Verdict {
	if b.Result > a.Result {
		return b
	}
	return a
}

// fits says whether a command of the line matches the pattern, or may.
func (p pattern) fits(line *command.Line, at int) Verdict {
	a := p.command(p.main, line, at)
	want := p.line.Commands[p.main]
	for i := want.From; i < want.To && a.Result > No; i++ {
		if p.line.Commands[i].By >= 0 {
			continue
		}
		source := no
		for from := line.Commands[at].From; from < line.Commands[at].To; from++ {
			source = either(source, p.command(i, line, from))
		}
		a = both(a, source)
	}
	return a
}

// command compares a command with the pattern's, and those that they carry.
func (p pattern) command(want int, line *command.Line, at int) Verdict {
	a := words(p.line.Commands[want], line.Commands[at], line.Dialect == command.PowerShell)
	if a.Result == No {
		return no
	}
	for _, carried := range children(p.line, want) {
		inner := no
		for _, child := range children(line, at) {
			inner = either(inner, p.command(carried, line, child))
		}
		a = both(a, inner)
	}
	return a
}

// same compares a word with a pattern's, in which * matches anything. PowerShell's words
// ignore letter case, and a trailing slash or a leading ./ does not change a path.
func same(want, got string, fold bool) bool {
	if fold {
		want, got = strings.ToLower(want), strings.ToLower(got)
	}
	return want == got || tidy(want) == tidy(got) || strings.Contains(want, "*") && command.Wild(want, tidy(got))
}

func tidy(word string) string {
	word = strings.TrimPrefix(word, "./")
	if strings.Contains(word, "/../") || strings.HasSuffix(word, "/..") || strings.Contains(word, "//") || strings.Contains(word, "/./") {
		word = path.Clean(word)
	}
	if len(word) > 1 {
		word = strings.TrimSuffix(word, "/")
	}
	return word
}

// words compares a command by its words.
func words(want, got command.Command, fold bool) Verdict {
	w, g := want.Args, got.Args
	if g.Program == "" {
		return unsure("the program's name is not on the line")
	}
	if want, got := strings.ToLower(w.Program), strings.ToLower(g.Program); !command.Wild(want, got) && want != command.Unversioned(got) {
		return no
	}
	a := yes
	for i, sub := range w.Sub {
		switch {
		case i < len(g.Sub) && same(sub, g.Sub[i], fold):
		case i >= len(g.Sub) && (g.Unsure || got.More):
			a = both(a, unsure("the subcommand is not on the line"))
		default:
			return no
		}
	}
	for _, f := range w.Flags {
		a = both(a, flag(f, got, fold))
	}
	if !g.Table {
		return both(a, inPlace(w.Operands, got, fold))
	}
	for _, o := range w.Operands {
		a = both(a, operand(o.Text, got, fold))
	}
	return a
}

// flag says whether a command has a flag.
func flag(want command.Flag, got command.Command, fold bool) Verdict {
	a := no
	for _, f := range got.Args.Flags {
		a = either(a, sameFlag(want, f, got.Args.Table, fold))
	}
	if a.Result == No && !got.Args.Table && apart(want.Name, got) {
		return yes
	}
	if a.Result == No && (got.More || got.Args.MayHave(want.Name) || slices.ContainsFunc(got.Args.Operands, mayBeFlag)) {
		return unsure("whether " + want.Name + " is among the words is not on the line")
	}
	return a
}

// mayBeFlag: nothing is known about the word, not even how it begins after a dash.
func mayBeFlag(w command.Word) bool {
	return !w.Known && strings.TrimLeft(w.Text, "-") == "" && w.Could("-x")
}

func sameFlag(want, got command.Flag, table, fold bool) Verdict {
	name := want.Name == got.Name || fold && len(got.Name) > 1 && len(want.Name) >= len(got.Name) && strings.EqualFold(want.Name[:len(got.Name)], got.Name)
	switch {
	case !name && !table && sameLetters(want.Name, got.Name):
		return yes
	case !name && !table && bundled(want.Name, got.Name):
		return unsure("whether " + got.Name + " holds " + want.Name + " only its program knows")
	case !name:
		return no
	case want.Value.Text == "" || got.Value.Known && same(want.Value.Text, got.Value.Text, fold):
		return yes
	case !got.Value.Known && got.Value.Could(want.Value.Text):
		return unsure("the value of " + want.Name + " is not on the line")
	}
	return no
}

// letters returns the letters of -abc; "" for any other word.
func letters(flag string) string {
	if len(flag) < 2 || flag[0] != '-' || flag[1] == '-' {
		return ""
	}
	return flag[1:]
}

// sameLetters: -rf equals -fr.
func sameLetters(want, got string) bool {
	a, b := []byte(letters(want)), []byte(letters(got))
	slices.Sort(a)
	slices.Sort(b)
	return len(a) > 1 && len(a) <= 4 && slices.Equal(a, b)
}

// bundled: -f may be part of -xf.
func bundled(want, got string) bool {
	w, g := letters(want), letters(got)
	return len(w) == 1 && len(g) > 1 && len(g) <= 3 && strings.Contains(g, w)
}

// apart: the letters of -rf are given as -r -f, to an unknown program.
func apart(want string, got command.Command) bool {
	l := letters(want)
	if len(l) < 2 || len(l) > 4 {
		return false
	}
	return !strings.ContainsFunc(l, func(r rune) bool {
		return !slices.ContainsFunc(got.Args.Flags, func(f command.Flag) bool { return f.Name == "-"+string(r) })
	})
}

// operand says whether an operand is among those of a command.
func operand(want string, got command.Command, fold bool) Verdict {
	a := no
	for _, o := range got.Args.Operands {
		a = either(a, oneOperand(want, o, fold))
	}
	if a.Result == No && got.More {
		return unsure("whether " + want + " is among the words is not on the line")
	}
	return a
}

func oneOperand(want string, got command.Word, fold bool) Verdict {
	switch {
	case got.Known && same(want, got.Text, fold):
		return yes
	case !got.Known && (got.Could(want) || strings.Contains(want, "*") && command.Wild(want, got.Text+got.End())):
		return unsure("whether a word is " + want + " is not on the line")
	case got.Glob && !strings.Contains(want, "*") && !strings.HasPrefix(want, "/") && command.Wild(got.Text, want):
		return unsure(got.Text + " may stand for " + want)
	}
	return no
}

// inPlace compares operands of an unknown program: they come first, except for those that may
// be values of flags.
func inPlace(want []command.Word, got command.Command, fold bool) Verdict {
	a, at := yes, 0
	for _, w := range want {
		found := no
		for slack := 0; at < len(got.Args.Operands); at++ {
			if slack += got.Args.Loose[at]; slack < 0 {
				break
			}
			if found = oneOperand(w.Text, got.Args.Operands[at], fold); found.Result > No {
				at++
				break
			}
			if slack--; slack < 0 {
				break
			}
		}
		if found.Result == No && got.More {
			found = unsure("whether " + w.Text + " is among the words is not on the line")
		}
		a = both(a, found)
	}
	return a
}

// approves says whether a command is what the pattern names and nothing more.
func (p pattern) approves(line *command.Line, at int, exact bool) bool {
	return p.line.Commands[p.main].To == 0 && p.named(p.main, line, at, exact)
}

func (p pattern) named(want int, line *command.Line, at int, exact bool) bool {
	w, g := p.line.Commands[want], line.Commands[at]
	if g.More || len(g.Sets) > 0 || slices.ContainsFunc(g.Words, func(w command.Word) bool { return !w.Known }) {
		return false
	}
	if exact && !slices.EqualFunc(w.Words, g.Words, func(a, b command.Word) bool { return a.Text == b.Text }) {
		return false
	}
	if !command.Wild(w.Words[0].Text, g.Words[0].Text) || !sameSub(w.Args, g.Args) || !flagsNamed(w.Args, g.Args) || !operandsNamed(w, g) {
		return false
	}
	mine, theirs := children(p.line, want), children(line, at)
	return len(mine) == len(theirs) && !slices.ContainsFunc(mine, func(i int) bool {
		return !p.named(i, line, theirs[slices.Index(mine, i)], exact)
	})
}

// sameSub: the subcommands are the pattern's; a pattern without any matches all.
func sameSub(want, got command.Args) bool {
	return !got.Unsure && (len(want.Sub) == 0 || slices.EqualFunc(want.Sub, got.Sub, func(w, g string) bool { return same(w, g, false) }))
}

// flagsNamed: every flag is the pattern's, or one that the program's table calls harmless, and
// none of the pattern's is missing.
func flagsNamed(want, got command.Args) bool {
	fits := func(w, g command.Flag) bool { return sameFlag(w, g, got.Table, false).Result == Yes }
	more := slices.DeleteFunc(slices.Clone(got.Flags), func(f command.Flag) bool { return f.Harmless })
	return covered(want.Flags, got.Flags, fits) && covered(more, want.Flags, func(g, w command.Flag) bool { return fits(w, g) })
}

// covered reports whether each item of a list fits one of the others.
func covered[T any](list, others []T, fits func(a, b T) bool) bool {
	return !slices.ContainsFunc(list, func(a T) bool {
		return !slices.ContainsFunc(others, func(b T) bool { return fits(a, b) })
	})
}

// operandsNamed: if the pattern names operands, the command has no others; for an unknown
// program they are the first ones. A text that the program runs must be named exactly.
func operandsNamed(want, got command.Command) bool {
	w, g := want.Args.Operands, got.Args.Operands
	fits := func(w, g command.Word) bool { return same(w.Text, g.Text, false) }
	switch {
	case !covered(got.Args.Texts(), w, func(g, w command.Word) bool { return g.Text == w.Text }):
		return false
	case len(w) == 0:
		return true
	case !got.Args.Table:
		return len(g) >= len(w) && slices.EqualFunc(w, g[:len(w)], fits)
	}
	return covered(w, g, fits) && covered(g, w, func(g, w command.Word) bool { return fits(w, g) })
}
