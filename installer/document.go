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

// document is a settings file: its text, and its syntax tree with all white space and comments. An
// edit changes the tree, so that everything else keeps its bytes.
type document struct {
	mark   []byte // a byte order mark, or nothing
	text   []byte // as it was read, without the mark
	file   hujson.Value
	layout layout
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

// parse parses settings, which are an empty object if the file is blank. Those of some agents are
// lax: they may contain comments. The error is a *settingsError.
func parse(data []byte, lax bool) (*document, error) {
	_, text := cutBOM(data)
	if !lax && !isBlank(text) {
		if err := checkSyntax(text); err != nil {
			return nil, err
		}
	}
	d, err := parseTree(data)
	if err != nil {
		return nil, err
	}
	for v := range d.file.All() {
		list, _ := items(v)
		if n := len(list); n > 0 && list[n-1].value.AfterExtra != nil {
			last := list[n-1].value
			return nil, problemAt(text, last.EndOffset+len(last.AfterExtra), "", notJSON,
				"the client reads JSON without trailing commas")
		}
	}
	return d, nil
}

const (
	endsEarly = "the file ends too early"
	cutOff    = "it may have been cut off while it was written"
	notJSON   = "not valid JSON here"
)

// checkSyntax accepts exactly what encoding/json accepts. Its error is in words of our own: the
// decoder's quote the file.
func checkSyntax(text []byte) error {
	var whole json.RawMessage
	err := json.Unmarshal(text, &whole)
	se, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return err
	}
	at := max(0, min(int(se.Offset)-1, len(text)))
	if at == len(text) || strings.Contains(err.Error(), "unexpected end") {
		return problemAt(text, len(text), "", endsEarly, cutOff)
	}
	return problemAt(text, at, "", notJSON, "the client reads plain JSON: no comments, no trailing commas, UTF-8")
}

// parseTree parses an object of JSON that may have comments and trailing commas.
func parseTree(data []byte) (*document, error) {
	mark, text := cutBOM(data)
	if isBlank(text) {
		text = []byte("{}\n")
	}
	file, err := hujson.Parse(append(slices.Clip(text), '\n')) // where a comment ends for it, not at the file's end
	if err != nil {                                            // whose words may quote the file
		e := &settingsError{Line: 1, Column: 1, Problem: notJSON, advice: "the client reads JSON with comments"}
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &e.Line, &e.Column)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			e.Problem, e.advice = endsEarly, cutOff
		}
		return nil, e
	}
	if file.Value.Kind() != '{' {
		return nil, problemAt(text, file.StartOffset, "", "settings are not an object",
			"settings begin with { and end with }")
	}
	return &document{mark, text, file, layoutOf(text, &file)}, nil
}

func problemAt(text []byte, offset int, path, what, hint string) error {
	before := text[:min(offset, len(text))]
	return &settingsError{
		Line:    1 + bytes.Count(before, []byte("\n")),
		Column:  1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]),
		Path:    path,
		Problem: what,
		advice:  advice(hint),
	}
}

// bytes returns the settings as they are now.
func (d *document) bytes() []byte {
	text := d.file.Pack()
	return slices.Concat(d.mark, text[:len(text)-1]) // without the line end that parseTree adds
}

// valueOf returns a value that is written as text, which is JSON of ours.
func valueOf(text string) hujson.Value {
	v, _ := hujson.Parse([]byte(text))
	return v
}

// item is a member of an object, or an element of an array.
type item struct {
	name   string // of a member
	value  *hujson.Value
	start  int           // the offset of its name, or of its value
	before *hujson.Extra // in front of it
	inside hujson.Extra  // between name and value, and from there to the comma
}

// items returns what an object or array contains, and the white space and comments at its end.
func items(c *hujson.Value) (list []item, end *hujson.Extra) {
	switch c := c.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			m := &c.Members[i]
			inside := slices.Concat(m.Name.AfterExtra, m.Value.BeforeExtra, m.Value.AfterExtra)
			list = append(list, item{stringValue(m.Name), &m.Value, m.Name.StartOffset, &m.Name.BeforeExtra, inside})
		}
		return list, &c.AfterExtra
	case *hujson.Array:
		for i := range c.Elements {
			e := &c.Elements[i]
			list = append(list, item{"", e, e.StartOffset, &e.BeforeExtra, e.AfterExtra})
		}
		return list, &c.AfterExtra
	}
	return nil, new(hujson.Extra)
}

