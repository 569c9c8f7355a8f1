package redact

import "strings"

// value finds the secret in the value that begins at v.
func (r *redactor) value(v int, kind keyKind, how style) found {
	if v >= len(r.s) {
		return found{}
	}
	if alnum.has(r.s[v]) && beginsWith(r.s[v+1:], "\" '") {
		v++ // b"...", f'...'
	}
	q := quoteAt(r.s, v)
	switch {
	case kind == headerKey:
		return r.header(v + len(q))
	case kind == cookieKey:
		if f := r.find(v+len(q), &cookie, markCookie); f.to-f.from >= 8 {
			return f
		}
		return found{}
	case kind == weakKey && r.s[v] == '(':
		return r.accepted(r.find(v, &pair, markPassword), passwordKey)
	}
	if q != "" {
		return r.quotedValue(v+len(q), q, kind)
	}
	return r.plainValue(v, kind, how)
}

// deepest is the most backslashes before a quote that are recognized: JSON in JSON in JSON in JSON.
const deepest = 7

// quoteAt returns the quote at i, which may be escaped several times, or for a URL; "" for none.
func quoteAt(s string, i int) string {
	if i >= len(s) {
		return ""
	}
	if s[i] == '\\' {
		end := i
		for end < len(s) && end-i < deepest && s[end] == '\\' {
			end++
		}
		if end < len(s) && s[end] == '"' && (end-i)%2 == 1 {
			return s[i : end+1]
		}
		return ""
	}
	switch c := s[i]; {
	case c == '"', c == '\'', c == '`':
		return s[i : i+1]
	case c == '%' && beginsWith(s[i:], "%22 %27"):
		return s[i : i+len("%22")]
	}
	return ""
}

// quotedValue finds the value from v to the closing quote q on the same line. Only a password
// may contain spaces. Without a closing quote (in a cut text) it is a plain value.
func (r *redactor) quotedValue(v int, q string, kind keyKind) found {
	if v < len(r.s) && placeholder(r.s[v:]) {
		return found{}
	}
	for j := v; j < len(r.s) && r.s[j] != '\n'; j++ {
		switch c := r.s[j]; {
		case strings.HasPrefix(r.s[j:], q):
			if accepts(r.s[v:j], kind, quoted) {
				return found{v, j, kind.mark()}
			}
			return found{}
		case c == '\\' && len(q) == 1:
			j++
		case c == '[' && markAt(r.s, j) > 0, kind != passwordKey && (c == ' ' || c == '\t'):
			return found{}
		}
	}
	return r.plainValue(v, kind, quoted)
}

// plainValue finds an unquoted value at v.
func (r *redactor) plainValue(v int, kind keyKind, how style) found {
	end := v
	for end < len(r.s) && !ends(r.s[end]) && !(how == encoded && r.s[end] == '%' && endsEncoded(r.s[end:])) {
		end++
	}
	rest := r.s[end:]
	switch {
	case placeholder(r.s[v:]), rest != "" && markAt(rest, 0) > 0:
		return found{}
	case end-v >= enough: // no word is that long
	case beginsWith(rest, "( [") && isReference(r.s[v:end]):
		return found{} // a call, an index
	case !accepts(r.s[v:end], kind, how):
		return found{}
	}
	return found{v, end, kind.mark()}
}

// ends reports whether an unquoted value ends before c.
func ends(c byte) bool {
	return c <= ' ' || classes[c] == others && strings.IndexByte("\"'`&;,()[]{}<>|\\", c) >= 0
}

// endsEncoded reports whether a value ends before the escape that s begins with: a quote, &, a
// comma, a semicolon, a space, a brace, a line break.
func endsEncoded(s string) bool {
	return beginsWith(s, "%22 %27 %26 %2C %2c %3B %3b %20 %7D %7d %0A %0a %0D %0d")
}

// accepts judges a value after a name that says it is secret.
func accepts(v string, kind keyKind, how style) bool {
	shortest := 8
	if kind == passwordKey {
		shortest = 4
	}
	switch {
	case len(v) < shortest || len(v) < 32 && isOneOf(v, plainWords) || strings.Contains(v[:min(len(v), 16)], "://"):
		return false
	case isPath(v), namesPart(v):
		return false
	case kind != passwordKey && isNumber(v):
		return false
	case kind == weakKey:
		return oddLooking(v)
	case how == loose && isReference(v) && namesSecret(v): // code: key = test2048PrivateKey
		return false
	}
	if hasDigit(v) {
		return true
	}
	// Without a digit it may be prose, or the name of a variable with the secret.
	return how != loose && !namesSecret(v) && (how == quoted || !isReference(v) || !strings.Contains(v, "."))
}

// accepted returns what has been found if it is a secret after such a name.
func (r *redactor) accepted(f found, kind keyKind) found {
	if f.mark == "" || !accepts(r.s[f.from:f.to], kind, quoted) {
		return found{}
	}
	return f
}

// placeholder reports whether a value is only a placeholder: $TOKEN, <token>, {{token}}, %s, ***, ..., or a mark.
func placeholder(v string) bool {
	return beginsWith(v, "$ < { % * [redacted: ... … xxx XXX -----BEGIN")
}

// plainWords are values that are never secrets.
const plainWords = `true false null none undefined string required optional empty hidden masked redacted
unset missing invalid expired unknown provided generated disabled enabled password bearer
option options flag flags argument arguments parameter parameters value instead with when from must`

// isPath reports whether v is a path rather than base64 that begins with a slash.
func isPath(v string) bool {
	if beginsWith(v, "./ ../ ~/ @") {
		return true
	}
	return v[0] == '/' && !(hasCapital(v) && hasAny(v, 'a', 'z') && hasDigit(v))
}

// namesPart reports whether v says where the secret is, as in --secret id=npmrc.
func namesPart(v string) bool {
	name, _, ok := strings.Cut(v, "=")
	switch name {
	case "id", "src", "source", "env", "type", "name", "file", "from":
		return ok
	}
	return false
}

// isReference reports whether v may be a name in a program: a.b_c.
func isReference(v string) bool {
	for i := range len(v) {
		if c := v[i]; !word.has(c) && c != '.' {
			return false
		}
	}
	return true
}

// namesSecret reports whether v is itself a name of a secret: my-token.
func namesSecret(v string) bool {
	var buf [maxKey]byte
	return kindIn(flatten(&buf, v)) != harmless
}

// oddLooking reports whether v looks random, and is not an id that every program shows.
func oddLooking(v string) bool {
	const shortest, bits = 16, 30
	return len(v) >= shortest && hasDigit(v) && !isUUID(v) && !isNumber(v) && random(v, bits)
}

func isUUID(v string) bool {
	return len(v) == 36 && strings.Count(v, "-") == 4 && v[8] == '-' && v[23] == '-' && areHex(strings.ReplaceAll(v, "-", ""))
}

// header finds the credentials of an Authorization header: after a scheme, or alone if they are long and random.
func (r *redactor) header(v int) found {
	f := r.find(v, &scheme, markAuth)
	if f.mark == "" {
		if f = r.find(v, &credentials, markAuth); !hasDigit(r.s[f.from:f.to]) {
			return found{}
		}
	}
	return f
}

func isNumber(v string) bool { return strings.Trim(v, "0123456789.,_") == "" }

func hasCapital(s string) bool { return hasAny(s, 'A', 'Z') }
