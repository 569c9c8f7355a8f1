package command

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"
)

// programs says how programs parse their words; its head describes the format.
//
//go:embed programs.txt
var programs string

// spec is one entry of the table.
type spec struct {
	flags  []flagSpec
	words  []wordsSpec
	after  string   // what follows --: "" more operands, or "cmd"
	stdin  string   // what the program does with its input: "sh", "code"
	all    []string // with one of these flags operands stand for everything below them; "always"
	traits []string // other properties
}

// is reports whether a program has a property: "sub", its first operand is a subcommand;
// "may", it is one if the table has it; "plus", +word before it names a version;
// "dash", -word is one flag and not a bundle of letters; "old", its first operand may be a
// bundle without its dash (tar xf); "remote", it runs elsewhere; "more", words from the input
// follow the command.
func (s *spec) is(what string) bool { return slices.Contains(s.traits, what) }

// flagSpec is one flag with all its names.
type flagSpec struct {
	names    []string
	value    bool   // takes a value, joined or as the next word
	named    bool   // takes a name before the value, as a word of its own
	optional bool   // takes a value if it is joined
	kind     string // what the value is
	harmless bool
}

// wordsSpec says what operands are.
type wordsSpec struct {
	when  []string // one of these flags or subcommands is given, "-i+-e" being both; none: always
	kinds []string // one each; "r..." any number
}

var specs sync.Map // of *spec, by name; nil for an unknown program

// lookup returns the entry of a program, or of a subcommand: "git push".
func lookup(name string) *spec {
	if s, ok := specs.Load(name); ok {
		return s.(*spec)
	}
	s := find(name)
	specs.Store(name, s)
	return s
}

// find parses an entry. The heads of entries begin a line; names in them are separated by ",
// ".
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
	for one := range strings.SplitSeq(line, ", ") {
		if one == name {
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
		s.traits = append(s.traits, args...)
	}
}

func readFlag(text string, harmless bool) flagSpec {
	f := flagSpec{harmless: harmless}
	names := text
	if at := strings.IndexAny(text, ":?"); at >= 0 {
		f.value, f.optional = text[at] == ':', text[at] == '?'
		names, f.kind = text[:at], text[at+1:]
		f.kind, f.named = strings.CutPrefix(f.kind, ":")
	}
	f.names = strings.Split(names, ",")
	return f
}

// Name returns the program that a word runs: without directories and .exe.
func Name(word string) string {
	name := path.Base(strings.ReplaceAll(word, `\`, "/"))
	if len(name) > 4 && strings.EqualFold(name[len(name)-4:], ".exe") {
		name = name[:len(name)-4]
	}
	return name
}

// entry returns the table's entry of a program, whose name may contain a version: python3.12.
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

// Unversioned returns a program's name without the version at its end: python for python3.12.
func Unversioned(name string) string {
	base := strings.TrimSuffix(strings.TrimRight(name, "0123456789."), "-")
	if base == "" {
		return name
	}
	return base
}

// carrying reports whether a command begins at an operand of the kind.
func carrying(kind string) bool { return kind == "cmd" || kind == "join" }

func (s *spec) carries(a Args) bool { return slices.ContainsFunc(s.operands(a), carrying) }

// operands returns the kinds of the operands under the given flags and subcommands.
func (s *spec) operands(a Args) []string {
	for _, w := range s.words {
		if len(w.when) == 0 || slices.ContainsFunc(w.when, func(names string) bool {
			return !slices.ContainsFunc(strings.Split(names, "+"), func(name string) bool { return !a.Has(name) && !slices.Contains(a.Sub, name) })
		}) {
			return w.kinds
		}
	}
	return nil
}

// spec returns the entry of the innermost subcommand; nil for an unknown program.
func (a Args) spec() *spec {
	if len(a.specs) == 0 {
		return nil
	}
	return a.specs[len(a.specs)-1]
}

// Has reports whether a flag is given, by the first of its names.
func (a Args) Has(name string) bool {
	return slices.ContainsFunc(a.Flags, func(f Flag) bool { return f.Name == name })
}

// MayHave reports whether the flag with that first name may be in a word of which only the
// beginning is known.
func (a Args) MayHave(name string) bool {
	names := []string{name}
	for _, s := range a.specs {
		for _, f := range s.flags {
			if f.names[0] == name {
				names = f.names
			}
		}
	}
	letters := a.Table && !a.spec().is("dash")
	return slices.ContainsFunc(a.Flags, func(f Flag) bool {
		bundle := letters && !strings.HasPrefix(f.Value.Text, "--")
		return f.Name == "" && slices.ContainsFunc(names, func(n string) bool { return bundle && len(n) == 2 || f.Value.Could(n) })
	})
}

// files returns the files that a command reads and writes because of its words.
func (a Args) files(dir Word) (list []File) {
	s := a.spec()
	if s == nil {
		return nil
	}
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
		f := File{}
		if slices.Contains(gitKinds, kind) {
			f = gitFile(kind, w)
		} else {
			f.Path, f.Access = opened(kind, w)
		}
		if f.Access != 0 {
			f.Dir, f.All = dir, all
			list = append(list, f)
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

// found returns what find finds in a directory, as far as one name says.
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

// opened returns the file that a word of the kind names, and the access to it.
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
	case kind == "far", kind == "farw": // host:path, or a file of this machine
		if colon := strings.IndexByte(w.Text, ':'); colon > 0 && !strings.Contains(w.Text[:colon], "/") {
			return w, 0
		}
		if kind == "farw" {
			return w, Write
		}
		return w, Read
	case kind == "r", kind == "script":
		return w, Read
	case kind == "w":
		return w, Write
	case kind == "e":
		return w, Read | Write
	}
	return w, 0
}

// Carries reports whether the program runs its operands or its input: a wrapper, a shell, an
// interpreter.
func (a Args) Carries() bool {
	s := a.spec()
	return s != nil && (s.stdin != "" || slices.ContainsFunc(s.words, func(w wordsSpec) bool { return slices.ContainsFunc(w.kinds, runs) }))
}

// Texts returns the operands that the program runs: a script, a program's text.
func (a Args) Texts() (list []Word) {
	s := a.spec()
	if s == nil {
		return nil
	}
	kinds := s.operands(a)
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
	case "cmd", "join", "sh", "code", "script", "split", "exec", "sshopt", "gitopt":
		return true
	}
	return false
}

// Runs reports whether one of the flags has another program to run.
func (a Args) Runs() bool {
	return slices.ContainsFunc(a.Flags, func(f Flag) bool { return runs(f.kind) })
}

// HasSubcommands reports whether the program's first operand is a subcommand.
func (a Args) HasSubcommands() bool { return len(a.specs) > 0 && a.specs[0].is("sub") }
