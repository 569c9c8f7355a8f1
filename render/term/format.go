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
type Format struct{ text []rune }

const wrapField = "wrap"

// wrapMark stands for wrapField until the widths are known. Values contain no control
// characters, so no value contains it.
const wrapMark = "\x00"

// ParseFormat parses a template. known are the fields it may contain; an error says what is
// wrong and where, by character.
func ParseFormat(s string, known []string) (Format, error) {
	f := Format{[]rune(s)}
	e := expansion{text: f.text, known: known, value: func(string) string { return "" }}
	_, err := e.group(false)
	return f, err
}

// expansion is one reading of a template: it checks it, and fills it in.
type expansion struct {
	text  []rune
	at    int
	known []string // nil: the fields have been checked
	value func(field string) string

	fields, values int // read so far
}

// group reads to the end of a group, or of the template.
func (e *expansion) group(inside bool) (string, error) {
	var b strings.Builder
	for e.at < len(e.text) {
		c := e.text[e.at]
		e.at++
		next, err := string(c), error(nil)
		switch c {
		case '{':
			next, err = e.field()
		case '[':
			start, fields, values := e.at, e.fields, e.values
			if next, err = e.group(true); err == nil && e.fields == fields {
				err = fmt.Errorf("character %d: a group has no field in it", start)
			}
			if e.values == values {
				next = ""
			}
		case ']':
			if inside {
				return b.String(), nil
			}
			err = fmt.Errorf("character %d: ] closes nothing", e.at)
		case '\\':
			if e.at == len(e.text) {
				return "", errors.New(`a \ at the end escapes nothing`)
			}
			next = strings.Replace(string(e.text[e.at]), "n", "\n", 1)
			e.at++
		}
		if err != nil {
			return "", err
		}
		b.WriteString(next)
	}
	if inside {
		return "", errors.New("a [ is not closed")
	}
	return b.String(), nil
}

// field reads a field after its brace, and returns its value.
func (e *expansion) field() (string, error) {
	start, end := e.at, slices.Index(e.text[e.at:], '}')
	if end < 0 {
		return "", fmt.Errorf("character %d: a { is not closed", start)
	}
	name := string(e.text[start : start+end])
	e.at += end + 1
	if e.known != nil && !slices.Contains(e.known, name) {
		return "", fmt.Errorf("character %d: no field %q (one of %s)", start, name, strings.Join(e.known, ", "))
	}
	if name == wrapField {
		return wrapMark, nil
	}
	e.fields++
	v := e.value(name)
	if v != "" {
		e.values++
	}
	return v, nil
}

// fill returns the template with the values of its fields. width is where {wrap} breaks, 0 for
// always.
func (f Format) fill(value func(field string) string, width int) string {
	e := expansion{text: f.text, value: value}
	text, _ := e.group(false) // ParseFormat has checked it
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
		w, between := Width(p), ""
		switch {
		case w == 0 || column == 0:
		case column+2+w <= width:
			between, column = "  ", column+2
		default:
			between, column = "\n", 0
		}
		out, column = out+between+p, column+w
	}
	return out
}
