// Package redact removes secrets from texts that are stored on disk.
//
// It recognizes secrets by their form (a table of what the keys of providers begin with;
// private key blocks; web tokens), by their place (the user part of a URL, Authorization and
// Cookie headers, netrc and pgpass, the arguments that some programs take secrets in) and by
// the name before them (PASSWORD=..., "api_key": "...", <secret>...</secret>). It guarantees:
// what it found is not in the result; the rest is unchanged, byte for byte; redacting twice
// changes nothing; time is linear in the text.
//
// It does not guarantee that every secret is found. A password in a sentence ("log in as admin
// / swordfish"), a key under an innocent name, a text that was cut before the secret's prefix:
// all stay. So redact before cutting. An unquoted value ends at a bracket, a comma or a
// semicolon. When in doubt after a name that says "secret" it redacts; names of files,
// references to variables ($TOKEN), code (os.Getenv(...)) and plain words stay. How much it
// finds is measured: testdata/secrets/RESULTS.md.
package redact

import "strings"

// The marks that replace a secret, in addition to those of the rules. None contains a digit or
// a character that could begin another secret.
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

// enough is how much of a run of characters is examined before it is rejected: a longer one is
// not a word. It keeps time linear.
const enough = 64

// Text returns s with every secret that it finds replaced by a mark such as
// [redacted:github-token]. Without a secret it returns s itself and allocates
// nothing.
func Text(s string) string {
	r := redactor{s: s}
	for i := 0; i < len(s); {
		if !begins[s[i]] || i > 0 && inWord(s, i) {
			i++
			continue
		}
		if n := markAt(s, i); n > 0 {
			i += n
			continue
		}
		f := r.at(i)
		if f.mark == "" {
			i++
			continue
		}
		r.replace(f)
		i = f.to
	}
	return r.result()
}

// begins are the bytes at which something may begin: a word, or what stands between a name and
// its value.
var begins = func() (t [256]bool) {
	for c := range t {
		t[c] = alnum.has(byte(c)) || strings.IndexByte(":=-[>%+$_{", byte(c)) >= 0
	}
	return t
}()

// inWord reports whether the byte at i is inside a word of small letters, as most are: nothing
// begins there.
func inWord(s string, i int) bool {
	return s[i] >= 'a' && s[i] <= 'z' && s[i-1] >= 'a' && s[i-1] <= 'z' &&
		(i < 2 || s[i-2] != '\\' && s[i-2] != '[' && !isDigit(s[i-2])) && (i < 3 || s[i-3] != '%')
}

// redactor is the state of Text: s[:last] is done, and out contains it if anything was
// replaced so far.
type redactor struct {
	s    string
	out  strings.Builder
	last int
	// noJWT: no web token begins before this offset; the text before it was examined and has
	// too few dots.
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

// at looks for a secret that the byte at i may indicate.
func (r *redactor) at(i int) found {
	switch c := r.s[i]; c {
	case '[':
		return found{}
	case '=':
		return r.assignment(i)
	case ':':
		if strings.HasPrefix(r.s[i:], "://") {
			return r.userinfo(i + len("://"))
		}
		return r.assignment(i)
	case '>':
		return r.element(i)
	case '%':
		return r.encoded(i)
	case '-':
		if strings.HasPrefix(r.s[i:], "-----") {
			return r.privateKey(i)
		}
		return r.flag(i)
	default:
		return r.word(i)
	}
}

// word looks for a secret that begins with a word at i, or after it.
func (r *redactor) word(i int) (f found) {
	c := r.s[i]
	switch {
	case c == '+':
		return r.signed(i)
	case !alnum.has(c):
		return r.key(i)
	case !r.boundary(i):
		return r.signed(i)
	case c == 'e':
		f = r.webToken(i)
	case c == 'B' || c == 'b':
		f = r.bearer(i)
	}
	if f.mark == "" {
		f = r.key(i)
	}
	if f.mark == "" {
		f = r.spoken(i)
	}
	if f.mark == "" && (c == 'e' || c == 'p' || c == 's') {
		f = r.piped(i)
	}
	return f
}

// boundary reports whether a word may begin at i: at the beginning, after a replacement, after
// anything but a letter or digit, and after an escape (\n, \u003d, %3D, a terminal's colour)
// that ends in one.
func (r *redactor) boundary(i int) bool {
	if i == r.last || i == 0 || !alnum.has(r.s[i-1]) {
		return true
	}
	switch c := r.s[i-1]; {
	case i >= 2 && r.s[i-2] == '\\':
		return c == 'n' || c == 'r' || c == 't'
	case c == 'm':
		return endsColour(r.s[:i-1])
	}
	return endsHex(r.s[:i], "%", 2) || endsHex(r.s[:i], `\x`, 2) || endsHex(r.s[:i], `\u`, 4)
}

// endsHex reports whether s ends with prefix and that many digits after it.
func endsHex(s, prefix string, digits int) bool {
	at := len(s) - digits
	if at < 0 || !strings.HasSuffix(s[:at], prefix) {
		return false
	}
	for i := range digits {
		if !isHex(s[at+i]) {
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
	if i == 0 || s[i-1] != '[' {
		return false
	}
	s = s[:i-1]
	return strings.HasSuffix(s, "\x1b") || endsWithOneOf(s, `\x1b \u001b \033 \e`)
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

// userinfo finds the user part of a URL whose authority begins at i: with a password, or a
// user so long and random that it is a token.
func (r *redactor) userinfo(i int) found {
	at, colon, secret, j := -1, false, i, i
scan:
	for ; j < len(r.s); j++ {
		switch c := r.s[j]; c {
		case '/', '?', '#', '"', '\'', '`', '<', '>', '\\', '|':
			break scan
		case '@':
			at = j
		case ':':
			if at < 0 {
				colon, secret = true, j+1
			}
		case '[':
			if n := markAt(r.s, j); n > 0 {
				j += n - 1
			}
		default:
			if c <= ' ' {
				break scan
			}
		}
	}
	if at < 0 && colon {
		at = r.lateHost(secret, j)
	}
	if at < 0 || secret >= at || r.s[i] == '[' || placeholder(r.s[secret:at]) {
		return found{} // the bracket: replaced before, or a manual's optional part
	}
	if odd := at-i >= 20 && hasDigit(r.s[i:at]); !colon && !odd {
		return found{}
	}
	return found{i, at, markURL}
}

// lateHost returns the position of the @ after a password with a /, ? or # at stop, which do
// not belong there but are common; -1 if a port begins at from, or no host follows.
func (r *redactor) lateHost(from, stop int) int {
	const far = 256
	if stop == len(r.s) || strings.IndexByte("/?#", r.s[stop]) < 0 || isNumber(r.s[from:stop]) {
		return -1
	}
	at := -1
	for j := stop; j < len(r.s) && j-stop < far && r.s[j] > ' ' && strings.IndexByte("\"'`<>\\|", r.s[j]) < 0; j++ {
		if r.s[j] == '@' {
			at = j
		}
	}
	if at < 0 || at+1 == len(r.s) || !alnum.has(r.s[at+1]) {
		return -1
	}
	return at
}
