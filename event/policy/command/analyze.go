package command

import (
	_ "embed"
	"slices"
	"strings"
)

// reading is the state of Analyze.
type reading struct {
	words []Word
	args  Args
	at    int
	loose int
}

// Analyze parses a command's words; there must be at least one.
func Analyze(words []Word) Args {
	r := reading{words: words, at: 1, args: Args{Program: Name(words[0].all())}}
	if strings.Contains(r.args.Program, hole) {
		r.args.Program = ""
		r.args.Operands = words[1:]
		r.args.Unsure = true
		return r.args
	}
	if s := entry(r.args.Program); s != nil {
		r.args.specs = []*spec{s}
		r.args.Table = true
	}
	for r.at < len(r.words) && r.next() {
	}
	return r.args
}

// next reads the next word; false if what follows is another command.
func (r *reading) next() bool {
	w, s := r.words[r.at], r.args.spec()
	switch {
	case w.Known && w.Text == "--":
		r.at++
		if s != nil && (s.after == "cmd" || s.carries(r.args) && len(r.args.Operands) == len(s.operands(r.args))-1) {
			r.args.rest = r.at
			return false
		}
		for ; r.at < len(r.words); r.at++ {
			if r.operand(r.words[r.at]) {
				return false
			}
		}
		return false
	case strings.HasPrefix(w.Text, "+") && r.flagOf("+") != nil: // vim +COMMAND
		r.at++
		r.add(r.flagOf("+"), "+", w.behind(1))
		return true
	case len(w.Text) > 1 && (w.Text[0] == '-' || w.Text[0] == '+' && r.flagOf(w.Text) != nil) || w.Text == "-" && r.flagOf("-") != nil:
		r.at++
		r.flag(w)
		return true
	case s != nil && s.is("old") && len(r.args.Operands) == 0 && len(r.args.Flags) == 0 && w.Known:
		r.at++
		r.flag(known("-" + w.Text))
		return true
	case s != nil && s.is("plus") && strings.HasPrefix(w.Text, "+") && len(r.args.Flags) == 0:
		r.at++
		r.args.Flags = append(r.args.Flags, Flag{Name: "+", Value: w})
		return true
	}
	if r.operand(w) {
		return false
	}
	r.at++
	return true
}

