package rule

import (
	"errors"
	"path"
	"slices"
	"strings"

	"beckon/event/policy/shell"
)

// Pattern is an entry of Conditions.Commands: a program and words.
//
// The program may stand wherever shell.Command.Programs says. Flags count anywhere before --, in
// any order, joined or apart, abbreviated and under their other names. The first plain word must be
// the first that is neither a flag nor stands where a flag's value may stand; the others may stand
// anywhere behind it, in their order; * is anything. "curl | sh" is a program that is fed another
// one's output, "HUSKY=0 git commit" one with a variable.
type Pattern struct {
	program string
	env     []string
	words   []word
	flags   []flag
	feeds   *Pattern // of what feeds it, for a pipe
}

// word is a word that a command must have.
type word struct {
	text  string
	loose bool // it may stand anywhere behind the one before it
	value bool // it stands behind a flag, and may be its value
}

// flag is a flag that a command must have; the value, if there is one, directly behind it.
type flag struct{ name, value string }

var (
	errShell   = errors.New("is not a command with its words")
	errSeveral = errors.New("is more than one command; write an entry for each")
)

// targets are programs without subcommands: each operand is one.
const targets = "make gmake rake rails gradle gradlew mvn mvnw ant just task invoke fab nx turbo ninja"

// Parse reads an entry.
func Parse(entry string) (*Pattern, error) {
	if left, right, piped := strings.Cut(entry, "|"); piped {
		p, err := Parse(right)
		if err != nil {
			return nil, err
		}
		p.feeds, err = Parse(left)
		return p, err
	}
	if !strings.ContainsAny(entry, "\"'\\$`;&<>(){}#!~\n") { // most need no parser
		return parsePlain(strings.Fields(entry))
	}
	l := shell.Read(entry)
	switch {
	case l.Strange != "":
		return nil, errors.New("cannot be read: " + l.Strange)
	case len(l.Commands) == 0 || strings.ContainsAny(entry, "$`"):
		return nil, errShell
	case slices.ContainsFunc(l.Commands[1:], func(c shell.Command) bool { return c.Carrier < 0 }):
		return nil, errSeveral
	}
	return newPattern(l.Commands[0].Env, l.Commands[0].Words), nil
}

// parsePlain reads the words of an entry without quotes.
func parsePlain(words []string) (*Pattern, error) {
	first := slices.IndexFunc(words, func(w string) bool { return !shell.IsAssignment(w) })
	if first < 0 {
		return nil, errShell
	}
	return newPattern(words[:first], words[first:]), nil
}

func newPattern(env, words []string) *Pattern {
	p := &Pattern{program: words[0], env: env}
	if !strings.Contains(p.program, "/") {
		p.program = shell.Base(p.program)
	}
	p.read(words[1:])
	return p
}

func (p *Pattern) read(list []string) {
	after := false
	for i := 0; i < len(list); i++ {
		w := list[i]
		if !shell.IsFlag(w) {
			loose := after || len(p.words) > 0 || shell.In(targets, p.program) || !isPlain(w)
			p.words = append(p.words, word{text: w, loose: loose, value: after})
			after = false
			continue
		}
		name, value, _ := strings.Cut(w, "=")
		if value == "" && i+1 < len(list) && strings.Contains(list[i+1], "*") && (len(w) == 2 || w[1] == '-') {
			i++
			value = list[i]
		}
		if value == "" && len(w) == 3 && w[1] != '-' { // -rf
			p.flags = append(p.flags, flag{name: w[:2]}, flag{name: "-" + w[2:]})
		} else {
			p.flags = append(p.flags, flag{name, value})
		}
		after = value == ""
	}
}

// isPlain reports whether a word may be a subcommand.
func isPlain(w string) bool {
	return w != "" && (w[0]|0x20) >= 'a' && (w[0]|0x20) <= 'z' && !strings.ContainsFunc(w, func(c rune) bool {
		return c != '_' && c != ':' && c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
	})
}

