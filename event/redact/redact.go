// Package redact takes secrets out of texts that are kept on disk.
//
// It knows secrets by their form (the prefixes that providers give their
// tokens, private key blocks, JSON web tokens), by their place (the user part
// of a URL, an Authorization header) and by the name before them
// (PASSWORD=..., "api_key": "..."). It guarantees: what it found is not in the
// result; the rest is untouched, byte for byte; redacting twice changes
// nothing; time is linear in the text.
//
// It does not guarantee that every secret is found. A password in a sentence
// ("it is swordfish"), a key under an innocent name, a text that was cut in
// front of the secret's prefix: all stay. So redact before cutting. An
// unquoted value ends at a bracket, a comma or a semicolon. When in doubt
// after a name that says "secret" it redacts; names of files, references to
// variables ($TOKEN), code (os.Getenv(...)) and plain words stay.
package redact

import "strings"

// The marks that stand for a secret. None holds a digit or a character that
// could begin another secret.
const (
	markAWS      = "[redacted:aws-key-id]"
	markGitHub   = "[redacted:github-token]"
	markGitLab   = "[redacted:gitlab-token]"
	markSlack    = "[redacted:slack-token]"
	markAPIKey   = "[redacted:api-key]"
	markGoogle   = "[redacted:google-key]"
	markStripe   = "[redacted:stripe-key]"
	markNPM      = "[redacted:npm-token]"
	markPyPI     = "[redacted:pypi-token]"
	markJWT      = "[redacted:jwt]"
	markPEM      = "[redacted:private-key]"
	markAuth     = "[redacted:authorization]"
	markURL      = "[redacted:userinfo]"
	markPassword = "[redacted:password]"
	markSecret   = "[redacted:secret]"

	markBegin = "[redacted:"
)

// enough is how much of a run of characters is looked at before it is refused:
// a longer one is no word. It keeps time linear.
const enough = 64

// Text returns s with every secret that it finds replaced by a mark such as
// [redacted:github-token]. If there is none it returns s itself and allocates
// nothing.
func Text(s string) string {
	r := redactor{s: s}
	for i := 0; i < len(s); {
		if !triggers[s[i]] {
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

// redactor is one Text under way: s[:last] is done, and out holds it if
// anything was replaced so far.
type redactor struct {
	s    string
	out  strings.Builder
	last int
	// noJWT: no web token begins before here; what was looked at is one run
	// without enough dots.
	noJWT int
}

// found is a secret: s[from:to] is to become mark. No mark: nothing found.
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

// triggers are the bytes at which something may begin, or which stand between
// a name and its value.
var triggers = [256]bool{
	':': true, '=': true, '-': true, '[': true, 'e': true, 'B': true, 'b': true,
	'A': true, 'G': true, 'S': true, 'd': true, 'g': true, 'h': true, 'l': true, 'n': true, 'p': true, 'r': true, 's': true, 'w': true, 'x': true, 'y': true,
}

// at looks for a secret that the byte at i leads to.
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
	case '-':
		if strings.HasPrefix(r.s[i:], "-----") {
			return r.privateKey(i)
		}
		return r.flag(i)
	default:
		if !r.boundary(i) {
			return found{}
		}
		switch c {
		case 'e':
			return r.webToken(i)
		case 'B', 'b':
			return r.bearer(i)
		}
		return r.token(i)
	}
}

// boundary reports whether a word may begin at i: at the beginning, behind
// what was replaced, behind anything but a letter or digit, and behind an
// escape (\n, %3D) that ends in one.
func (r *redactor) boundary(i int) bool {
	if i == r.last || i == 0 || !alnum.has(r.s[i-1]) {
		return true
	}
	switch c := r.s[i-1]; {
	case i >= 2 && r.s[i-2] == '\\':
		return c == 'n' || c == 'r' || c == 't'
	case i >= 3 && r.s[i-3] == '%':
		return isHex(r.s[i-2]) && isHex(c)
	}
	return false
}

// markAt returns the length of the mark at i, 0 if there is none.
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

// userinfo finds the user part of a URL whose authority begins at i: with a
// password, or a user so long and odd that it is a token.
func (r *redactor) userinfo(i int) found {
	at, colon, secret := -1, false, i
scan:
	for j := i; j < len(r.s); j++ {
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
	if at < 0 || secret >= at || r.s[i] == '[' || placeholder(r.s[secret:at]) {
		return found{} // the bracket: replaced before, or how a manual writes what may be left out
	}
	if odd := at-i >= 20 && hasDigit(r.s[i:at]); !colon && !odd {
		return found{}
	}
	return found{i, at, markURL}
}