// operand reads a word that is not a flag; true if a command begins there.
func (r *reading) operand(w Word) bool {
	s := r.args.spec()
	if s != nil && len(r.args.Operands) == 0 && (s.is("sub") || s.is("may") && w.Known && lookup(r.args.Program+" "+w.Text) != nil) {
		if !w.Known {
			r.args.Unsure = true
		} else {
			r.args.Sub = append(r.args.Sub, w.Text)
			inner := lookup(r.args.Program + " " + strings.Join(r.args.Sub, " "))
			if inner == nil {
				inner = &spec{}
			}
			r.args.specs = append(r.args.specs, inner)
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
		kind := kindOf(s.operands(r.args), len(r.args.Operands), len(r.args.Operands)+1)
		if slices.Contains(gitKinds, kind) && w.Known && excludes(w.Text) {
			r.args.Flags = append(r.args.Flags, Flag{Name: ":!", Value: w, Harmless: true})
			return false
		}
		w = r.reference(w, kind)
	}
	r.args.Operands = append(r.args.Operands, w)
	if s == nil {
		r.args.Loose = append(r.args.Loose, r.loose)
		r.loose = 0
	}
	return false
}

// reference reads git's word for a repository or a branch, where signs act as flags: +branch
// is forced, :branch deleted, ext::TEXT a command line.
func (r *reading) reference(w Word, kind string) Word {
	switch {
	case kind != "ref" && kind != "url":
	case strings.HasPrefix(w.Text, "ext::"):
		r.args.Flags = append(r.args.Flags, Flag{Name: "ext::", kind: "sh", Value: w.behind(len("ext::"))})
	case kind == "ref" && strings.HasPrefix(w.Text, "+"):
		r.add(r.flagOf("-f"), "-f", Word{})
		return w.behind(1)
	case kind == "ref" && strings.HasPrefix(w.Text, ":"):
		r.add(r.flagOf("-d"), "-d", Word{})
		return w.behind(1)
	}
	return w
}

// assignment reports whether a word is NAME=value.
func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// flagOf finds a flag by one of its names, first among the subcommand's, then the program's.
func (r *reading) flagOf(name string) *flagSpec {
	for _, s := range slices.Backward(r.args.specs) {
		for n := range s.flags {
			if slices.Contains(s.flags[n].names, name) {
				return &s.flags[n]
			}
		}
	}
	return nil
}

// abbreviated finds the only long flag that begins with name.
func (r *reading) abbreviated(name string) (found *flagSpec) {
	for _, s := range r.args.specs {
		for n := range s.flags {
			f := &s.flags[n]
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
	name, _, has := strings.Cut(w.Text, "=")
	var value Word
	if has {
		value = w.behind(len(name) + 1)
	}
	s := r.args.spec()
	long := strings.HasPrefix(name, "--")
	f := r.flagOf(name)
	if f == nil && s != nil && long && (w.Known || has) {
		f = r.abbreviated(name)
	}
	if f == nil && long && s != nil && s.is("dash") {
		f = r.flagOf(name[1:])
	}
	switch whole := long || s == nil || s.is("dash"); {
	case !w.Known && !has && whole: // --force$X
		r.begun(f, name, w)
	case whole, f != nil && (w.Known || has):
		r.long(f, name, value, has)
	default:
		r.bundle(w)
	}
}

// begun reads a flag of which only the beginning is known, which may be all of it.
func (r *reading) begun(f *flagSpec, name string, w Word) {
	if f != nil {
		name = f.names[0]
	}
	r.add(nil, name, w)
	r.add(nil, "", w)
}

// long reads a flag whose name is the whole word.
func (r *reading) long(f *flagSpec, name string, value Word, has bool) {
	switch {
	case f == nil || has:
		r.add(f, name, value)
	case f.kind == "cmd":
		r.command(f)
	case f.value && r.at < len(r.words):
		if f.named && r.at+1 < len(r.words) {
			r.at++
		}
		r.add(f, name, r.words[r.at])
		r.at++
		for f.kind == "x..." && r.at < len(r.words) && !strings.HasPrefix(r.words[r.at].Text, "-") {
			r.at++
		}
	default:
		r.add(f, name, Word{})
		r.loose++
	}
}

// bundle reads -abc: letters that are flags of their own, the last possibly with a value. More
// letters may follow in a word of which only the beginning is known.
func (r *reading) bundle(w Word) {
	text := w.Text
	if strings.Trim(text[1:], "0123456789") == "" { // -3
		r.add(r.flagOf("-#"), text, Word{})
		return
	}
	for i := 1; i < len(text); i++ {
		name := "-" + text[i:i+1]
		f := r.flagOf(name)
		rest := text[i+1:]
		switch {
		case f == nil || !f.value && !f.optional:
			r.add(f, name, Word{})
			continue
		case rest == "" && w.Known:
			r.long(f, name, Word{}, false)
		default:
			value := w.behind(i + 1)
			if strings.HasPrefix(value.Text, "=") {
				value = value.behind(1)
			}
			r.add(f, name, value)
		}
		return
	}
	if !w.Known {
		r.add(nil, "", w)
	}
}

// command reads a flag whose value is all words up to ; or +.
func (r *reading) command(f *flagSpec) {
	end := r.at
	for end < len(r.words) && r.words[end].Text != ";" && (r.words[end].Text != "+" || r.words[end-1].Text != "{}") {
		end++
	}
	r.add(f, f.names[0], Word{})
	r.args.Flags[len(r.args.Flags)-1].command = r.words[r.at:end]
	r.at = min(end+1, len(r.words))
}

func (r *reading) add(f *flagSpec, name string, value Word) {
	flag := Flag{Name: name, Value: value}
	if f == nil {
		r.args.strange++
	} else {
		flag.Name, flag.Harmless, flag.kind = f.names[0], f.harmless, f.kind
	}
	r.args.Flags = append(r.args.Flags, flag)
}

// kindOf returns the kind of the n-th operand.
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
