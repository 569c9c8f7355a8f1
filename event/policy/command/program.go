package command

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"
)

// programs says how programs take their words; its head describes the form.
//
//go:embed programs.txt
var programs string

// spec is one entry of the table.
type spec struct {
	flags  []flagSpec
	words  []wordsSpec
	after  string   // what follows --: "" the operands go on, else "cmd"
	stdin  string   // what the program takes its input for: "sh", "code"
	all    []string // flags with one of which operands stand for all below them; "always"
	sub    bool     // the first operand is a subcommand
	dash   bool     // -word is one flag, not a bundle of letters
	old    bool     // the first operand may be a bundle without its dash (tar xf)
	remote bool
	more   bool // words from the input follow the command
}

// flagSpec is one flag with all of its names.
type flagSpec struct {
	names    []string
	value    bool   // takes a value, joined or as the next word
	optional bool   // takes a value when it is joined
	kind     string // what the value is
	harmless bool
}

// wordsSpec says what operands are.
type wordsSpec struct {
	when  []string // one of these is given, "-i+-e" being two flags; none: always
	kinds []string // one each; "r..." any number
}

var specs sync.Map // of *spec, by name; nil for a program that is not known

// lookup returns the entry of a program, or of a subcommand: "git push".
func lookup(name string) *spec {
	if s, ok := specs.Load(name); ok {
		return s.(*spec)
	}
	s := find(name)
	specs.Store(name, s)
	return s
}

// find reads an entry. The heads of entries begin a line; names in them are
// separated by ", ".
func find(name string) *spec {
	rest := programs
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if line == "" || line[0] == '\t' || line[0] == '#' || !heads(line, name) {
			continue
		}
		s := &spec{}
		for strings.HasPrefix(rest, "\t") {
			line, rest, _ = strings.Cut(rest, "\n")
			s.read(strings.Fields(line))
		}
		return s
	}
	return nil
}

func heads(line, name string) bool {
	for line != "" {
		var one string
		if one, line, _ = strings.Cut(line, ", "); one == name {
			return true
		}
	}
	return false
}

func (s *spec) read(line []string) {
	switch args := line[1:]; line[0] {
	case "flags", "harmless":
		for _, a := range args {
			s.flags = append(s.flags, readFlag(a, line[0] == "harmless"))
		}
	case "words":
		var w wordsSpec
		if len(args) > 0 && strings.HasSuffix(args[0], ":") {
			w.when = strings.Split(strings.TrimSuffix(args[0], ":"), "|")
			args = args[1:]
		}
		w.kinds = args
		s.words = append(s.words, w)
	case "after":
		s.after = args[0]
	case "stdin":
		s.stdin = args[0]
	case "all":
		s.all = args
	case "is":
		for _, a := range args {
			switch a {
			case "sub":
				s.sub = true
			case "dash":
				s.dash = true
			case "old":
				s.old = true
			case "remote":
				s.remote = true
			case "more":
				s.more = true
			}
		}
	}
}

func readFlag(text string, harmless bool) flagSpec {
	f := flagSpec{harmless: harmless}
	names := text
	if at := strings.IndexAny(text, ":?"); at >= 0 {
		f.value, f.optional = text[at] == ':', text[at] == '?'
		names, f.kind = text[:at], text[at+1:]
	}
	f.names = strings.Split(names, ",")
	return f
}

