package installer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// checkSyntax accepts exactly what encoding/json accepts. Its error is a
// *settingsError in words of our own: the decoder's words quote the file.
func checkSyntax(text []byte) error {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return problemAt(text, 0, "", "text is not UTF-8", "save the file as UTF-8")
	}
	var whole json.RawMessage
	err := json.Unmarshal(text, &whole)
	if err == nil {
		return nil
	}
	offset := len(text)
	if se, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = max(0, min(int(se.Offset)-1, len(text)))
	}
	if strings.Contains(err.Error(), "unexpected end") {
		offset = len(text)
	}
	return syntaxProblem(text, offset)
}

// parseLax parses JSON that may have comments, but no trailing commas.
func parseLax(text []byte) (hujson.Value, error) {
	end := []byte("\n") // hujson ends a comment there, not at the end of the file
	file, err := hujson.Parse(slices.Concat(text, end))
	if err != nil {
		return file, laxProblem(err)
	}
	file.AfterExtra = bytes.TrimSuffix(file.AfterExtra, end)
	for v := range file.All() {
		list, _ := items(v.Value)
		if n := len(list); n > 0 && list[n-1].Value.AfterExtra != nil {
			last := list[n-1].Value
			return file, problemAt(text, last.EndOffset+len(last.AfterExtra), "", trailingComma, noTrailingComma)
		}
	}
	return file, nil
}

// laxProblem tells where hujson's error is, without its words, which may quote the file.
func laxProblem(err error) error {
	var line, column int
	_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column)
	e := &settingsError{Line: line, Column: column, Problem: "not valid JSON here", advice: "the client reads JSON with comments"}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		e.Problem, e.advice = endsEarly, cutOff
	}
	return e
}

const (
	endsEarly = "the file ends too early"
	cutOff    = "it may have been cut off while it was written"

	trailingComma   = "trailing comma"
	noTrailingComma = "the client reads JSON without trailing commas"
)

// syntaxProblem names what stands at the offset where text stops being JSON.
func syntaxProblem(text []byte, offset int) error {
	path := pathAt(text[:offset])
	if offset == len(text) {
		return problemAt(text, offset, path, endsEarly, cutOff)
	}
	before := bytes.TrimRight(text[:offset], " \t\r\n")
	switch c := text[offset]; {
	case (c == '}' || c == ']') && bytes.HasSuffix(before, []byte(",")):
		return problemAt(text, len(before)-1, path, trailingComma, noTrailingComma)
	case c == '/' || c == '#':
		return problemAt(text, offset, path, "comment", "the client reads JSON without comments")
	case c == '\'':
		return problemAt(text, offset, path, "single quote", "JSON strings take double quotes")
	case c < ' ':
		return problemAt(text, offset, path, "control character inside a string", "is a closing quote missing?")
	default:
		return problemAt(text, offset, path, "not valid JSON here", "the client reads plain JSON")
	}
}

// pathLimit bounds the steps of a path in an error; hooks need six.
const pathLimit = 16

// pathAt is the JSON path of the value at the end of prefix, the valid beginning of a document.
func pathAt(prefix []byte) string {
	var open []step
	for d := json.NewDecoder(bytes.NewReader(prefix)); ; {
		token, err := d.Token()
		if err != nil {
			break
		}
		top := len(open) - 1
		switch name, text := token.(string); {
		case token == json.Delim('{') || token == json.Delim('['):
			open = append(open, step{array: token == json.Delim('[')})
			continue
		case token == json.Delim('}') || token == json.Delim(']'):
			open = open[:top]
		case text && top >= 0 && !open[top].array && !open[top].named:
			open[top].key, open[top].named = name, true
			continue
		}
		if top = len(open) - 1; top >= 0 { // a value is complete
			open[top].named = false
			open[top].index++
		}
	}
	var b strings.Builder
	for i, s := range open {
		if i == pathLimit {
			b.WriteString("...")
			break
		}
		b.WriteString(s.String())
	}
	return strings.TrimPrefix(b.String(), ".")
}

// step is one open bracket on the way to a place.
type step struct {
	array bool
	index int
	key   string
	named bool // the value of key comes next; between members the object itself is the place
}

func (s step) String() string {
	switch {
	case s.array:
		return fmt.Sprintf("[%d]", s.index)
	case s.named:
		return pathKey(s.key)
	default:
		return ""
	}
}
