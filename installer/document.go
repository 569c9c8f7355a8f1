package installer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"beckon/event/typed"

	"github.com/tailscale/hujson"
)

// document is a settings file: its text, and its syntax tree with all white space and comments. An
// edit changes the tree, so that everything else keeps its bytes.
type document struct {
	mark []byte // a byte order mark, or nothing
	text []byte // as it was read, without the mark
	file hujson.Value
}

// cutBOM splits a byte order mark from the text.
func cutBOM(b []byte) (mark, text []byte) {
	n := len(b) - len(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
	return b[:n], b[n:]
}

// whiteSpace is what JSON takes for it.
const whiteSpace = " \t\r\n"

func isBlank(text []byte) bool { return len(bytes.Trim(text, whiteSpace)) == 0 }

const notJSON = "not valid JSON here"

// parse parses settings, which are an empty object if the file is blank. Those of some agents are
// lax: they may contain comments.
func parse(data []byte, lax bool) (*document, error) {
	d, err := parseTree(data)
	if err != nil || lax {
		return d, err
	}
	var all json.RawMessage
	if e, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(d.text, &all)); ok {
		return nil, d.problem(int(e.Offset)-1, notJSON, "the client reads plain JSON: no comments, no trailing commas, UTF-8")
	}
	return d, nil
}

// parseTree parses an object of JSON that may have comments and trailing commas. Its errors are in words
// of our own: the decoder's may quote the file.
func parseTree(data []byte) (*document, error) {
	mark, text := cutBOM(data)
	if isBlank(text) {
		text = []byte("{}\n")
	}
	file, err := hujson.Parse(append(slices.Clip(text), '\n')) // where a comment ends for it, not at the file's end
	d := &document{mark, text, file}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, d.problem(len(text), "the file ends too early", "it may have been cut off while it was written")
	case err != nil:
		line, column := 1, 1
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column)
		return nil, problem(line, column, notJSON, "the client reads plain JSON, UTF-8")
	case file.Value.Kind() != '{':
		return nil, d.problem(file.StartOffset, "settings are not an object", "settings begin with { and end with }")
	}
	return d, nil
}

// problem returns an error about the place of that offset.
func (d *document) problem(offset int, what, hint string) error {
	before := d.text[:min(offset, len(d.text))]
	line, column := 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n')
	return problem(line, column, what, hint)
}

func problem(line, column int, what, hint string) error {
	return typed.Advise(fmt.Errorf("line %d, column %d: %s", line, column, what), hint)
}

// bytes returns the settings as they are now.
func (d *document) bytes() []byte {
	text := d.file.Pack()
	return slices.Concat(d.mark, text[:len(text)-1]) // without the line end that parseTree adds
}

// valueOf returns v, of a type of ours, as it is written.
func valueOf(v any) hujson.Value {
	value, _ := hujson.Parse([]byte(oneLine(v)))
	return value
}

// item is a member of an object, or an element of an array.
type item struct {
	name   string // of a member
	value  *hujson.Value
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
			list = append(list, item{stringValue(m.Name), &m.Value, &m.Name.BeforeExtra, inside})
		}
		return list, &c.AfterExtra
	case *hujson.Array:
		for i := range c.Elements {
			e := &c.Elements[i]
			list = append(list, item{"", e, &e.BeforeExtra, e.AfterExtra})
		}
		return list, &c.AfterExtra
	}
	return nil, new(hujson.Extra)
}

// indexOf returns the index of the last member of that name in an object, which is the one that clients
// read, and its value; -1 and nil without one.
func indexOf(c *hujson.Value, name string) (int, *hujson.Value) {
	list, _ := items(c)
	for i, m := range slices.Backward(list) {
		if m.name == name && c.Value.Kind() == '{' {
			return i, m.value
		}
	}
	return -1, nil
}

// member returns the value of the last member of that name, or nil.
func member(c *hujson.Value, name string) *hujson.Value {
	_, v := indexOf(c, name)
	return v
}

// stringValue returns the unescaped string, or "" for anything else.
func stringValue(v hujson.Value) string {
	if lit, ok := v.Value.(hujson.Literal); ok && lit.Kind() == '"' {
		return lit.String()
	}
	return ""
}

// standard returns a value as JSON without comments, which are blanks then.
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

// put appends an item to a container that is depth steps deep, behind the comments there; name
// is its name in an object. It is indented as the item before it.
func put(c *hujson.Value, name string, value any, depth int) {
	list, end := items(c)
	said := bytes.TrimRight(*end, whiteSpace)
	behind := (*end)[len(said):]
	before := "\n" + strings.Repeat("  ", depth+1)
	if n := len(list); n > 0 {
		before = string(*list[n-1].before)
		before = cmp.Or(before[len(strings.TrimRight(before, whiteSpace)):], " ")
	} else if len(said) == 0 {
		behind = hujson.Extra("\n" + strings.Repeat("  ", depth))
	}
	if len(said) > 0 && !strings.Contains(before, "\n") { // the comment may reach to the end of its line
		before = "\n" + before
	}
	*end = behind
	extra, v := slices.Concat(said, []byte(before)), valueOf(value)
	switch c := c.Value.(type) {
	case *hujson.Object:
		v.BeforeExtra = hujson.Extra(" ")
		key := hujson.Value{BeforeExtra: extra, Value: hujson.String(name)}
		c.Members = append(c.Members, hujson.ObjectMember{Name: key, Value: v})
	case *hujson.Array:
		v.BeforeExtra = extra
		c.Elements = append(c.Elements, v)
	}
}

// oneLine writes v on one line.
func oneLine(v any) string { // a string has neither line ends nor tabs
	return strings.NewReplacer(",\n", ", ", "\n", "", "\t", "").Replace(string(encode(v, "\t")))
}

// encode writes v, of a type of ours, as JSON with <, > and & as they are.
func encode(v any, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	_ = e.Encode(v) // our types always encode
	return b.Bytes()
}