// Name is the program that a word runs: without directories and .exe.
func Name(word string) string {
	name := path.Base(strings.ReplaceAll(word, `\`, "/"))
	if len(name) > 4 && strings.EqualFold(name[len(name)-4:], ".exe") {
		name = name[:len(name)-4]
	}
	return name
}

// entry is the table's entry of a program, which may have a version in its
// name: python3.12.
func entry(name string) *spec {
	if s := lookup(name); s != nil {
		return s
	}
	name = strings.ToLower(name)
	if s := lookup(name); s != nil {
		return s
	}
	if base := Unversioned(name); base != name {
		return lookup(base)
	}
	return nil
}

// Unversioned is a program's name without the version at its end: python of
// python3.12.
func Unversioned(name string) string {
	base := strings.TrimSuffix(strings.TrimRight(name, "0123456789."), "-")
	if base == "" {
		return name
	}
	return base
}

// reading is a command's words being taken apart.
type reading struct {
	words []Word
	args  Args
	specs []*spec // the program's and its subcommands', the innermost last
	at    int
	loose int
}

// Analyze takes a command's words apart; there must be one at least.
func Analyze(words []Word) Args {
	r := reading{words: words, at: 1, args: Args{Program: Name(words[0].all())}}
	if strings.Contains(r.args.Program, hole) {
		r.args.Program = ""
		r.args.Operands = words[1:]
		r.args.Unsure = true
		return r.args
	}
	if s := entry(r.args.Program); s != nil {
		r.specs = []*spec{s}
		r.args.Table = true
	}
	for r.at < len(r.words) && r.next() {
	}
	r.args.specs = r.specs
	return r.args
}

func (r *reading) spec() *spec {
	if len(r.specs) == 0 {
		return nil
	}
	return r.specs[len(r.specs)-1]
}

// next reads the word at hand; false when what follows is another command.
func (r *reading) next() bool {
	w, s := r.words[r.at], r.spec()
	switch {
	case w.Known && w.Text == "--":
		r.at++
		if s != nil && s.after == "cmd" {
			r.args.rest = r.at
			return false
		}
		if s != nil && s.carries(r.args) && len(r.args.Operands) == len(s.operands(r.args))-1 {
			r.args.rest = r.at
			return false
		}
		for ; r.at < len(r.words); r.at++ {
			if r.operand(r.words[r.at]) {
				return false
			}
		}
		return false
	case len(w.Text) > 1 && (w.Text[0] == '-' || w.Text[0] == '+' && r.flagOf(w.Text) != nil) || w.Text == "-" && r.flagOf("-") != nil:
		r.at++
		r.flag(w)
		return true
	case s != nil && s.old && len(r.args.Operands) == 0 && len(r.args.Flags) == 0 && w.Known:
		r.at++
		r.flag(known("-" + w.Text))
		return true
	}
	if r.operand(w) {
		return false
	}
	r.at++
	return true
}

// operand reads a word that is no flag; true when a command begins there.
func (r *reading) operand(w Word) bool {
	s := r.spec()
	if s != nil && s.sub && len(r.args.Operands) == 0 {
		if !w.Known {
			r.args.Unsure = true
		} else {
			r.args.Sub = append(r.args.Sub, w.Text)
			inner := lookup(r.args.Program + " " + strings.Join(r.args.Sub, " "))
			if inner == nil {
				inner = &spec{}
			}
			r.specs = append(r.specs, inner)
			return false
		}
	}
	if s != nil {
		kinds := s.operands(r.args)
		if len(kinds) > 0 && kinds[0] == "=" {
			if assignment(w.Text) {
				return false
			}
			kinds = kinds[1:]
		}
		if n := len(r.args.Operands); n < len(kinds) && carrying(kinds[n]) {
			r.args.rest = r.at
			return true
		}
	}
	if s != nil {
		w = r.reference(w, kindOf(s.operands(r.args), len(r.args.Operands), len(r.args.Operands)+1))
	}
	r.args.Operands = append(r.args.Operands, w)
	if s == nil {
		r.args.Loose = append(r.args.Loose, r.loose)
		r.loose = 0
	}
	return false
}

// reference reads what git has for a repository or a branch, where signs stand
// for flags: +branch is forced, :branch deleted, ext::TEXT a command line.
func (r *reading) reference(w Word, kind string) Word {
	switch sign, rest := w.Text[:min(1, len(w.Text))], w.Text[min(1, len(w.Text)):]; {
	case kind != "ref" && kind != "url":
	case strings.HasPrefix(w.Text, "ext::"):
		r.args.Flags = append(r.args.Flags, Flag{Name: "ext::", kind: "sh", Value: Word{Text: w.Text[len("ext::"):], Known: w.Known, shell: strings.TrimPrefix(w.shell, "ext::")}})
	case kind == "ref" && sign == "+":
		r.add(r.flagOf("-f"), "-f", Word{}, false)
		return Word{Text: rest, Known: w.Known, shell: strings.TrimPrefix(w.shell, "+")}
	case kind == "ref" && sign == ":":
		r.add(r.flagOf("-d"), "-d", Word{}, false)
		return Word{Text: rest, Known: w.Known, shell: strings.TrimPrefix(w.shell, ":")}
	}
	return w
}

// carrying reports whether a command begins at an operand of the kind.
func carrying(kind string) bool { return kind == "cmd" || kind == "join" }

func (s *spec) carries(a Args) bool { return slices.ContainsFunc(s.operands(a), carrying) }

// operands are the kinds of the operands under the flags that are given.
func (s *spec) operands(a Args) []string {
	for _, w := range s.words {
		if len(w.when) == 0 || slices.ContainsFunc(w.when, func(names string) bool {
			return !slices.ContainsFunc(strings.Split(names, "+"), func(name string) bool { return !a.Has(name) })
		}) {
			return w.kinds
		}
	}
	return nil
}

// Has reports whether a flag is given, by the first of its names.
func (a Args) Has(name string) bool {
	return slices.ContainsFunc(a.Flags, func(f Flag) bool { return f.Name == name })
}

// assignment reports whether a word is NAME=value.
func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// flagOf finds a flag by one of its names; the subcommand's before the
// program's.
func (r *reading) flagOf(name string) *flagSpec {
	for i := len(r.specs) - 1; i >= 0; i-- {
		for n := range r.specs[i].flags {
			if slices.Contains(r.specs[i].flags[n].names, name) {
				return &r.specs[i].flags[n]
			}
		}
	}
	return nil
}

// abbreviated finds the one long flag that name begins.
func (r *reading) abbreviated(name string) (found *flagSpec) {
	for i := len(r.specs) - 1; i >= 0; i-- {
		for n := range r.specs[i].flags {
			f := &r.specs[i].flags[n]
			if slices.ContainsFunc(f.names, func(long string) bool { return strings.HasPrefix(long, name) }) {
				if found != nil {
					return nil
				}
				found = f
			}
		}
	}
	return found
}

func (r *reading) flag(w Word) {
	name, joined, has := strings.Cut(w.Text, "=")
	value := Word{Text: joined, Known: w.Known, shell: strings.TrimPrefix(w.shell, name+"=")}
	s := r.spec()
	long := strings.HasPrefix(name, "--")
	if !w.Known && !has { // --$X
		r.add(nil, name, w, true)
		return
	}
	f := r.flagOf(name)
	if f == nil && s != nil && long {
		f = r.abbreviated(name)
	}
	if f == nil && long && s != nil && s.dash {
		f = r.flagOf(name[1:])
	}
	if f != nil || long || s == nil || s.dash {
		r.long(f, name, value, has)
		return
	}
	r.bundle(w)
}

// long is a flag of which the whole word is the name.
func (r *reading) long(f *flagSpec, name string, value Word, has bool) {
	switch {
	case f == nil || has:
		r.add(f, name, value, has)
	case f.kind == "cmd":
		r.command(f)
	case f.value && r.at < len(r.words):
		r.add(f, name, r.words[r.at], true)
		r.at++
	default:
		r.add(f, name, Word{}, false)
		r.loose++
	}
}

// bundle is -abc: letters that may stand alone, the last of them with a value.
func (r *reading) bundle(w Word) {
	text := w.Text
	if strings.Trim(text[1:], "0123456789") == "" { // -3
		r.add(r.flagOf("-#"), text, Word{}, false)
		return
	}
	for i := 1; i < len(text); i++ {
		name := "-" + text[i:i+1]
		f := r.flagOf(name)
		rest := text[i+1:]
		switch {
		case f == nil || !f.value && !f.optional:
			r.add(f, name, Word{}, false)
			continue
		case rest == "" && w.Known:
			r.long(f, name, Word{}, false)
		default:
			at := strings.Index(w.shell, rest)
			value := Word{Text: strings.TrimPrefix(rest, "="), Known: w.Known}
			if !w.Known && at >= 0 {
				value.shell = w.shell[at:]
			}
			r.add(f, name, value, true)
		}
		return
	}
}

// command is a flag that all words up to ; or + belong to.
func (r *reading) command(f *flagSpec) {
	end := r.at
	for end < len(r.words) && r.words[end].Text != ";" && (r.words[end].Text != "+" || r.words[end-1].Text != "{}") {
		end++
	}
	r.add(f, f.names[0], Word{}, false)
	r.args.Flags[len(r.args.Flags)-1].command = r.words[r.at:end]
	r.at = min(end+1, len(r.words))
}

func (r *reading) add(f *flagSpec, name string, value Word, has bool) {
	flag := Flag{Name: name}
	if has {
		flag.Value = value
	}
	if f == nil {
		r.args.strange++
	} else {
		flag.Name, flag.Harmless, flag.kind = f.names[0], f.harmless, f.kind
	}
	r.args.Flags = append(r.args.Flags, flag)
}

// kindOf is what the n-th of the operands is.
func kindOf(kinds []string, n, total int) string {
	many := slices.IndexFunc(kinds, func(k string) bool { return strings.HasSuffix(k, "...") })
	behind := len(kinds) - many - 1
	switch {
	case many < 0 && n < len(kinds), many >= 0 && n < many:
		return kinds[n]
	case many < 0:
		return ""
	case total-n <= behind:
		return kinds[len(kinds)-(total-n)]
	}
	return strings.TrimSuffix(kinds[many], "...")
}

// files are the files that a command reads and writes by its words.
func (a Args) files(dir Word) (list []File) {
	if len(a.specs) == 0 {
		return nil
	}
	s := a.specs[len(a.specs)-1]
	all := slices.ContainsFunc(s.all, func(name string) bool { return name == "always" || a.Has(name) })
	for _, f := range a.Flags {
		if f.kind == "into" && a.Has("-x") {
			list = append(list, File{Path: f.Value, Access: Write, Dir: dir})
		}
		if f.kind == "d" || f.kind == "into" {
			dir = below(dir, f.Value)
		}
	}
	add := func(kind string, w Word) {
		if w, access := opened(kind, w); access != 0 {
			list = append(list, File{Path: w, Access: access, Dir: dir, All: all})
		}
	}
	for _, f := range a.Flags {
		add(f.kind, f.Value)
	}
	kinds := s.operands(a)
	for i, w := range a.Operands {
		kind := kindOf(kinds, i, len(a.Operands))
		if kind == "found" {
			w, named := a.found(w)
			list = append(list, File{Path: w, Access: Write, Dir: dir, All: !named})
			continue
		}
		add(kind, w)
	}
	return list
}

// found is what find finds in a directory, as far as one name says.
func (a Args) found(dir Word) (w Word, named bool) {
	name := ""
	for _, f := range a.Flags {
		if f.Name != "-name" {
			continue
		}
		if name != "" || !f.Value.Known {
			return dir, false
		}
		name = f.Value.Text
	}
	if name == "" || !dir.Known {
		return dir, false
	}
	return Word{Text: strings.TrimSuffix(dir.Text, "/") + "/**/" + name, Known: true, Glob: true}, true
}

// opened is the file that a word of the kind names, and what becomes of it.
func opened(kind string, w Word) (Word, Access) {
	cut := func(prefix string) bool {
		text, ok := strings.CutPrefix(w.Text, prefix)
		if ok {
			w.Text = text
		}
		return ok
	}
	switch {
	case w.Known && (w.Text == "" || w.Text == "-"), w.all() == "": // nothing, or a flag without its value
		return w, 0
	case kind == "@" && (cut("@") || strings.Contains(w.Text, "=@")), kind == "dd" && cut("if="):
		if _, file, ok := strings.Cut(w.Text, "=@"); ok {
			w.Text = file
		}
		return w, Read
	case kind == "dd" && cut("of="):
		return w, Write
	case kind == "far": // host:path, or a file of this machine
		if colon := strings.IndexByte(w.Text, ':'); colon > 0 && !strings.Contains(w.Text[:colon], "/") {
			return w, 0
		}
		return w, Read
	case kind == "farw":
		if colon := strings.IndexByte(w.Text, ':'); colon > 0 && !strings.Contains(w.Text[:colon], "/") {
			return w, 0
		}
		return w, Write
	case kind == "r", kind == "script":
		return w, Read
	case kind == "w":
		return w, Write
	case kind == "e":
		return w, Read | Write
	}
	return w, 0
}

// Carries reports whether the program runs what its operands or its input say:
// a wrapper, a shell, an interpreter.
func (a Args) Carries() bool {
	if len(a.specs) == 0 {
		return false
	}
	s := a.specs[len(a.specs)-1]
	return s.stdin != "" || slices.ContainsFunc(s.words, func(w wordsSpec) bool { return slices.ContainsFunc(w.kinds, runs) })
}

// Texts are the operands that the program runs: a script, a program's text.
func (a Args) Texts() (list []Word) {
	if len(a.specs) == 0 {
		return nil
	}
	kinds := a.specs[len(a.specs)-1].operands(a)
	for i, w := range a.Operands {
		if runs(kindOf(kinds, i, len(a.Operands))) {
			list = append(list, w)
		}
	}
	return list
}

// runs reports whether a word of the kind is run.
func runs(kind string) bool {
	switch strings.TrimSuffix(kind, "...") {
	case "cmd", "join", "sh", "code", "script", "split", "sshopt", "gitopt":
		return true
	}
	return false
}

// Runs reports whether one of the flags is given another program to run.
func (a Args) Runs() bool {
	return slices.ContainsFunc(a.Flags, func(f Flag) bool { return runs(f.kind) })
}

// HasSubcommands reports whether the program's first operand says what it does.
func (a Args) HasSubcommands() bool { return len(a.specs) > 0 && a.specs[0].sub }
