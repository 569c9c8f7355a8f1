package installer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// document is a settings file as a tree that has the white space and comments around every
// value, so what an edit does not touch cannot change.
type document struct {
	text []byte // without a byte order mark
	file hujson.Value
	root *hujson.Object
}

var bom = []byte("\xef\xbb\xbf")

// cutBOM splits a byte order mark from the text.
func cutBOM(b []byte) (mark, text []byte) {
	if bytes.HasPrefix(b, bom) {
		return bom, b[len(bom):]
	}
	return nil, b
}

// whiteSpace is what JSON takes for it.
const whiteSpace = " \t\r\n"

func isBlank(text []byte) bool { return len(bytes.Trim(text, whiteSpace)) == 0 }

// parse parses text without a byte order mark. The settings of some agents are lax: they may
// contain comments. The error is a *settingsError.
func parse(text []byte, lax bool) (*document, error) {
	if !lax {
		if err := checkSyntax(text); err != nil {
			return nil, err
		}
	}
	d, err := parseTree(text)
	if err != nil {
		return nil, err
	}
	for v := range d.file.All() {
		list, _ := items(v.Value)
		if n := len(list); n > 0 && list[n-1].Value.AfterExtra != nil {
			last := list[n-1].Value
			return nil, problemAt(text, last.EndOffset+len(last.AfterExtra), "", trailingComma, noTrailingComma)
		}
	}
	return d, nil
}

const (
	endsEarly = "the file ends too early"
	cutOff    = "it may have been cut off while it was written"

	trailingComma   = "trailing comma"
	noTrailingComma = "the client reads JSON without trailing commas"
)

// checkSyntax accepts exactly what encoding/json accepts. Its error is in words of our own: the
// decoder's quote the file.
func checkSyntax(text []byte) error {
	var whole json.RawMessage
	err := json.Unmarshal(text, &whole)
	se, ok := errors.AsType[*json.SyntaxError](err)
	if err == nil || !ok {
		return err
	}
	at := max(0, min(int(se.Offset)-1, len(text)))
	before := bytes.TrimRight(text[:at], whiteSpace)
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")):
		return problemAt(text, 0, "", "text is not UTF-8", "save the file as UTF-8")
	case at == len(text) || strings.Contains(err.Error(), "unexpected end"):
		return problemAt(text, len(text), "", endsEarly, cutOff)
	case bytes.HasSuffix(before, []byte(",")) && (text[at] == '}' || text[at] == ']'):
		return problemAt(text, len(before)-1, "", trailingComma, noTrailingComma)
	case text[at] == '/' || text[at] == '#':
		return problemAt(text, at, "", "comment", "the client reads JSON without comments")
	}
	return problemAt(text, at, "", "not valid JSON here", "the client reads plain JSON")
}

// parseTree parses an object of JSON that may have comments and trailing commas.
func parseTree(text []byte) (*document, error) {
	end := []byte("\n") // hujson ends a comment there, not at the end of the file
	file, err := hujson.Parse(slices.Concat(text, end))
	if err != nil { // whose words may quote the file
		e := &settingsError{Line: 1, Column: 1, Problem: "not valid JSON here", advice: "the client reads JSON with comments"}
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &e.Line, &e.Column)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			e.Problem, e.advice = endsEarly, cutOff
		}
		return nil, e
	}
	file.AfterExtra = bytes.TrimSuffix(file.AfterExtra, end)
	root, ok := file.Value.(*hujson.Object)
	if !ok {
		return nil, problemAt(text, file.StartOffset, "", "settings are not an object", "settings begin with { and end with }")
	}
	return &document{text, file, root}, nil
}

// parsed returns the tree of valid JSON.
func parsed(text []byte) hujson.ValueTrimmed {
	v, _ := hujson.Parse(text)
	return v.Value
}

func problemAt(text []byte, offset int, path, what, hint string) error {
	line, column := position(text, offset)
	return &settingsError{Line: line, Column: column, Path: path, Problem: what, advice: advice(hint)}
}

