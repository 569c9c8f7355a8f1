package event

import (
	"bytes"
	"io"
	"slices"
	"unsafe"

	"github.com/tidwall/gjson"
)

const (
	// MaxPayload is the largest payload read whole, in bytes. Of a larger one the members that
	// end within it are kept.
	MaxPayload = 64 << 20
	// MaxDepth is the deepest nesting accepted: checking JSON takes stack for every level, and a
	// stack that overflows ends the process.
	MaxDepth = 1000

	chunk = 64 << 10 // what a pipe holds, and more than nearly all payloads have
	// grown is how much the buffer of a larger payload has. What is not used of it costs nothing,
	// while every copy would touch new pages; with 4 MiB the garbage collector would run.
	grown = 3 << 20
)

// SyntaxError is the error for a payload that is not JSON, or not a JSON object. It contains
// no text of the payload.
type SyntaxError string

func (e SyntaxError) Error() string { return "reading payload: " + string(e) }

// The errors of a payload.
const (
	notJSON   SyntaxError = "payload is not JSON"
	notObject SyntaxError = "payload is not an object"
	isEmpty   SyntaxError = "payload is empty"
	tooDeep   SyntaxError = "nesting is too deep"
	cutShort  SyntaxError = "unexpected end"
)

// byteOrderMark is what some programs on Windows write first.
const byteOrderMark = "\xef\xbb\xbf"

// document is the JSON text of a payload.
type document struct {
	text []byte
	scan scanner
	// large: the input has more than MaxPayload bytes, of which text has the first.
	large bool
}

// read reads the first object or array from r. It does not wait for more: a client may keep its
// end of the pipe open.
func read(r io.Reader) (d document, err error) {
	d.text = make([]byte, 0, chunk)
	for {
		if len(d.text) == cap(d.text) {
			d.text = slices.Grow(d.text, max(grown-chunk, 3*len(d.text)))
		}
		into := d.text[len(d.text):cap(d.text)]
		n, err := r.Read(into)
		end := d.scan.end(into[:n])
		if d.large = d.large || len(d.text)+n > MaxPayload; !d.large {
			d.text = d.text[:len(d.text)+n]
		}
		switch {
		case end >= 0:
			d.text = d.text[:min(int64(len(d.text)), d.scan.n)]
			return d, nil
		case err == io.EOF:
			return d, nil
		case err != nil:
			return d, err
		}
	}
}

// documentOf returns the document in p, which nobody may change any more.
func documentOf(p []byte) (d document) {
	d.text = p[:min(len(p), MaxPayload)]
	d.large = len(p) > MaxPayload
	d.scan.end(p)
	return d
}

// check returns an error unless d is one JSON text, and leaves out the white space between its
// tokens.
func (d *document) check() error {
	d.text = bytes.Trim(bytes.TrimPrefix(d.text, []byte(byteOrderMark)), " \t\r\n")
	switch {
	case len(d.text) == 0:
		return isEmpty
	case d.scan.deep:
		return tooDeep
	case d.large || d.scan.open():
		return cutShort
	case !gjson.ValidBytes(d.text):
		return notJSON
	case d.scan.spaced:
		d.text = []byte(gjson.Get(string(d.text), "@ugly").Raw)
	}
	return nil
}

// object returns the object that d is.
func (d *document) object() (v gjson.Result, err error) {
	if err = d.check(); err != nil {
		return v, err
	}
	// Not a copy: nobody writes to text any more.
	v = gjson.Parse(unsafe.String(unsafe.SliceData(d.text), len(d.text)))
	if !v.IsObject() {
		err = notObject
	}
	return v, err
}

// whole reduces a document whose end is missing to the members that are whole.
func (d *document) whole() document {
	begin := bytes.IndexByte(d.text, '{')
	if begin < 0 || d.scan.member <= int64(begin) || d.scan.member > int64(len(d.text)) {
		return document{text: []byte("{}")}
	}
	return documentOf(append(d.text[begin:d.scan.member:d.scan.member], '}'))
}

// Check returns a JSON text without the white space between its tokens, and an error, which is a
// SyntaxError, if it is none. A byte order mark before it is left out.
func Check(text []byte) ([]byte, error) {
	d := documentOf(text)
	err := d.check()
	return d.text, err
}

// scanner finds the end of a JSON object or array, piece by piece. It knows strings and brackets,
// and nothing of what is wrong between them.
type scanner struct {
	n      int64 // bytes scanned
	depth  int
	inside bool // a string
	escape bool // the next byte of it is escaped
	spaced bool // there is white space between tokens
	deep   bool // the nesting is deeper than MaxDepth
	// member is where, in the first MaxPayload bytes, the last member of the outermost value
	// ends that another one follows.
	member int64
}

// open reports whether the end is missing.
func (s *scanner) open() bool { return s.depth > 0 || s.inside }

// end scans the next piece. It returns the index behind the end of the outermost value, -1 if
// that is not in p. It stops there, and where the nesting is too deep.
func (s *scanner) end(p []byte) int {
	for i := 0; i < len(p); i++ {
		if s.escape {
			s.escape = false
			continue
		} else if s.inside {
			n := bytes.IndexAny(p[i:], `"\\`)
			if n < 0 {
				break
			}
			i += n
			s.escape = p[i] == '\\'
			s.inside = s.escape
			continue
		}
		switch p[i] {
		case '"':
			s.inside = true
		case ' ', '\t', '\r', '\n':
			s.spaced = s.spaced || s.depth > 0
		case ',':
			if s.depth == 1 && s.n+int64(i) < MaxPayload {
				s.member = s.n + int64(i)
			}
		case '{', '[':
			s.depth++
			s.deep = s.depth > MaxDepth
		case '}', ']':
			s.depth--
		default:
			continue
		}
		if s.deep || s.depth <= 0 && (p[i] == '}' || p[i] == ']') {
			s.n += int64(i) + 1
			return i + 1
		}
	}
	s.n += int64(len(p))
	return -1
}
