package installer

import (
	"bytes"
	"encoding/json"
	"strings"
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
	if len(d.root.Members) == 0 {
		return l
	}
	first := d.root.Members[0]
	l.oneLine = !bytes.Contains(d.text[d.file.StartOffset:d.file.EndOffset], []byte("\n"))
	l.spaced = len(first.Value.BeforeExtra) > 0
	if _, indent, ok := lastLine(first.Name.BeforeExtra); ok {
		l.unit = strings.TrimPrefix(indent, lineIndent(d.text, d.file.StartOffset))
	}
	return l
}

// lines writes v over several lines, as JSON.stringify does: Claude Code rewrites the file that
// way, and then leaves our text unchanged. The line it starts on is indented by indent.
func (l layout) lines(v any, indent string) string {
	return strings.ReplaceAll(indented(v, indent, l.unit), "\n", l.newline)
}

var joinLines = strings.NewReplacer(",\n", ", ", "\n", "")

// flat writes v on one line.
func (l layout) flat(v any) string {
	if !l.spaced {
		return string(encode(v))
	}
	return joinLines.Replace(indented(v, "", "")) // a string has no line ends
}

// pretty writes v in the layout of our own files.
func pretty(v any) []byte { return []byte(indented(v, "", "  ") + "\n") }

func indented(v any, prefix, unit string) string {
	var b bytes.Buffer
	_ = json.Indent(&b, encode(v), prefix, unit) // valid JSON
	return b.String()
}

// encode writes v, of a type of ours, as JSON with <, > and & as they are.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // our types always encode
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// whiteSpace is what JSON takes for it.
const whiteSpace = " \t\r\n"

// lastLine splits the white space that extra ends with at its last line end, and reports whether
// it has one, followed by an indentation of blanks and tabs.
func lastLine(extra []byte) (newline, indent string, ok bool) {
	space := extra[len(bytes.TrimRight(extra, whiteSpace)):]
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
