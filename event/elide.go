package event

import (
	"bytes"
	"io"
	"strconv"
)

// Limits of Read, in bytes of JSON text.
const (
	// MaxString is the longest string kept whole. A longer one keeps a head of headKept and a
	// tail of at least MaxMessage characters of text, counting escapes, because the tail of a
	// final message says what is wanted.
	MaxString = 16 << 10
	headKept  = 4 << 10
	tailKept  = 2*MaxMessage + 2*markEvery

	// MaxMember is how much room one member of the payload may take up with nested elements (a
	// tool_response with thousands of small ones): the rest of them are left out, so that later
	// members are still read.
	MaxMember = 64 << 10
	// MaxPayload is the size from which members of the payload itself are left out.
	MaxPayload = 256 << 10
	// MaxDepth is the deepest nesting accepted.
	MaxDepth = 1000

	maxNumber = 1 << 10 // a longer number measures nothing: null

	markEvery = 2 << 10 // distance of the places where a string may be cut
	numMarks  = 8       // how many of them are remembered: more than tailKept needs
	markRoom  = 64      // an elision mark is shorter

	chunk    = 64 << 10                             // one read: what a pipe holds
	overshot = 2 * MaxString                        // a key and its value past MaxPayload
	reserve  = markRoom + MaxDepth + len(`"":null`) // kept free after a chunk, for endSkip
)

// SyntaxError is the error for a payload that is not JSON, or not a JSON object. It contains
// no text of the payload.
type SyntaxError struct {
	What   string // what is wrong, in a few words
	Offset int64  // where: an offset in the input as it was read
}

func (e *SyntaxError) Error() string {
	return "reading payload: " + e.What + " at offset " + strconv.FormatInt(e.Offset, 10)
}

// Read reads one JSON text, a byte order mark before it or not, from r until it ends and returns it compact and
// bounded, whatever its size: the space between tokens is dropped and
//
//   - of a string longer than MaxString the inside is replaced: HEAD…[elided N
//     bytes HASH]…TAIL, with N the bytes left out and HASH of the whole
//     string, both of its JSON text. The cuts split no character, no escape
//     and no surrogate pair.
//   - the elements of a top-level member behind its first MaxMember bytes, and
//     the top-level members behind MaxPayload, are replaced by one element
//     "…[elided N bytes HASH]…" (in an object, that key with null).
//   - a number longer than 1 KiB becomes null.
//
// The result is valid JSON if and only if the input is, with nesting up to
// MaxDepth; otherwise the error is a *SyntaxError. The result depends on the
// input's tokens alone, not on how they arrive. Memory stays below 400 KiB.
func Read(r io.Reader) ([]byte, error) {
	b, _, err := elide(r, roomy, false)
	return b, err
}

// roomy is the size of a buffer for input of any size.
const roomy = MaxPayload + overshot + chunk + reserve

// elideBytes is Read for a text in memory, with a buffer of its size. It does not write to p.
func elideBytes(p []byte) (_ []byte, at int64, _ error) {
	return elide(bytes.NewReader(p), min(len(p)+2*reserve, roomy), false)
}

// elider reads and writes in one buffer:
//
//	buf[:w]       the result so far
//	buf[seg:pos]  accepted, not yet moved to the result
//	buf[pos:end]  read, not yet looked at
//
// with w <= seg <= pos <= end. As long as nothing is left out w == seg, and
// nothing is moved.
type elider struct {
	r                io.Reader
	buf              []byte
	w, seg, pos, end int
	off              int64 // offset of buf[0] in the input, as seen from pos
	eof              bool
	err              error // of the reader
	bad              *SyntaxError

	state state
	depth int
	kinds nesting
	start int // where in buf the current top-level member starts

	skip skip
	str  text
}

// nesting records by depth whether the open containers are objects.
type nesting [MaxDepth + 1]bool

// inObject reports whether the innermost container is an object.
func (e *elider) inObject() bool { return e.kinds[e.depth] }

// skip is a range of elements to leave out: from a place inside depth containers until only
// base of them are open.
type skip struct {
	on          bool
	base, depth int
	kinds       nesting // at the place where it began
	n           int64
	sum         hash
}

// state is what the grammar expects next.
type state uint8

const (
	wantValue      state = iota
	wantFirstValue       // of an array: or its end
	wantFirstKey         // of an object: or its end
	wantKey
	wantColon
	wantComma // or the end of the container, or of the input
)

// elide is Read with a buffer of that size, and also returns where the text begins. With first
// it ends after the first value, since the writer may keep r open.
func elide(r io.Reader, size int, first bool) (_ []byte, at int64, _ error) {
	e := &elider{r: r, buf: make([]byte, size)}
	c, ok := e.space()
	if ok && c == byteOrderMark[0] {
		c, ok = e.unmarked()
	}
	at = e.off + int64(e.pos)
	if !ok && e.err == nil && e.bad == nil {
		return nil, at, &SyntaxError{"payload is empty", at}
	}
	for ok && e.step(c) && !(first && e.depth == 0) {
		c, ok = e.space()
	}
	if e.bad == nil && (e.state != wantComma || e.depth > 0) {
		e.fail(cutShort)
	}
	switch {
	case e.err != nil:
		return nil, at, e.err
	case e.bad != nil && e.bad.What == cutShort:
		e.flush()
		return e.buf[:e.w:e.w], at, e.bad
	case e.bad != nil:
		return nil, at, e.bad
	}
	e.flush()
	return e.buf[:e.w:e.w], at, nil
}

