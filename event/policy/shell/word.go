package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fields are what words of a line become.
type fields struct {
	r       *reader
	list    []string
	globs   []bool   // which of them are patterns of files
	feeds   []int    // the commands whose output they have
	unknown []string // the variables among them that have no known value

	text strings.Builder
	open bool // a word has begun, which may be empty
	glob bool
	temp bool // it has the variable of the folder for temporary files
}

const globSigns = "*?["

// expand returns what words become; those in quotes are neither split at blanks nor at braces.
func (r *reader) expand(quoted bool, list ...*syntax.Word) *fields {
	f := &fields{r: r}
	for _, w := range list {
		if w == nil {
			continue
		}
		split := []*syntax.Word{w}
		if !quoted {
			split = braces(w)
		}
		for _, one := range split {
			for _, p := range one.Parts {
				f.part(p, quoted)
			}
			f.end()
		}
	}
	return f
}

// word returns the text of a word in quotes.
func (r *reader) word(w *syntax.Word) string { return r.expand(true, w).value().text() }

func (f *fields) value() value { return value{words: f.list, feeds: f.feeds} }

func (f *fields) stream(end string) stream {
	return stream{text: f.value().text() + end, fed: true, feeds: f.feeds}
}

func (f *fields) end() {
	if f.open {
		text := f.text.String()
		if f.temp && In("/tmp/ /tmp/*", text) { // it may be empty, and then this is all
			text = Hole + strings.TrimPrefix(text, "/tmp")
		}
		f.list, f.globs = append(f.list, text), append(f.globs, f.glob)
		f.text.Reset()
		f.open, f.glob, f.temp = false, false, false
	}
}

func (f *fields) add(text string) {
	f.open = true
	if !f.r.spend(len(text)) || f.text.Len()+len(text) > maxWord {
		text = f.r.strange(tooMuch)
	}
	if f.text.Len() < maxWord {
		f.text.WriteString(text)
	}
}

// put adds a value; the shell splits it at blanks unless it stands in quotes.
func (f *fields) put(value string, quoted bool) {
	switch parts := strings.Fields(value); {
	case quoted:
		f.add(value)
	case len(parts) == 0 && value != "":
		f.end()
	default:
		for i, part := range parts {
			if i > 0 {
				f.end()
			}
			f.add(part)
			f.glob = f.glob || strings.ContainsAny(part, globSigns)
		}
	}
}

// Limits on braces: the library's time and memory grow with them.
const (
	maxOpen   = 8
	maxBraces = 256
)

// braces returns the words that lists in a word's braces stand for. A sequence stays as it is.
func braces(w *syntax.Word) []*syntax.Word {
	open, sequence := 0, false
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			open += strings.Count(l.Value, "{")
			sequence = sequence || open > 0 && strings.Contains(l.Value, "..")
		}
	}
	split := *w
	if open == 0 || open > maxOpen || sequence || !syntax.SplitBraces(&split) {
		return []*syntax.Word{w}
	}
	return spread(split.Parts)
}

func spread(parts []syntax.WordPart) []*syntax.Word {
	out := []*syntax.Word{{}}
	for _, part := range parts {
		var next []*syntax.Word
		b, split := part.(*syntax.BraceExp)
		for _, o := range out {
			if !split {
				next = append(next, &syntax.Word{Parts: append(o.Parts, part)})
				continue
			}
			for _, e := range b.Elems {
				for _, c := range spread(e.Parts) {
					next = append(next, &syntax.Word{Parts: slices.Concat(o.Parts, c.Parts)})
				}
			}
		}
		out = next[:min(len(next), maxBraces)]
	}
	return out
}

func (f *fields) part(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		f.literal(p.Value, quoted)
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			text = unescaped(strings.ReplaceAll(text, `\'`, `'`))
		}
		f.add(text)
	case *syntax.DblQuoted:
		f.open = true
		for _, q := range p.Parts {
			f.part(q, true)
		}
	case *syntax.ParamExp:
		f.parameter(p, quoted)
	case *syntax.CmdSubst:
		out := strings.TrimRight(f.output(p.Stmts), "\n")
		f.put(out, quoted)
	case *syntax.ProcSubst:
		out := f.output(p.Stmts)
		name := "/dev/fd/" + strconv.Itoa(len(f.r.files))
		f.r.files[name] = stream{text: out, fed: true}
		f.add(name)
	default:
		f.r.inner(p)
		f.add(Hole)
	}
}