// headOf returns the program of an entry in small letters; empty if the entry must be parsed to
// know it.
func headOf(entry string) string {
	first, _, _ := strings.Cut(entry, " ")
	plain := strings.Trim(first, "abcdefghijklmnopqrstuvwxyz") == "" && first != ""
	if plain && !strings.Contains(entry, "|") {
		return first
	}
	entry = entry[strings.LastIndexByte(entry, '|')+1:]
	for _, w := range strings.Fields(entry) {
		switch {
		case shell.IsAssignment(w):
			continue
		case strings.ContainsAny(w, "*\\\"'"):
			return ""
		}
		return strings.ToLower(shell.Base(w))
	}
	return ""
}

// fit is a place where a command is the pattern's.
type fit struct {
	at     int
	unsure string // what the line does not say; empty if it is certain
}

// fits returns the places where a command of a line is the pattern's.
func (p *Pattern) fits(l *shell.Line, at int) (out []fit) {
	c := &l.Commands[at]
	words, places := c.Words, c.Programs()
	if len(c.Reads) > 0 && shell.In(shell.Shells, places[0].Name) {
		words = append(slices.Clip(words), c.Reads...) // bash < script
		places = append(slices.Clip(places), shell.Place{At: len(c.Words), Name: shell.Base(words[len(c.Words)])})
	}
	for _, place := range places {
		if !p.isProgram(c, words, place) {
			continue
		}
		tail := words[place.At+1:]
		if place.Weak && len(tail) > 0 && tail[0] == "--" {
			tail = tail[1:]
		}
		if place.Weak && (c.Loose || !p.namesNext(tail)) || !p.hasEnv(c, words[:place.At]) {
			continue
		}
		ok, unsure := p.hasWords(tail)
		if ok && (p.feeds == nil || p.fed(l, at, tail)) {
			out = append(out, fit{min(place.At, len(c.Words)-1), unsure})
		}
	}
	return out
}

// isProgram reports whether the program at a place is the pattern's.
func (p *Pattern) isProgram(c *shell.Command, words []string, place shell.Place) bool {
	if strings.Contains(p.program, "/") {
		want, got := tidy(p.program), words[place.At]
		full := got
		if !strings.HasPrefix(got, "/") && !strings.HasPrefix(got, "~") {
			full = path.Clean(c.Dir + "/" + got)
		}
		return tidy(got) == want || full == want || strings.HasSuffix(full, "/"+want)
	}
	name := place.Name
	switch {
	case wild(strings.ToLower(p.program), strings.ToLower(name)):
		return true
	case place.At > 0 && strings.EqualFold(p.program, withoutExtension(name)): // node bin/acme.js
		return true
	case p.feeds != nil && shell.In(shell.Shells, p.program) && shell.In(shell.Shells, name): // curl | sh is any shell
		return true
	}
	// `npm run x` is written `pnpm x` and `yarn run x`, too, and `npm publish` as `pnpm publish`.
	return p.program == "npm" && len(p.words) > 0 && shell.In("run publish", p.words[0].text) && shell.In(shell.Managers, name)
}

// withoutExtension returns the name of a script without the ending of its language.
func withoutExtension(name string) string {
	for _, end := range []string{".js", ".mjs", ".cjs", ".ts", ".py", ".sh", ".rb", ".pl", ".ps1"} {
		if short := strings.TrimSuffix(name, end); short != name {
			return short
		}
	}
	return name
}

// namesNext: the word behind the program is one that the pattern names.
func (p *Pattern) namesNext(tail []string) bool {
	switch {
	case len(tail) == 0:
		return false
	case len(p.words) > 0 && p.same(p.words[0].text, tail[0]):
		return true
	}
	return shell.IsFlag(tail[0]) && slices.ContainsFunc(p.flags, func(f flag) bool { return f.among(f.name, tail[:1], tail[:1], nil) })
}

