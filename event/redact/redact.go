// Package redact removes secrets from texts that are stored on disk.
//
// It recognizes secrets by their form (a table of what the keys of providers begin with; private key blocks; web
// tokens), by their place (the user part of a URL, Authorization and Cookie headers, netrc and pgpass, the arguments
// that some programs take secrets in) and by the name before them (PASSWORD=..., "api_key": "...",
// <secret>...</secret>). It guarantees: what it found is not in the result; the rest is unchanged, byte for byte;
// redacting twice changes nothing; time is linear in the text.
//
// It does not guarantee that every secret is found. A password in a sentence ("log in as admin / swordfish"), a key
// under an innocent name, a text that was cut before the secret's prefix: all stay. So redact before cutting. An
// unquoted value ends at a bracket, a comma or a semicolon. When in doubt after a name that says "secret" it redacts;
// names of files, references to variables ($TOKEN), code (os.Getenv(...)) and plain words stay. How much it finds is
// measured: testdata/secrets/RESULTS.md.
package redact

import (
	"cmp"
	"math"
	"strings"
)

// The marks that replace a secret. None contains a digit or a character that could begin another secret.
const (
	markJWT      = "[redacted:jwt]"
	markPEM      = "[redacted:private-key]"
	markAuth     = "[redacted:authorization]"
	markCookie   = "[redacted:cookie]"
	markURL      = "[redacted:userinfo]"
	markPassword = "[redacted:password]"
	markSecret   = "[redacted:secret]"
	markKey      = "[redacted:api-key]"

	markBegin = "[redacted:"
)

const (
	// enough is how much of a run of characters is examined before it is rejected: a longer
	// one is not a word. It keeps time linear.
	enough = 64
	// far is how much of a command line is examined on either side.
	far = 256
)

// Text returns s with every secret that it finds replaced by a mark such as
// [redacted:api-key]. Without a secret it returns s itself and allocates nothing.
func Text(s string) string {
	r := redactor{s: s}
	for i := 0; i < len(s); i++ {
		if !begins[s[i]] {
			continue
		}
		if n := markAt(s, i); n > 0 {
			i += n - 1
			continue
		}
		switch f := r.at(i); {
		case f.mark != "":
			r.replace(f)
			i = f.to - 1
		case i == 0 || !alnum.has(s[i-1]) && strings.IndexByte(`\%[;`, s[i-1]) < 0: // no escape, which is in its first word
			for i+1 < len(s) && alnum.has(s[i]) && alnum.has(s[i+1]) {
				i++
			}
		}
	}
	return r.result()
}

// begins are the bytes at which a secret, or what announces one, may begin.
var begins = func() (t [256]bool) {
	for c := range t {
		t[c] = alnum.has(byte(c)) || strings.IndexByte(":-[$_{", byte(c)) >= 0
	}
	return t
}()

// redactor is the state of Text: s[:last] is done, and out contains it if anything was replaced so far.
type redactor struct {
	s    string
	out  strings.Builder
	last int
	// noJWT: no web token begins before this offset; the text before it was examined and has too few dots.
	noJWT int
}

// found is a secret: s[from:to] is to be replaced by mark. No mark: nothing found.
type found struct {
	from, to int
	mark     string
}

func (r *redactor) replace(f found) {
	if r.last == 0 {
		r.out.Grow(len(r.s) + len(f.mark))
	}
	r.out.WriteString(r.s[r.last:f.from])
	r.out.WriteString(f.mark)
	r.last = f.to
}

func (r *redactor) result() string {
	if r.last == 0 {
		return r.s
	}
	r.out.WriteString(r.s[r.last:])
	return r.out.String()
}

// at looks for a secret that begins at i, or is announced there.
func (r *redactor) at(i int) found {
	switch c := r.s[i]; {
	case c == ':' && strings.HasPrefix(r.s[i:], "://"):
		return r.userinfo(i)
	case strings.HasPrefix(r.s[i:], "-----"):
		return r.block(i)
	case c == '-':
		return r.argument(i)
	case c == '[' || c == ':':
		return found{}
	case !alnum.has(c):
		return r.key(i)
	case !r.boundary(i):
		return found{}
	}
	return cmp.Or(r.webToken(i), r.bearer(i), r.key(i), r.named(i), r.given(i), r.passLine(i))
}

