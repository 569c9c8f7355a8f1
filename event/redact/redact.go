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
	"slices"
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
		switch f := r.at(i); {
		case f.mark != "":
			if r.last == 0 {
				r.out.Grow(len(s) + len(f.mark))
			}
			r.out.WriteString(s[r.last:f.from])
			r.out.WriteString(f.mark)
			r.last = f.to
			i = f.to - 1
		case alnum.has(s[i]):
			for i+1 < len(s) && i+1 != r.fresh && alnum.has(s[i+1]) {
				i++
			}
		}
	}
	if r.last == 0 {
		return s
	}
	r.out.WriteString(s[r.last:])
	return r.out.String()
}

// redactor is the state of Text: s[:last] is done, and out contains it if anything was replaced so far.
type redactor struct {
	s    string
	out  strings.Builder
	last int
	// fresh is the end of an escape (\n, \u003d, %3D, a terminal's colour): a word may begin there.
	fresh int
	// noJWT: no web token begins before this offset; the text before it was examined and has too few dots.
	noJWT int
	// noKey: the text before this offset belongs to no private key whose last line is still to come.
	noKey int
	// above is the name before the one that is looked at, aboveEnd its end, label the one before both.
	above, label string
	aboveEnd     int
}

// found is a secret: s[from:to] is to be replaced by mark. No mark: nothing found.
type found struct {
	from, to int
	mark     string
}

// at looks for a secret that begins, or is announced, at i: the beginning of a word, or no letter.
func (r *redactor) at(i int) found {
	rest := r.s[i:]
	switch c := rest[0]; {
	case alnum.has(c):
		return cmp.Or(r.webToken(i), r.bearer(i), r.key(i), r.named(i), r.given(i), r.passLine(i))
	case strings.HasPrefix(rest, "://"):
		return r.userinfo(i)
	case strings.HasPrefix(rest, "-----"):
		return r.block(i)
	case c == '-':
		return r.argument(i)
	case c == '$', c == '_', c == '{':
		return r.key(i)
	case c == '[': // a colour, without its first character
		if end := strings.TrimLeft(rest[1:], digits+";"); strings.HasPrefix(end, "m") {
			r.fresh = len(r.s) - len(end) + 1
		}
	case c == '%':
		r.fresh = i + len("%3D")
	case strings.HasPrefix(rest, `\u`):
		r.fresh = i + len(`\u003d`)
	case strings.HasPrefix(rest, `\x`):
		r.fresh = i + len(`\x1b`)
	case c == '\\':
		r.fresh = i + len(`\n`)
	}
	return found{}
}

// markAt returns the length of the mark at i, or 0.
func markAt(s string, i int) int {
	rest, ok := strings.CutPrefix(s[i:], markBegin)
	if !ok {
		return 0
	}
	name, _, closed := strings.Cut(rest[:min(len(rest), enough)], "]")
	if !closed || name == "" || strings.Trim(name, smalls+"-") != "" {
		return 0
	}
	return len(markBegin) + len(name) + len("]")
}

const (
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	smalls   = "abcdefghijklmnopqrstuvwxyz"
	digits   = "0123456789"
)

// class is a set of ASCII characters; each contains those before it.
type class uint8

const (
	upper  class = iota // A-Z, 0-9
	alnum               // and a-z
	token               // and _-
	dotted              // and .
	keyed               // and the others of keys
	others              // all
)

// classes has the smallest class of each byte.
var classes = func() (t [256]class) {
	for c := range t {
		t[c] = others
	}
	for k, chars := range [...]string{capitals + digits, smalls, "_-", ".", "~+/$|"} {
		for i := range len(chars) {
			t[chars[i]] = class(k)
		}
	}
	return t
}()

func (k class) has(c byte) bool { return classes[c] <= k }

// span returns how many characters of the class s begins with.
func (k class) span(s string) int {
	n := 0
	for n < len(s) && k.has(s[n]) {
		n++
	}
	return n
}

// skipSpace skips spaces and tabs.
func (r *redactor) skipSpace(i int) int {
	for i < len(r.s) && (r.s[i] == ' ' || r.s[i] == '\t') {
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

func areHex(s string) bool { return strings.Trim(s, digits+"abcdefABCDEF") == "" }

func isNumber(s string) bool { return strings.Trim(s, digits+".,_") == "" }

func hasDigit(s string) bool { return strings.ContainsAny(s, digits) }

func hasCapital(s string) bool { return strings.ContainsAny(s, capitals) }

func hasSmall(s string) bool { return strings.ContainsAny(s, smalls) }

// isOneOf reports whether s is one of the words, ignoring letter case.
func isOneOf(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return len(s) == len(w) && strings.EqualFold(s, w) })
}

// beginsWith reports whether s begins with one of the words.
func beginsWith(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(s, w) })
}
