package event

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// text is the string being read. Offsets are in its JSON text, without quotes.
type text struct {
	in    int64 // where in the input it starts
	out   int   // where in buf
	head  int64 // where its head ends; 0 until that is known
	next  int64 // from where on the next mark is due
	high  int64 // where a high surrogate's escape ended
	known int64 // up to where sum goes
	sum   hash
	marks [numMarks]int64 // the newest places where it may be cut, a ring
	n     int             // marks made so far
}

// string consumes the string at pos. Most are short, and in the buffer as a whole.
func (e *elider) string() bool {
	e.pos++
	inside := e.buf[e.pos:min(e.end, e.pos+markEvery)]
	if n := scan(inside); n < len(inside) && inside[n] == '"' {
		e.pos += n + 1
		return true
	}
	return e.longString()
}

// longString consumes the string whose inside starts at pos.
func (e *elider) longString() bool {
	s := &e.str
	s.in = e.off + int64(e.pos)
	s.out = e.w + e.pos - e.seg
	s.head, s.high, s.known, s.n = 0, -1, 0, 0
	s.next = markEvery
	if e.skip.on {
		s.next = math.MaxInt64
	}
	for e.moreText() {
		at := e.at()
		if at >= s.next && e.mayCut(at) {
			s.mark(at)
		}
		limit := int64(e.end - e.pos)
		if s.next-at < limit {
			limit = max(s.next-at, 1)
		}
		n := scan(e.buf[e.pos : e.pos+int(limit)])
		e.pos += n
		if n == int(limit) {
			continue
		}
		switch e.buf[e.pos] {
		case '"':
			e.endText()
			return true
		case '\\':
			if !e.escape() {
				return false
			}
		default:
			return e.fail("control character in a string")
		}
	}
	return e.fail(cutShort)
}

// at returns the offset of pos in the string.
func (e *elider) at() int64 { return e.off + int64(e.pos) - e.str.in }

// moreText is more inside a string: it shortens a long string before it reads more of it.
func (e *elider) moreText() bool {
	if e.pos < e.end {
		return true
	}
	if !e.skip.on {
		e.flush()
		e.shorten()
	}
	return e.fill()
}

// mayCut reports whether the string may be cut before pos, which is not inside an escape: not
// inside a character, not between two surrogates.
func (e *elider) mayCut(at int64) bool {
	s := &e.str
	inside := e.buf[e.pos]&0xC0 == 0x80 && at <= max(s.next-1, s.high)+3 // in bytes that are not UTF-8 any place will do
	return !inside && at != s.high
}

func (s *text) mark(at int64) {
	s.marks[s.n%numMarks] = at
	s.n++
	s.next = (at/markEvery + 1) * markEvery
	if s.head == 0 && at >= headKept {
		s.head = at
	}
}

// afterHigh records that the escape of a high surrogate ends at offset at. The string may be
// cut before that escape even if another one precedes it: those two are not a pair.
func (s *text) afterHigh(at int64) {
	if start := at - int64(len(`\uD800`)); start == s.high && start >= s.next {
		s.mark(start)
	}
	s.high = at
}

// tailFrom returns the first mark with at most tailKept of n bytes after it.
func (s *text) tailFrom(n int64) int64 {
	for i := max(0, s.n-numMarks); i < s.n; i++ {
		if m := s.marks[i%numMarks]; m >= n-tailKept {
			return m
		}
	}
	return n
}

// shorten drops what is in neither the head nor any possible tail of a long string. Everything
// up to pos must be flushed.
func (e *elider) shorten() {
	s := &e.str
	n := e.at()
	if n <= MaxString {
		return
	}
	e.sumTo(n)
	from, to := e.w-int(n-s.tailFrom(n)), s.out+int(s.head)+markRoom
	if from > to {
		e.w = to + copy(e.buf[to:], e.buf[from:e.w])
	}
}

// sumTo extends the sum up to offset n, which is where buf[:w] ends.
func (e *elider) sumTo(n int64) {
	s := &e.str
	if s.known == 0 {
		s.sum = hash{}
	}
	s.sum.write(e.buf[e.w-int(n-s.known) : e.w])
	s.known = n
}

// endText consumes the closing quote, and replaces the inside of a long string.
func (e *elider) endText() {
	s := &e.str
	if n := e.at(); n > MaxString && !e.skip.on {
		e.flush()
		e.sumTo(n)
		from := s.tailFrom(n)
		tail := e.buf[e.w-int(n-from) : e.w]
		mark := appendMark(make([]byte, 0, markRoom), from-s.head, s.sum.sum())
		e.w = s.out + int(s.head)
		e.w += copy(e.buf[e.w:], mark)
		e.w += copy(e.buf[e.w:], tail)
	}
	e.pos++
}

