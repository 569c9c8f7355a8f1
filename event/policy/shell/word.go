package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fields are the words that one word of a line becomes.
type fields struct {
	r     *reader
	list  []string
	globs []bool
	text  strings.Builder
	open  bool // a word has begun, which may be empty
	glob  bool
}

const globSigns = "*?["

func (f *fields) end() {
	if f.open {
		f.list, f.globs = append(f.list, f.text.String()), append(f.globs, f.glob)
		f.text.Reset()
		f.open, f.glob = false, false
	}
}

func (f *fields) add(text string) {
	f.open = true
	if !f.r.spend(len(text)) || f.text.Len()+len(text) > maxWord {
		f.r.strange(tooMuch)
		text = Hole
	}
	if f.text.Len() < maxWord {
		f.text.WriteString(text)
	}
}

// split adds a value that the shell splits at blanks.
func (f *fields) split(value string) {
	for i, part := range strings.Fields(value) {
		if i > 0 {
			f.end()
		}
		f.add(part)
		f.glob = f.glob || strings.ContainsAny(part, globSigns)
	}
}

// words returns what a list of words becomes, and which of them are patterns of files.
func (r *reader) words(list []*syntax.Word) (words []string, globs []bool) {
	for _, w := range list {
		for _, one := range r.braces(w) {
			f := fields{r: r}
			for _, p := range one.Parts {
				f.part(p, false)
			}
			f.end()
			words, globs = append(words, f.list...), append(globs, f.globs...)
		}
	}
	return words, globs
}

// word returns one word that blanks do not split.
func (r *reader) word(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	f := fields{r: r}
	for _, p := range w.Parts {
		f.part(p, true)
	}
	return f.text.String()
}

// Limits on braces: the library's time and memory grow with them.
const (
	maxOpen   = 8
	maxBraces = 256
)

// braces returns the words that lists in a word's braces stand for. A sequence stays as it is.
func (r *reader) braces(w *syntax.Word) []*syntax.Word {
	open := 0
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			open += strings.Count(l.Value, "{")
			if open > 0 && strings.Contains(l.Value, "..") {
				return []*syntax.Word{w}
			}
		}
	}
	if open == 0 || open > maxOpen {
		return []*syntax.Word{w}
	}
	split := *w
	if !syntax.SplitBraces(&split) {
		return []*syntax.Word{w}
	}
	return spread(split.Parts)
}

func spread(parts []syntax.WordPart) []*syntax.Word {
	out := []*syntax.Word{{}}
	for _, part := range parts {
		choices := []*syntax.Word{{Parts: []syntax.WordPart{part}}}
		if b, ok := part.(*syntax.BraceExp); ok {
			choices = nil
			for _, e := range b.Elems {
				choices = append(choices, spread(e.Parts)...)
			}
		}
		var next []*syntax.Word
		for _, o := range out {
			for _, c := range choices {
				next = append(next, &syntax.Word{Parts: slices.Concat(o.Parts, c.Parts)})
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
		f.add(single(p))
	case *syntax.DblQuoted:
		f.open = true
		for _, q := range p.Parts {
			f.part(q, true)
		}
	case *syntax.ParamExp:
		f.parameter(p, quoted)
	case *syntax.CmdSubst:
		if out := strings.TrimRight(f.output(p.Stmts), "\n"); quoted {
			f.add(out)
		} else {
			f.split(out)
		}
	case *syntax.ProcSubst:
		out := f.output(p.Stmts)
		f.r.fds++
		name := "/dev/fd/" + strconv.Itoa(f.r.fds)
		f.r.files[name] = out
		f.add(name)
	case *syntax.ExtGlob:
		f.glob = true
		f.add("*")
	default:
		f.r.inner(p)
		f.add(Hole)
	}
}

// output reads a substitution, whose commands feed the present one.
func (f *fields) output(list []*syntax.Stmt) string {
	at := len(f.r.line.Commands)
	out := f.r.sub(list, stream{})
	for i := at; i < len(f.r.line.Commands); i++ {
		f.r.feeds = append(f.r.feeds, i)
	}
	return out
}

func (f *fields) literal(text string, quoted bool) {
	if !strings.Contains(text, `\`) {
		f.glob = f.glob || !quoted && strings.ContainsAny(text, globSigns)
		f.add(text)
		return
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if i++; text[i] == '\n' {
				continue
			}
			if quoted && strings.IndexByte("\\$`\"", text[i]) < 0 {
				out.WriteByte('\\')
			}
		} else if !quoted && strings.IndexByte(globSigns, text[i]) >= 0 {
			f.glob = true
		}
		out.WriteByte(text[i])
	}
	f.add(out.String())
}

// single returns the value of '...' or $'...'.
func single(p *syntax.SglQuoted) string {
	if !p.Dollar {
		return p.Value
	}
	quoted := strings.ReplaceAll(strings.ReplaceAll(p.Value, `"`, `\"`), `\'`, `'`)
	if text, err := strconv.Unquote(`"` + strings.ReplaceAll(quoted, "\n", `\n`) + `"`); err == nil {
		return text
	}
	return p.Value
}

func (f *fields) parameter(p *syntax.ParamExp, quoted bool) {
	r := f.r
	if p.Param == nil || p.Slice != nil || p.Repl != nil || p.Length || p.Excl {
		r.inner(p)
		f.add(Hole)
		return
	}
	name := p.Param.Value
	r.feeds = append(r.feeds, r.from[name]...)
	value := r.value(name)
	if p.Exp != nil {
		value = r.alternative(p.Exp, value)
	} else if p.Index == nil && len(value) > 1 && name != "@" && name != "*" {
		value = value[:1]
	}
	if value == nil {
		r.names = append(r.names, name)
		f.add(Hole)
		return
	}
	for i, part := range value {
		if i > 0 {
			f.end()
		}
		switch {
		case quoted:
			f.add(part)
		case part != "" && strings.TrimSpace(part) == "":
			f.end()
		default:
			f.split(part)
		}
	}
}

// alternative returns the value of ${x:-y} and its like; nil if it is unknown.
func (r *reader) alternative(e *syntax.Expansion, value []string) []string {
	other := ""
	if e.Word != nil {
		other = r.word(e.Word)
	}
	switch e.Op {
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return value
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if value != nil {
			return value
		}
		return []string{other}
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return []string{other}
	}
	return nil
}

// value returns what a variable has; nil if the line does not say.
func (r *reader) value(name string) []string {
	switch {
	case name == "@" || name == "*":
		return r.args
	case len(name) == 1 && name[0] >= '1' && name[0] <= '9':
		if n := int(name[0] - '1'); n < len(r.args) {
			return r.args[n : n+1]
		}
		return nil
	case r.vars[name] != nil:
		return r.vars[name]
	case name == "IFS":
		return []string{" "}
	case name == "HOME":
		return []string{"~"}
	case In("TMPDIR TMP TEMP", name):
		return []string{"/tmp"}
	case name == "PWD":
		return []string{"."}
	}
	return nil
}