// byteOrderMark is what some programs on Windows write first.
const byteOrderMark = "\xef\xbb\xbf"

// unmarked skips a byte order mark and returns the first byte that counts.
func (e *elider) unmarked() (byte, bool) {
	e.flush()
	start := e.off + int64(e.pos)
	for i := range len(byteOrderMark) {
		if !e.more() || e.buf[e.pos] != byteOrderMark[i] {
			e.bad = &SyntaxError{"no value where one must be", start} // the error of encoding/json for part of a mark
			return 0, false
		}
		e.pos++
		e.seg = e.pos
	}
	return e.space()
}

func (e *elider) fail(what string) bool {
	if e.bad == nil {
		e.bad = &SyntaxError{what, e.off + int64(e.pos)}
	}
	return false
}

// flush moves what is accepted to the result, or to the sum of what is left out.
func (e *elider) flush() {
	p := e.buf[e.seg:e.pos]
	switch {
	case e.skip.on:
		e.skip.sum.write(p)
		e.skip.n += int64(len(p))
	case e.seg == e.w:
		e.w = e.pos
	default:
		e.w += copy(e.buf[e.w:], p)
	}
	e.seg = e.pos
}

// fill reads more if pos is at the end, and reports whether there is more.
func (e *elider) fill() bool {
	if e.eof {
		return false
	}
	e.flush()
	e.off += int64(e.pos - e.w)
	e.seg, e.pos, e.end = e.w, e.w, e.w
	free := e.buf[e.w : len(e.buf)-reserve]
	for tries := 0; e.end == e.pos && !e.eof; tries++ {
		n, err := e.r.Read(free[:min(len(free), chunk)])
		e.end += n
		if err == nil && n == 0 && tries == 100 {
			err = io.ErrNoProgress
		}
		e.eof = err != nil
		if err != nil && err != io.EOF {
			e.err = err
		}
	}
	return e.end > e.pos
}

// more reports whether there is a byte at pos, and reads if needed.
func (e *elider) more() bool { return e.pos < e.end || e.fill() }

// space skips the space at pos and returns the byte after it.
func (e *elider) space() (byte, bool) {
	for e.more() {
		c := e.buf[e.pos]
		if !isSpace(c) {
			return c, true
		}
		e.flush()
		for e.pos < e.end && isSpace(e.buf[e.pos]) {
			e.pos++
		}
		e.seg = e.pos
	}
	return 0, false
}

func isSpace(c byte) bool { return c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t') }

// step consumes the token that starts with c, the byte at pos.
func (e *elider) step(c byte) bool {
	switch e.state {
	case wantFirstKey:
		if c == '}' {
			return e.close()
		}
		return e.key(c)
	case wantKey:
		return e.key(c)
	case wantColon:
		if c != ':' {
			return e.fail("no colon after a key")
		}
		e.pos++
		e.state = wantValue
		return true
	case wantComma:
		return e.after(c)
	case wantFirstValue:
		if c == ']' {
			return e.close()
		}
	}
	if e.depth > 0 && !e.inObject() {
		e.element()
	}
	return e.value(c)
}

// element is called at the start of an element of an open container, where leaving out may
// begin.
func (e *elider) element() {
	if e.skip.on {
		return
	}
	out := e.w + e.pos - e.seg
	switch {
	case e.depth == 1:
		e.start = out
		if out >= MaxPayload {
			e.beginSkip(0)
		}
	case out-e.start >= MaxMember || out >= MaxPayload:
		e.beginSkip(1)
	}
}

func (e *elider) beginSkip(base int) {
	e.flush()
	e.skip = skip{on: true, base: base, depth: e.depth, kinds: e.kinds}
}

// endSkip writes the element that stands for what was left out, and closes the containers that
// were open there.
func (e *elider) endSkip() {
	e.flush()
	s := &e.skip
	s.on = false
	add := make([]byte, 0, reserve)
	add = append(add, '"')
	add = appendMark(add, s.n, s.sum.sum())
	add = append(add, '"')
	if s.kinds[s.depth] {
		add = append(add, ":null"...)
	}
	for d := s.depth; d > s.base; d-- {
		if s.kinds[d] {
			add = append(add, '}')
		} else {
			add = append(add, ']')
		}
	}
	e.room(len(add))
	e.w += copy(e.buf[e.w:], add)
}

// room makes room for n bytes between the result and what is still unread: what was left out
// may be shorter than its mark.
func (e *elider) room(n int) {
	n -= e.pos - e.w
	if n <= 0 {
		return
	}
	copy(e.buf[e.pos+n:], e.buf[e.pos:e.end])
	e.seg, e.pos, e.end, e.off = e.seg+n, e.pos+n, e.end+n, e.off-int64(n)
}