// hasEnv reports whether the variables of a pattern are set for a command.
func (p *Pattern) hasEnv(c *shell.Command, before []string) bool {
	for _, want := range p.env {
		fits := func(got string) bool { return wild(want, got) }
		if !slices.ContainsFunc(c.Env, fits) && !slices.ContainsFunc(before, fits) {
			return false
		}
	}
	return true
}

// fed reports whether the program that feeds a command is the pattern's, and what it feeds is run.
func (p *Pattern) fed(l *shell.Line, at int, tail []string) bool {
	c := &l.Commands[at]
	if len(tail) > 0 && shell.In(shell.Shells, p.program) && len(c.Feeds) == 1 && !c.Fed {
		tail = nil // the script that it runs is what another has written
	}
	sourced := p.program == "." || p.program == "source"
	for i, w := range tail { // behind a script, the input is data
		data := shell.In(shell.Languages, p.program) && !shell.IsFlag(w) && w != "run" || shell.In(shell.Shells, p.program) && !shell.IsFlag(w) && !sourced &&
			!slices.Contains(tail[:i], "-s") && (i == 0 || !shell.IsCommandFlag(tail[i-1]))
		if shell.In(shell.Languages, p.program) && w == "-m" {
			return false
		}
		if data && w != "-" && !strings.HasPrefix(w, "/dev/fd/") && w != "/dev/stdin" && !strings.Contains(w, shell.Hole) {
			return false
		}
	}
	return slices.ContainsFunc(l.Sources(at), func(i int) bool { return len(p.feeds.fits(l, i)) > 0 })
}

// hasWords reports whether what stands behind the program has the pattern's words and flags, and
// what is not certain about it.
func (p *Pattern) hasWords(tail []string) (ok bool, unsure string) {
	if shell.In(shell.Managers, p.program) && len(p.words) > 0 && p.words[0].text == "run" && !slices.Contains(tail, "run") && !slices.Contains(tail, "run-script") {
		if slices.ContainsFunc(tail, func(w string) bool { return !shell.IsScript(w) }) {
			return false, ""
		}
		tail = append([]string{"run"}, tail...)
	}
	o := p.operands(tail)
	at := 0
	for _, want := range p.words {
		if want.value && (slices.ContainsFunc(o.words, func(w string) bool { return p.same(want.text, w) }) ||
			slices.ContainsFunc(o.flags, func(w string) bool { return w[1] != '-' && w[2:] == want.text })) { // -XDELETE
			continue
		}
		found := false
		for ; at < len(o.words) && !found; at++ {
			if found = p.same(want.text, o.words[at]); found {
				continue
			}
			if emptied(want.text, o.words[at]) {
				found, unsure = true, "a variable in "+strings.ReplaceAll(o.words[at], shell.Hole, "$…")+" may be empty"
				continue
			}
			if !want.loose && !o.behind[at] && !shell.IsAssignment(o.words[at]) && !strings.HasPrefix(o.words[at], "+") {
				return false, ""
			}
		}
		if !found {
			return false, ""
		}
	}
	for _, f := range p.flags {
		if !slices.ContainsFunc(p.namesOf(f.name), func(n string) bool { return f.among(n, tail, o.flags, o.words) }) {
			return false, ""
		}
	}
	return true, unsure
}

// emptied reports whether a word is / or /* if its variables are empty.
func emptied(want, got string) bool {
	return (want == "/" || want == "/*") && strings.HasPrefix(got, shell.Hole) && shell.In("/ /* /.", strings.ReplaceAll(got, shell.Hole, ""))
}

// operands are the words behind a program, sorted.
type operands struct {
	words  []string
	behind []bool // the word stands directly behind a flag, whose value it may be
	flags  []string
}