// position returns line and column, both from 1, the column in characters.
func position(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// stringValue returns the unescaped string, or "" for anything else.
func stringValue(v hujson.Value) string {
	if lit, ok := v.Value.(hujson.Literal); ok && lit.Kind() == '"' {
		return lit.String()
	}
	return ""
}

// standard returns a value as JSON without comments.
func standard(v hujson.Value) []byte {
	v = v.Clone()
	v.Standardize()
	return v.Pack()
}

// items returns what an object or array contains, an element as a member without a name, and
// what is between the last item and the closing bracket.
func items(c hujson.ValueTrimmed) (list []hujson.ObjectMember, end *hujson.Extra) {
	switch c := c.(type) {
	case *hujson.Object:
		return c.Members, &c.AfterExtra
	case *hujson.Array:
		for _, e := range c.Elements {
			list = append(list, hujson.ObjectMember{Value: e})
		}
		return list, &c.AfterExtra
	}
	return nil, nil
}

// setItems changes what an object or array contains.
func setItems(c hujson.ValueTrimmed, list []hujson.ObjectMember) {
	switch c := c.(type) {
	case *hujson.Object:
		c.Members = list
	case *hujson.Array:
		c.Elements = nil
		for _, m := range list {
			c.Elements = append(c.Elements, m.Value)
		}
	}
}

// lead is what is before an item.
func lead(m *hujson.ObjectMember) *hujson.Extra {
	if m.Name.Value == nil {
		return &m.Value.BeforeExtra
	}
	return &m.Name.BeforeExtra
}

// filter removes the items of an object or array that keep refuses; comments around them stay.
// keep may change an item. It reports whether only refused items were there.
func filter(c hujson.ValueTrimmed, keep func(m *hujson.ObjectMember) bool) (emptied bool) {
	list, end := items(c)
	var kept []hujson.ObjectMember
	var comments string    // of removed items
	var first hujson.Extra // white space before the first item
	if len(list) > 0 {
		first = (*lead(&list[0]))[len(comment(*lead(&list[0]))):]
	}
	for i := range list {
		m := &list[i]
		if !keep(m) {
			comments += comment(*lead(m))
			if m.Name.Value != nil {
				comments += comment(m.Name.AfterExtra) + comment(m.Value.BeforeExtra)
			}
			comments += comment(m.Value.AfterExtra)
			continue
		}
		if len(kept) == 0 && i > 0 && comment(*lead(m)) == "" {
			*lead(m) = first
		}
		*lead(m) = withComments(comments, *lead(m))
		comments = ""
		kept = append(kept, *m)
	}
	if len(kept) == len(list) {
		setItems(c, kept) // as keep may have changed them
		return false
	}
	if n := len(kept); n > 0 { // what is behind the last item must be no trailing comma
		last := &kept[n-1].Value
		comments = comment(last.AfterExtra) + comments
		last.AfterExtra = nil
	}
	if *end = withComments(comments, *end); len(kept) == 0 && isBlank(*end) {
		*end = nil
	}
	setItems(c, kept)
	return len(kept) == 0 && len(*end) == 0
}

// comment returns what is between two values up to its last comment.
func comment(extra hujson.Extra) string { return strings.TrimRight(string(extra), whiteSpace) }

// withComments puts comments before extra; the last may need a line end.
func withComments(comments string, extra hujson.Extra) hujson.Extra {
	if comments == "" {
		return extra
	}
	if both := hujson.Extra(comments + string(extra)); both.IsValid() {
		return both
	}
	return hujson.Extra(comments + "\n" + string(extra))
}

// layout is how a file is written.
type layout struct {
	newline string // "\n" or "\r\n"; empty if the whole file is one line
	unit    string // one step of indentation
	spaced  bool   // a blank follows colon and comma within a line
}

// layout reads the layout from the file's text.
func (d *document) layout() layout {
	l := layout{newline: "\n", unit: "  ", spaced: true}
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		l.newline = "\r\n"
	}
	if len(d.root.Members) == 0 {
		return l
	}
	first := d.root.Members[0]
	l.spaced = len(first.Value.BeforeExtra) > 0
	before := first.Name.BeforeExtra
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 && isBlank(before[i:]) {
		l.unit = strings.Trim(string(before[i:]), "\r\n")
	} else if !bytes.Contains(d.text[d.file.StartOffset:d.file.EndOffset], []byte("\n")) {
		l.newline = ""
	}
	return l
}

// text writes v, indented by depth steps, as JSON.stringify does: Claude Code rewrites the file
// that way, and then leaves our text unchanged.
func (l layout) text(v any, depth int) string {
	switch {
	case l.newline != "":
		return strings.ReplaceAll(indented(v, strings.Repeat(l.unit, depth), l.unit), "\n", l.newline)
	case l.spaced:
		return joinLines.Replace(indented(v, "", "")) // a string has no line ends
	}
	return string(encode(v))
}

var joinLines = strings.NewReplacer(",\n", ", ", "\n", "")

// put appends an item to a container that is depth steps deep; name is its name in an object.
func (l layout) put(c hujson.ValueTrimmed, name string, v any, depth int) {
	list, end := items(c)
	before := ""
	switch {
	case l.newline != "":
		before = l.newline + strings.Repeat(l.unit, depth+1)
		if len(list) == 0 && comment(*end) == "" {
			*end = hujson.Extra(l.newline + strings.Repeat(l.unit, depth))
		}
	case l.spaced && len(list) > 0:
		before = " "
	}
	// A comment behind the last item stays with it.
	said := comment(*end)
	*end = (*end)[len(said):]
	m := hujson.ObjectMember{Value: hujson.Value{Value: parsed([]byte(l.text(v, depth+1)))}}
	if c.Kind() == '{' {
		m.Name.Value = hujson.String(name)
		if l.spaced || l.newline != "" {
			m.Value.BeforeExtra = hujson.Extra(" ")
		}
	}
	if said != "" && !strings.Contains(before, "\n") {
		before = "\n" // the comment may reach to the end of its line
	}
	*lead(&m) = hujson.Extra(said + before)
	setItems(c, append(list, m))
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
