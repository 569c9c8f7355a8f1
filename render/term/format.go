package term

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Format is a template of the status line or the prompt:
//
//	{field}   the field's value
//	[...]     omitted if every field inside it is empty
//	{wrap}    two blanks, or a line break if what follows does not fit
//	\x        the character x itself; \n a line break
//
// Blanks at the end of a line, and empty lines, are dropped.
type Format struct{ parts []part }

// part is a piece of a Format: a text, a field or a group.
type part struct {
	text  string
	field string
	group []part
}

const wrapField = "wrap"

// wrapMark stands for wrapField until the widths are known. Values contain no control
// characters, so no value contains it.
const wrapMark = "\x00"

// ParseFormat parses a template. known are the fields it may contain; an error says what is
// wrong and where, by character.
func ParseFormat(s string, known []string) (Format, error) {
	p := formatParser{text: []rune(s), known: known}
	parts, err := p.parts(false)
	return Format{parts}, err
}

type formatParser struct {
	text  []rune
	at    int
	known []string
}

func (p *formatParser) parts(inside bool) (out []part, err error) {
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		var next part
		switch c {
		case '{':
			next, err = p.field()
		case '[':
			next, err = p.group()
		case ']':
			if inside {
				return out, nil
			}
			err = fmt.Errorf("character %d: ] closes nothing", p.at)
		case '\\':
			next, err = p.escaped()
		default:
			next.text = string(c)
		}
		if err != nil {
			return nil, err
		}
		out = appendPart(out, next)
	}
	if inside {
		return nil, errors.New("a [ is not closed")
	}
	return out, nil
}

// appendPart merges adjacent texts, so that a value is painted or cut as a whole.
func appendPart(parts []part, next part) []part {
	if n := len(parts); n > 0 && next.text != "" && parts[n-1].text != "" {
		parts[n-1].text += next.text
		return parts
	}
	return append(parts, next)
}

func (p *formatParser) field() (part, error) {
	start := p.at
	end := slices.Index(p.text[p.at:], '}')
	if end < 0 {
		return part{}, fmt.Errorf("character %d: a { is not closed", start)
	}
	name := string(p.text[p.at : p.at+end])
	p.at += end + 1
	if !slices.Contains(p.known, name) {
		return part{}, fmt.Errorf("character %d: no field %q (one of %s)", start, name, strings.Join(p.known, ", "))
	}
	return part{field: name}, nil
}

func (p *formatParser) group() (part, error) {
	start := p.at
	inner, err := p.parts(true)
	if err == nil && !hasField(inner) {
		err = fmt.Errorf("character %d: a group has no field in it", start)
	}
	return part{group: inner}, err
}

func hasField(parts []part) bool {
	return slices.ContainsFunc(parts,
		func(p part) bool { return p.field != "" && p.field != wrapField || hasField(p.group) })
}

func (p *formatParser) escaped() (part, error) {
	if p.at == len(p.text) {
		return part{}, errors.New(`a \ at the end escapes nothing`)
	}
	c := p.text[p.at]
	p.at++
	if c == 'n' {
		c = '\n'
	}
	return part{text: string(c)}, nil
}

// fill returns the template with the values of its fields. width is where
// {wrap} breaks, 0 for always.
func (f Format) fill(value func(field string) string, width int) string {
	text, _ := fill(f.parts, value)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		for l := range strings.SplitSeq(layOut(line, width), "\n") {
			if l = strings.TrimRight(l, " "); l != "" {
				lines = append(lines, l)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// layOut replaces each wrapMark by two blanks where both sides fit on a line.
func layOut(line string, width int) string {
	pieces := strings.Split(line, wrapMark)
	out, column := pieces[0], Width(pieces[0])
	for _, p := range pieces[1:] {
		w := Width(p)
		switch {
		case w == 0 || column == 0:
			out, column = out+p, column+w
		case column+2+w <= width:
			out, column = out+"  "+p, column+2+w
		default:
			out, column = out+"\n"+p, w
		}
	}
	return out
}

// fill reports whether any field had a value.
func fill(parts []part, value func(string) string) (text string, any bool) {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.group != nil:
			if inner, some := fill(p.group, value); some {
				b.WriteString(inner)
				any = true
			}
		case p.field == wrapField:
			b.WriteString(wrapMark)
		case p.field != "":
			v := value(p.field)
			b.WriteString(v)
			any = any || v != ""
		default:
			b.WriteString(p.text)
		}
	}
	return b.String(), any
}