// boundary reports whether a word may begin at i: at the beginning, after a replacement, after anything but a letter
// or digit, and after an escape (\n, \u003d, %3D, a terminal's colour) that ends in one.
func (r *redactor) boundary(i int) bool {
	if i == r.last || !alnum.has(r.s[i-1]) {
		return true
	}
	for n := 1; n <= len("u003d") && i-n > r.last; n++ {
		escape := r.s[i-n : i]
		switch r.s[i-n-1] {
		case '%':
			return n == 2 && areHex(escape)
		case '\\':
			hex := n == len("x1b") && escape[0] == 'x' || n == len("u003d") && escape[0] == 'u'
			return n == 1 && strings.Contains("nrt", escape) || hex && areHex(escape[1:])
		}
	}
	return r.s[i-1] == 'm' && endsColour(r.s[r.last:i-1])
}

func areHex(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// endsColour reports whether s ends with a sequence that sets a terminal's colour, without its
// last letter: ESC [ 1 ; 31, with the escape itself written in any way.
func endsColour(s string) bool {
	const longest = len("38;2;255;255;255")
	i := len(s)
	for i > 0 && len(s)-i < longest && (isDigit(s[i-1]) || s[i-1] == ';') {
		i--
	}
	return strings.HasSuffix(s[:i], "\x1b[") || endsWithOneOf(s[:i], `\x1b[ \u001b[ \033[ \e[`)
}

// markAt returns the length of the mark at i, or 0.
func markAt(s string, i int) int {
	if s[i] != '[' || !strings.HasPrefix(s[i:], markBegin) {
		return 0
	}
	j := i + len(markBegin)
	for j < len(s) && j < i+enough && ('a' <= s[j] && s[j] <= 'z' || s[j] == '-') {
		j++
	}
	if j == len(s) || s[j] != ']' || j == i+len(markBegin) {
		return 0
	}
	return j + 1 - i
}

// class is a set of ASCII characters; each contains those before it.
type class uint8

const (
	upper  class = iota // A-Z, 0-9
	alnum               // and a-z
	word                // and _
	token               // and -
	dotted              // and .
	others              // all
)

// classes has the smallest class of each byte.
var classes = func() (t [256]class) {
	for c := range t {
		t[c] = others
	}
	for k, chars := range [...]string{
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "abcdefghijklmnopqrstuvwxyz", "_", "-", ".",
	} {
		for i := range len(chars) {
			t[chars[i]] = class(k)
		}
	}
	return t
}()

func (k class) has(c byte) bool { return classes[c] <= k }

// skipSpace skips a few spaces and tabs.
func (r *redactor) skipSpace(i int) int {
	for n := 0; i < len(r.s) && n < 8 && (r.s[i] == ' ' || r.s[i] == '\t'); n++ {
		i++
	}
	return i
}

// random reports whether s has more than that many tenths of bits per character. A placeholder (xxxx) has few.
func random(s string, tenths int) bool {
	var count [256]uint16
	for i := range len(s) {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			bits += float64(n) * math.Log2(float64(len(s))/float64(n))
		}
	}
	return bits*10 > float64(tenths*len(s))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// hasAny reports whether s has a byte from first to last.
func hasAny(s string, first, last byte) bool {
	for i := range len(s) {
		if first <= s[i] && s[i] <= last {
			return true
		}
	}
	return false
}

func hasDigit(s string) bool { return hasAny(s, '0', '9') }

// nextField returns the first word of s and what follows.
func nextField(s string) (word, rest string) {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for i := range len(s) {
		if s[i] <= ' ' {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// someWord reports whether is(word) for one of the words.
func someWord(words string, is func(string) bool) bool {
	for word, rest := nextField(words); word != ""; word, rest = nextField(rest) {
		if is(word) {
			return true
		}
	}
	return false
}

// isOneOf reports whether s is one of the words, ignoring letter case.
func isOneOf(s, words string) bool {
	return someWord(words, func(w string) bool { return len(s) == len(w) && strings.EqualFold(s, w) })
}

// beginsWith reports whether s begins with one of the words.
func beginsWith(s, words string) bool {
	return someWord(words, func(w string) bool { return strings.HasPrefix(s, w) })
}

// endsWithOneOf reports whether s ends with one of the words, ignoring letter case.
func endsWithOneOf(s, words string) bool {
	return someWord(words, func(w string) bool { return len(s) >= len(w) && strings.EqualFold(s[len(s)-len(w):], w) })
}