// members returns what is at the top.
func (d *document) members() []item {
	list, _ := items(&d.file)
	return list
}

// member returns the last value of that name in an object, as the client reads it, or nil.
func member(c *hujson.Value, name string) (v *hujson.Value) {
	list, _ := items(c)
	for _, m := range list {
		if m.name == name && c.Value.Kind() == '{' {
			v = m.value
		}
	}
	return v
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

// comments joins what is between values, without the commas; white space alone is dropped.
func comments(extras ...hujson.Extra) hujson.Extra {
	if text := slices.Concat(extras...); !isBlank(text) {
		return text
	}
	return nil
}

// cut removes item i of a container with its comma. Comments around it stay.
func cut(c *hujson.Value, i int) {
	list, end := items(c)
	it := list[i]
	switch {
	case i+1 < len(list):
		next := list[i+1].before
		*next = slices.Concat(*it.before, comments(it.inside, *next))
	case i > 0:
		previous := list[i-1].value
		*end = slices.Concat(comments(previous.AfterExtra, *it.before, it.inside), *end)
		previous.AfterExtra = nil // no comma
	default:
		*end = comments(*it.before, it.inside, *end)
	}
	switch c := c.Value.(type) {
	case *hujson.Object:
		c.Members = slices.Delete(c.Members, i, i+1)
	case *hujson.Array:
		c.Elements = slices.Delete(c.Elements, i, i+1)
	}
}

// layout is how a file is written.
type layout struct {
	newline string // "\n" or "\r\n"; empty if the whole file is one line
	unit    string // one step of indentation
	spaced  bool   // a blank follows colon and comma within a line
}

// layoutOf reads the layout of a file.
func layoutOf(text []byte, file *hujson.Value) layout {
	l := layout{newline: "\n", unit: "  ", spaced: true}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		l.newline = "\r\n"
	}
	list, _ := items(file)
	if len(list) == 0 {
		return l
	}
	l.spaced = len(list[0].value.BeforeExtra) > 0
	before := *list[0].before
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 && isBlank(before[i:]) {
		l.unit = strings.Trim(string(before[i:]), "\r\n")
	} else if !bytes.Contains(text[file.StartOffset:file.EndOffset], []byte("\n")) {
		l.newline = ""
	}
	return l
}

// text writes v, indented by depth steps, as JSON.stringify does: Claude Code rewrites the file
// that way, and then leaves our text unchanged.
func (l layout) text(v any, depth int) string {
	if list, ok := v.([]string); ok { // of a few words, which stand on one line
		return layout{spaced: true}.text(any(wordList(list)), 0)
	}
	switch {
	case l.newline != "":
		return strings.ReplaceAll(indented(v, strings.Repeat(l.unit, depth), l.unit), "\n", l.newline)
	case l.spaced:
		return joinLines.Replace(indented(v, "", "")) // a string has no line ends
	}
	return string(encode(v))
}

type wordList []string

var joinLines = strings.NewReplacer(",\n", ", ", "\n", "")

// put appends an item to a container that is depth steps deep, behind the comments there; name
// is its name in an object.
func (d *document) put(c *hujson.Value, name string, v any, depth int) {
	l := d.layout
	list, end := items(c)
	said := bytes.TrimRight(*end, whiteSpace)
	before, behind := "", (*end)[len(said):]
	switch {
	case l.newline != "":
		before = l.newline + strings.Repeat(l.unit, depth+1)
		if len(list) == 0 && len(said) == 0 {
			behind = hujson.Extra(l.newline + strings.Repeat(l.unit, depth))
		}
	case l.spaced && len(list) > 0:
		before = " "
	}
	if len(said) > 0 && !strings.Contains(before, "\n") {
		before = "\n" // the comment may reach to the end of its line
	}
	extra := slices.Concat(said, []byte(before))
	value := valueOf(l.text(v, depth+1))
	switch c := c.Value.(type) {
	case *hujson.Object:
		if l.spaced || l.newline != "" {
			value.BeforeExtra = hujson.Extra(" ")
		}
		key := hujson.Value{BeforeExtra: extra, Value: hujson.String(name)}
		c.Members = append(c.Members, hujson.ObjectMember{Name: key, Value: value})
	case *hujson.Array:
		value.BeforeExtra = extra
		c.Elements = append(c.Elements, value)
	}
	*end = behind
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