// escape consumes the escape at pos.
func (e *elider) escape() bool {
	e.pos++
	if !e.moreText() {
		return e.fail(cutShort)
	}
	switch c := e.buf[e.pos]; {
	case escapes[c]:
		e.pos++
		return true
	case c == 'u':
		e.pos++
		return e.hex4()
	}
	return e.fail("no such escape")
}

func (e *elider) hex4() bool {
	var digits [4]byte
	for i := range digits {
		if !e.moreText() {
			return e.fail(cutShort)
		}
		digits[i] = e.buf[e.pos]
		if strings.IndexByte("0123456789abcdefABCDEF", digits[i]) < 0 {
			return e.fail("no hexadecimal digit in an escape")
		}
		e.pos++
	}
	if digits[0]|0x20 == 'd' && strings.IndexByte("89abAB", digits[1]) >= 0 {
		e.str.afterHigh(e.at())
	}
	return true
}

// scan returns how many bytes at the start of p are the inside of a string that needs no
// closer look: up to the first quote, control character, \u escape or incomplete escape. It
// checks 32 bytes at a time and finds the special ones without a branch on their position:
// source text has one in nearly every line, which no branch predictor can guess.
func scan(p []byte) int {
	i := 0
	for i <= len(p)-32 {
		q := p[i : i+32]
		a, b, c, d := specials(q), specials(q[8:]), specials(q[16:]), specials(q[24:])
		next := i + 32
		if (a|b|c|d)&highs != 0 {
			found := gather(a) | gather(b)<<8 | gather(c)<<16 | gather(d)<<24
			for from := i; found != 0; found &= found - 1 {
				at := i + bits.TrailingZeros64(found)
				switch {
				case at < from: // the second byte of an escape
				case shortEscape(p, at):
					from = at + 2
					next = max(next, from)
				case special(p[at]):
					return at
				}
			}
		}
		i = next
	}
	for i < len(p) {
		if shortEscape(p, i) {
			i++
		} else if special(p[i]) {
			break
		}
		i++
	}
	return i
}

// gather returns the highest bits of the eight bytes of x, the first lowest.
func gather(x uint64) uint64 { return (x & highs) * 0x0002040810204081 >> 56 }

const ones, highs = 0x0101010101010101, 0x8080808080808080

// special reports whether c cannot stand for itself in a string.
func special(c byte) bool { return c < ' ' || c == '"' || c == '\\' }

// specials sets the highest bit of the special ones of p's eight bytes. Of the bits set the
// lowest is always right, the higher ones need not be. A quote is 0x22: with bit 1 flipped, it
// and the control characters are those up to 0x20.
func specials(p []byte) uint64 {
	x := binary.LittleEndian.Uint64(p)
	return (((x ^ 2*ones) - 0x21*ones) | ((x ^ '\\'*ones) - ones)) &^ x
}

// escapes has the second bytes of the escapes of two bytes.
var escapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// shortEscape reports whether an escape of two bytes stands at p[i:].
func shortEscape(p []byte, i int) bool {
	return p[i] == '\\' && i+1 < len(p) && escapes[p[i+1]]
}

const (
	markStart = "…[elided "
	markMid   = " bytes "
	markEnd   = "]…"
)

// appendMark appends the mark for n bytes left out.
func appendMark(dst []byte, n int64, sum uint64) []byte {
	dst = append(dst, markStart...)
	dst = strconv.AppendInt(dst, n, 10)
	dst = append(dst, markMid...)
	dst = appendHex(dst, sum)
	return append(dst, markEnd...)
}

// cutMark splits the JSON text of a string around its elision mark. A mark counts only where
// an elision puts it, so that text about marks stays whole.
func cutMark(s string) (head, tail string, found bool) {
	const lastCut = headKept + len(`\ud83d\ude00`) + len("…")
	if len(s) <= headKept || len(s) > lastCut+markRoom+tailKept {
		return s, "", false
	}
	i := strings.Index(s[headKept:min(len(s), lastCut+markRoom)], markStart)
	if i < 0 || headKept+i > lastCut {
		return s, "", false
	}
	head, rest := s[:headKept+i], s[headKept+i+len(markStart):]
	n := markLen(rest)
	if n == 0 {
		return s, "", false
	}
	return head, rest[n:], true
}

// markLen returns the length of the rest of a mark that s starts with, or 0.
func markLen(s string) int {
	digits := 0
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	n := digits + len(markMid) + 16
	if digits == 0 || len(s) < n+len(markEnd) || s[digits:digits+len(markMid)] != markMid || s[n:n+len(markEnd)] != markEnd {
		return 0
	}
	return n + len(markEnd)
}
