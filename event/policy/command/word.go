package command

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxBraces limits the words that braces expand to: {1..1000000}.
	maxBraces = 256
	// maxOpen limits the braces of a word: the library's time and memory grow with their
	// square.
	maxOpen = 64
	// maxValue limits a word's value: variables can double it again and again.
	maxValue = 1 << 16
)

// fields builds the words that a shell expands one word to.
type fields struct {
	w    *walker
	list []Word
	text strings.Builder // with holes
	open bool            // a word has begun, possibly an empty one: ''
	cut  int             // the length of text at the first hole plus 1; 0 without one
	glob bool
}

func (f *fields) add(text string) {
	f.open = f.open || text != ""
	if f.text.Len()+len(text) > maxValue {
		f.unknown()
		return
	}
	f.text.WriteString(text)
}

func (f *fields) unknown() {
	f.open = true
	if f.cut == 0 {
		f.cut = f.text.Len() + 1
	}
	if f.text.Len() < maxValue || !strings.HasSuffix(f.text.String(), hole) {
		f.text.WriteString(hole)
	}
}

func (f *fields) end() {
	if !f.open {
		return
	}
	word := Word{Text: f.text.String(), Known: f.cut == 0, Glob: f.glob}
	if f.cut > 0 {
		word.shell = word.Text
		word.Text = word.Text[:f.cut-1]
	}
	f.list = append(f.list, word)
	f.text.Reset()
	f.open, f.glob, f.cut = false, false, 0
}

// value adds the value of a variable or substitution. Outside of quotes blanks in it separate
// words.
func (f *fields) value(v Word, quoted bool) {
	f.glob = f.glob || v.Glob
	if quoted {
		f.open = true
		f.literal(v)
		return
	}
	if f.w.vars["IFS"] != nil { // it changes the separators
		f.unknown()
		return
	}
	text := v.all()
	for i, part := range strings.Fields(text) {
		if i > 0 || strings.IndexByte(" \t\n", text[0]) >= 0 {
			f.end()
		}
		before, after, holed := strings.Cut(part, hole)
		f.add(before)
		if holed {
			f.unknown()
			f.add(strings.ReplaceAll(after, hole, ""))
		}
		f.glob = f.glob || strings.ContainsAny(before, "*?[")
	}
	if text != "" && strings.IndexByte(" \t\n", text[len(text)-1]) >= 0 {
		f.end()
	}
}

func (f *fields) literal(v Word) {
	if v.Known {
		f.add(v.Text)
		return
	}
	before, after, _ := strings.Cut(v.all(), hole)
	f.add(before)
	f.unknown()
	f.add(after)
}

// words returns the words that a shell expands the given ones to.
func (w *walker) words(list []*syntax.Word) []Word {
	var out []Word
	for _, word := range list {
		if w.spent() {
			return append(out, unknownWord)
		}
		for _, one := range w.braces(word) {
			f := fields{w: w}
			for _, part := range one.Parts {
				f.part(part, false)
			}
			f.end()
			w.spend(value{words: f.list}.size())
			out = append(out, f.list...)
		}
	}
	return out
}

// word returns one word's value, which blanks do not split: an assignment's or a
// redirection's.
func (w *walker) word(word *syntax.Word) Word {
	if word == nil {
		return known("")
	}
	f := fields{w: w, open: true}
	for _, part := range word.Parts {
		f.part(part, true)
	}
	f.end()
	return f.list[0]
}

func (f *fields) part(part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		f.lit(p.Value, quoted)
	case *syntax.SglQuoted:
		f.open = true
		if p.Dollar {
			f.add(unescape(p.Value))
		} else {
			f.add(p.Value)
		}
	case *syntax.DblQuoted:
		f.open = true
		for _, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				f.add(unslash(lit.Value, "\"\\$`"))
			} else {
				f.part(inner, true)
			}
		}
	case *syntax.ParamExp:
		f.param(p, quoted)
	case *syntax.CmdSubst:
		f.value(f.w.substitution(p), quoted)
	case *syntax.ProcSubst:
		f.w.substitutions(p)
		f.add(f.w.outputs[p].Text)
	case *syntax.ExtGlob:
		f.glob = true
		f.add(p.Op.String() + p.Pattern.Value + ")")
	case *syntax.ArithmExp:
		if p.X != nil {
			f.w.substitutions(p.X)
		}
		f.unknown()
	default:
		f.unknown()
	}
}

func (f *fields) lit(text string, quoted bool) {
	for i := 0; !quoted && i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '*', '?', '[':
			f.glob = true
		}
	}
	f.add(unslash(text, ""))
}

