package installer

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// Values to write, in order. The layout is that of JSON.stringify, because Claude Code
// rewrites the file that way, and then leaves our text unchanged.
type (
	object []member
	member struct {
		name  string
		value any // object, array, string, int or bool
	}
	array []any
)

// layout is how a file is written.
type layout struct {
	newline string // "\n" or "\r\n"
	unit    string // one step of indentation
	spaced  bool   // a blank follows colon and comma within a line
	oneLine bool   // the whole file is one line
}

// layoutOf reads the layout from a file's text.
func layoutOf(d *document) layout {
	l := layout{newline: "\n", unit: "  ", spaced: true}
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		l.newline = "\r\n"
	}
	if len(d.root.items) == 0 {
		return l
	}
	inside := d.text[d.root.open:d.root.close]
	l.oneLine = bytes.IndexByte(inside, '\n') < 0
	colon := d.tree.Members[0].Value
	l.spaced = len(colon.BeforeExtra) > 0
	if _, indent, ok := lastLine(spaceBefore(d.text, d.root.items[0].start)); ok {
		l.unit = strings.TrimPrefix(indent, lineIndent(d.text, d.root.open))
	}
	return l
}

// flat writes v on one line.
func (l layout) flat(v any) []byte {
	gap := ""
	if l.spaced {
		gap = " "
	}
	return write(nil, v, func(int) string { return "" }, gap, ","+gap, 0)
}

// lines writes v over several lines; the line it starts on is indented by indent.
func (l layout) lines(v any, indent string) []byte {
	gap := ""
	if l.spaced {
		gap = " "
	}
	wrap := func(depth int) string { return l.newline + indent + strings.Repeat(l.unit, depth) }
	return write(nil, v, wrap, gap, ",", 0)
}

// write appends v. wrap returns what precedes an item or closing bracket at a depth.
func write(b []byte, v any, wrap func(int) string, colon, comma string, depth int) []byte {
	switch v := v.(type) {
	case object:
		b = writeItems(append(b, '{'), v, wrap, colon, comma, depth)
		b = append(b, '}')
	case array:
		b = writeItems(append(b, '['), v, wrap, colon, comma, depth)
		b = append(b, ']')
	case member:
		b = append(append(b, hujson.String(v.name)...), ":"+colon...)
		b = write(b, v.value, wrap, colon, comma, depth)
	case string:
		b = append(b, hujson.String(v)...)
	case int:
		b = strconv.AppendInt(b, int64(v), 10)
	case bool:
		b = strconv.AppendBool(b, v)
	}
	return b
}

func writeItems[T any](b []byte, items []T, wrap func(int) string, colon, comma string, depth int) []byte {
	for i, item := range items {
		if i > 0 {
			b = append(b, comma...)
		}
		b = write(append(b, wrap(depth+1)...), item, wrap, colon, comma, depth+1)
	}
	return append(b, wrap(depth)...)
}

// spaceBefore returns the white space that ends at offset.
func spaceBefore(text []byte, offset int) []byte {
	return text[len(bytes.TrimRight(text[:offset], " \t\r\n")):offset]
}

// lastLine splits white space at its last line end, and reports whether it has one, followed
// by an indentation of blanks and tabs.
func lastLine(space []byte) (newline, indent string, ok bool) {
	i := bytes.LastIndexByte(space, '\n')
	if i < 0 || bytes.IndexByte(space[i:], '\r') >= 0 {
		return "", "", false
	}
	newline = "\n"
	if i > 0 && space[i-1] == '\r' {
		newline = "\r\n"
	}
	return newline, string(space[i+1:]), true
}

// lineIndent returns the indentation of the line that contains offset.
func lineIndent(text []byte, offset int) string {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