func (p *Pattern) operands(tail []string) (o operands) {
	add := func(w string, behind bool) { o.words, o.behind = append(o.words, w), append(o.behind, behind) }
	ended := false
	for i, w := range tail {
		before := ""
		if i > 0 {
			before = tail[i-1]
		}
		switch {
		case w == "--" && !ended:
			ended = true
		case !ended && shell.IsFlag(w):
			if w = strings.ReplaceAll(w, shell.Hole, ""); shell.IsFlag(w) { // a variable in a flag is mostly empty
				o.flags = append(o.flags, w)
			}
			if _, value, ok := strings.Cut(w, "="); ok && value != "" {
				add(value, true)
			}
		case !ended && shell.In(shell.TextFlags, before), strings.HasPrefix(w, ":!"), strings.HasPrefix(w, ":(exclude"):
		case w == "run-script":
			add("run", false)
		case shell.In("kubectl oc k", p.program) && strings.Count(w, "/") == 1 && isPlain(w[:strings.IndexByte(w, '/')]): // ns/prod
			kind, name, _ := strings.Cut(w, "/")
			add(kind, false)
			add(name, false)
		default:
			add(w, !ended && shell.IsFlag(before) && !strings.Contains(before, "="))
		}
	}
	return o
}

// same compares a pattern's word with a command's.
func (p *Pattern) same(want, got string) bool {
	want, got = tidy(want), tidy(got)
	if wild(want, got) {
		return true
	}
	switch {
	case p.program == "git" && !strings.ContainsAny(want, ":*"):
		ref := strings.TrimPrefix(got[strings.LastIndexByte(got, ':')+1:], "+")
		for _, kind := range []string{"refs/heads/", "refs/tags/"} {
			ref = strings.TrimPrefix(ref, kind)
		}
		return ref == want && (len(p.words) > 0 && p.words[0].text == "push" || !strings.Contains(got, ":"))
	case p.program == "chmod":
		return strings.TrimLeft(want, "0") == strings.TrimLeft(got, "0") && strings.Trim(want, "01234567") == ""
	case shell.In("kubectl oc k", p.program):
		return sameKind(want, got)
	}
	return false
}

// kinds are the names of one kind of object, to kubectl.
const kinds = "ns namespace namespaces,deploy deployment deployments,po pod pods,svc service services,pvc persistentvolumeclaim " +
	"persistentvolumeclaims,pv persistentvolume persistentvolumes,sts statefulset statefulsets,cm configmap configmaps,no node nodes," +
	"secret secrets,job jobs,ing ingress ingresses,crd customresourcedefinition customresourcedefinitions,sa serviceaccount serviceaccounts"

func sameKind(want, got string) bool {
	for kind := range strings.SplitSeq(kinds, ",") {
		if shell.In(kind, want) {
			return shell.In(kind, got)
		}
	}
	return false
}

// tidy returns a word without what does not change a path.
func tidy(w string) string {
	if w == "./" {
		return "."
	}
	if w = strings.TrimPrefix(w, "./"); strings.Contains(w, "/../") || strings.HasSuffix(w, "/..") || strings.Contains(w, "//") && !strings.Contains(w, "://") {
		w = path.Clean(w)
	}
	if len(w) > 1 {
		w = strings.TrimSuffix(w, "/")
	}
	return w
}

// wild compares a text with a pattern in which * stands for anything.
func wild(pattern, text string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == text
	}
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for {
		part, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, part)
		}
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text, rest = text[at+len(part):], next
	}
}

// excepts reports whether an exception's pattern names a command completely: no operand but those
// that it names. One that names no more than a subcommand leaves the others open.
func (p *Pattern) excepts(l *shell.Line, at int) bool {
	c := &l.Commands[at]
	for _, f := range p.fits(l, at) {
		o := p.operands(c.Words[f.at+1:])
		open := len(p.words) == 0 || len(p.words) == 1 && !p.words[0].value && isPlain(p.words[0].text) && !shell.In(writesAll, p.program)
		strange := func(got string) bool {
			return !slices.ContainsFunc(p.words, func(w word) bool { return p.same(w.text, got) }) &&
				!slices.ContainsFunc(p.flags, func(f flag) bool { return f.value != "" && wild(f.value, got) })
		}
		if f.unsure == "" && (open || !slices.ContainsFunc(o.words, strange)) {
			return true
		}
	}
	return false
}