// unslash removes the backslashes before the given characters, or before any.
func unslash(text, before string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if text[i+1] == '\n' {
				i++
				continue
			}
			if before == "" || strings.IndexByte(before, text[i+1]) >= 0 {
				i++
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// unescape replaces the escapes of C, as in $'...' and a format of printf.
func unescape(text string) string {
	out, _ := unescaped(text, 3)
	return out
}

// unescaped is unescape for octal numbers of at most zero digits if their first one is 0. With
// more than 3 the escapes are those of echo -e and of printf's %b, where \c ends the output and
// quotes have no escape. What is not an escape keeps its backslash.
func unescaped(text string, zero int) (out string, ended bool) {
	const plain, meant = `abeEfnrtv`, "\a\b\x1b\x1b\f\n\r\t\v"
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		if at := strings.IndexByte(plain, c); at >= 0 {
			b.WriteByte(meant[at])
			continue
		}
		skip, most, base := 1, 0, 16
		switch {
		case c == 'c' && zero > 3:
			return b.String(), true
		case c == 'x':
			most = 2
		case c == 'u':
			most = 4
		case c == 'U':
			most = 8
		case c == '0':
			skip, most, base = 0, zero, 8
		case c >= '1' && c <= '7':
			skip, most, base = 0, 3, 8
		}
		n, size := number(text[i+skip:], most, base)
		switch {
		case c == '\\', zero == 3 && strings.IndexByte(`"'?`, c) >= 0:
			b.WriteByte(c)
			continue
		case size == 0:
			b.WriteString(text[i-1 : i+1])
			continue
		case c == 'u' || c == 'U':
			b.Write(utf8.AppendRune(nil, rune(n)))
		default:
			b.WriteByte(byte(n))
		}
		i += skip + size - 1
	}
	return b.String(), false
}

// number parses the digits that text begins with, at most that many.
func number(text string, most, base int) (n uint64, size int) {
	for size < min(most, len(text)) {
		v, err := strconv.ParseUint(text[:size+1], base, 32)
		if err != nil {
			break
		}
		n = v
		size++
	}
	return n, size
}

// braces returns the words that a word's braces expand to.
func (w *walker) braces(word *syntax.Word) []*syntax.Word {
	count := 0
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			count += strings.Count(lit.Value, "{")
		}
	}
	if count > maxOpen {
		w.unknown("braces stand for too many words")
		return []*syntax.Word{word}
	}
	if !syntax.SplitBraces(word) {
		return []*syntax.Word{word}
	}
	out, ok := spread(word.Parts)
	if !ok || len(out) > maxBraces {
		w.unknown("braces stand for too many words")
		return out[:min(len(out), maxBraces)]
	}
	return out
}

func spread(parts []syntax.WordPart) (out []*syntax.Word, ok bool) {
	out = []*syntax.Word{{}}
	for _, part := range parts {
		choices := []*syntax.Word{{Parts: []syntax.WordPart{part}}}
		if b, braced := part.(*syntax.BraceExp); braced {
			if choices, ok = elements(b); !ok {
				return out, false
			}
		}
		if len(out)*len(choices) > maxBraces {
			return out, false
		}
		next := make([]*syntax.Word, 0, len(out)*len(choices))
		for _, o := range out {
			for _, c := range choices {
				next = append(next, &syntax.Word{Parts: append(o.Parts[:len(o.Parts):len(o.Parts)], c.Parts...)})
			}
		}
		out = next
	}
	return out, true
}

func elements(b *syntax.BraceExp) (out []*syntax.Word, ok bool) {
	if b.Sequence {
		return sequence(b)
	}
	for _, e := range b.Elems {
		words, ok := spread(e.Parts)
		if !ok || len(out)+len(words) > maxBraces {
			return nil, false
		}
		out = append(out, words...)
	}
	return out, true
}

// sequence expands {1..9..2} and {a..e}.
func sequence(b *syntax.BraceExp) (out []*syntax.Word, ok bool) {
	first, last := b.Elems[0].Lit(), b.Elems[1].Lit()
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	letters := err != nil && err2 != nil && len(first) == 1 && len(last) == 1
	if letters {
		from, to = int(first[0]), int(last[0])
	} else if err != nil || err2 != nil {
		return nil, false
	}
	step := 1
	if len(b.Elems) > 2 {
		if step, err = strconv.Atoi(b.Elems[2].Lit()); err != nil || step == 0 {
			return nil, false
		}
		step = max(step, -step)
	}
	if from > to {
		step = -step
	}
	count := (to - from) / step
	if count < 0 || count > maxBraces {
		return nil, false
	}
	width := 0
	if padded(first) || padded(last) { // 08 makes all of them as long as the longer end
		width = max(len(first), len(last))
	}
	for i := range count + 1 {
		text := fmt.Sprintf("%0*d", width, from+i*step)
		if letters {
			text = string(rune(from + i*step))
		}
		out = append(out, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}})
	}
	return out, true
}

// padded reports whether a number begins with a zero that it does not need.
func padded(number string) bool {
	digits := strings.TrimPrefix(number, "-")
	return len(digits) > 1 && digits[0] == '0'
}