// output reads a substitution, whose commands feed the present one.
func (f *fields) output(list []*syntax.Stmt) string {
	from := len(f.r.line.Commands)
	out := f.r.subshell(list, stream{}, false)
	f.feeds = append(f.feeds, f.r.since(from)...)
	return out
}

func (f *fields) literal(text string, quoted bool) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			if i++; text[i] == '\n' {
				continue
			}
			if quoted && strings.IndexByte("\\$`\"", text[i]) < 0 {
				out.WriteByte('\\')
			}
		case !quoted && strings.IndexByte(globSigns, text[i]) >= 0:
			f.glob = true
		}
		out.WriteByte(text[i])
	}
	f.add(out.String())
}

// unescaped returns a text with its escapes replaced; as it is if one of them is none of Go's.
func unescaped(text string) string {
	quoted := `"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(text) + `"`
	if plain, err := strconv.Unquote(quoted); err == nil {
		return plain
	}
	return text
}

func (f *fields) parameter(p *syntax.ParamExp, quoted bool) {
	if p.Param == nil || p.Slice != nil || p.Repl != nil || p.Length || p.Excl {
		f.r.inner(p)
		f.add(Hole)
		return
	}
	name := p.Param.Value
	v := f.r.variable(name)
	f.feeds = append(f.feeds, v.feeds...)
	f.temp = f.temp || p.Exp == nil && name == "TMPDIR"
	if p.Exp != nil {
		v = f.alternative(p.Exp, v)
	}
	if v.words == nil {
		f.unknown = append(f.unknown, name)
		f.add(Hole)
		return
	}
	for i, part := range v.words {
		if i > 0 {
			f.end()
		}
		f.put(part, quoted)
	}
	f.glob = f.glob || v.glob
}

// alternative returns the value of ${x:-y} and its like.
func (f *fields) alternative(e *syntax.Expansion, v value) value {
	other := f.r.expand(true, e.Word)
	f.feeds = append(f.feeds, other.feeds...)
	switch e.Op {
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if v.words == nil {
			v.words = []string{other.value().text()}
		}
	default:
		return value{}
	}
	return v
}

// variable returns what a variable has.
func (r *reader) variable(name string) value {
	n, err := strconv.Atoi(name)
	switch {
	case name == "@" || name == "*":
		return value{words: r.args}
	case err == nil && n > 0 && n <= len(r.args):
		return value{words: r.args[n-1 : n]}
	}
	return r.vars[name]
}

// declare reads export, local, declare and their like.
func (r *reader) declare(c *syntax.DeclClause) {
	words := []string{c.Variant.Value}
	for _, a := range c.Args {
		r.assign(a)
		if a.Name == nil {
			words = append(words, r.word(a.Value))
		} else {
			words = append(words, a.Name.Value+"="+r.vars[a.Name.Value].text())
		}
	}
	if c.Variant.Value == "export" {
		r.env = append(slices.Clip(r.env), words[1:]...)
	}
	r.emit(Command{Words: words, Globs: make([]bool, len(words))})
}

func (r *reader) assign(a *syntax.Assign) {
	if a.Name == nil || a.Naked {
		return
	}
	r.line.Sets = true
	v := r.valueOf(a)
	if len(v.text()) < maxWord {
		r.vars[a.Name.Value] = v
	}
}

// valueOf returns what an assignment gives a variable.
func (r *reader) valueOf(a *syntax.Assign) (v value) {
	if a.Array != nil {
		var elems []*syntax.Word
		for _, e := range a.Array.Elems {
			elems = append(elems, e.Value)
		}
		v = r.expand(false, elems...).value()
	} else {
		v = r.expand(true, a.Value).value()
		v.words = []string{v.text()}
	}
	if old := r.vars[a.Name.Value]; a.Append {
		v.words, v.feeds = slices.Concat(old.words, v.words), slices.Concat(old.feeds, v.feeds)
		if a.Array == nil {
			v.words = []string{strings.Join(v.words, "")}
		}
	}
	return v
}
