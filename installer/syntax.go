package installer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// withoutComments returns text with blanks in the place of comments, so that every offset stays.
func withoutComments(text []byte) ([]byte, error) {
	plain := append(bytes.Clone(text), '\n') // hujson ends a comment there, not at the end of the file
	root, err := hujson.Parse(plain)
	if err != nil {
		var line, column int
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column)
		e := &settingsError{Line: line, Column: column, Problem: "not valid JSON here", advice: "the client reads JSON with comments"}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			e.Problem, e.advice = endsEarly, cutOff
		}
		return nil, e
	}
	blank := func(extra hujson.Extra) { // which is a part of plain
		for i, c := range extra {
			if c > ' ' {
				extra[i] = ' '
			}
		}
	}
	for v := range root.All() {
		blank(v.BeforeExtra)
		blank(v.AfterExtra)
		switch c := v.Value.(type) {
		case *hujson.Object:
			blank(c.AfterExtra)
		case *hujson.Array:
			blank(c.AfterExtra)
		}
	}
	return plain[:len(text)], nil
}

const (
	endsEarly = "the file ends too early"
	cutOff    = "it may have been cut off while it was written"
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
		return problemAt(text, len(before)-1, path, "trailing comma", "the client reads JSON without trailing commas")
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

// pathAt is the JSON path at the end of prefix, the valid beginning of a document.
func pathAt(prefix []byte) string {
	var stack []step
	for i := 0; i < len(prefix); i++ {
		top := len(stack) - 1
		switch prefix[i] {
		case '{':
			stack = append(stack, step{wantKey: true})
		case '[':
			stack = append(stack, step{array: true})
		case '}', ']':
			stack = stack[:max(top, 0)]
		case ',':
			if top >= 0 {
				stack[top] = step{array: stack[top].array, index: stack[top].index + 1, wantKey: !stack[top].array}
			}
		case '"':
			end := stringEnd(prefix, i)
			if top >= 0 && stack[top].wantKey && end <= len(prefix) {
				_ = json.Unmarshal(prefix[i:end], &stack[top].key)
				stack[top].wantKey = false
			}
			i = end - 1
		}
	}
	var b strings.Builder
	for i, s := range stack {
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
	array   bool
	index   int
	key     string
	wantKey bool // the next string is a key
}

func (s step) String() string {
	switch {
	case s.array:
		return fmt.Sprintf("[%d]", s.index)
	case s.wantKey:
		return "" // between members: the object itself is the place
	default:
		return pathKey(s.key)
	}
}

// stringEnd is the offset after the string that starts at i; past the end of an
// unfinished one.
func stringEnd(b []byte, i int) int {
	for j := i + 1; j < len(b); j++ {
		switch b[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return len(b) + 1
}
