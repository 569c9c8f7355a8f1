package redact

import "strings"

// value finds the secret in the value that begins at v. Only a password may contain spaces.
func (r *redactor) value(v int, kind keyKind, how style) found {
	if v < len(r.s) && alnum.has(r.s[v]) && beginsWith(r.s[v+1:], "\"", "'") {
		v++ // b"...", f'...'
	}
	q := quoteAt(r.s, v)
	v += len(q)
	switch {
	case kind == headerKey:
		f := r.find(v, &credentials, markAuth)
		if f.from == v && !hasDigit(r.s[v:f.to]) { // neither after a scheme nor random
			return found{}
		}
		return f
	case kind == cookieKey:
		return r.find(v, &cookie, markCookie)
	case kind == weakKey && q == "" && strings.HasPrefix(r.s[v:], "("):
		return r.accepted(r.find(v, &pair, markPassword), passwordKey)
	case q != "":
		how = quoted
	}
	end, closed := r.valueEnd(v, q, kind, how)
	s, rest := r.s[v:end], r.s[end:]
	switch {
	case placeholder(r.s[v:]), markAt(rest, 0) > 0:
		return found{}
	case !closed && len(s) >= enough: // no word is that long
	case !closed && beginsWith(rest, "(", "[") && isReference(s): // a call, an index
		return found{}
	case !accepts(s, kind, how):
		return found{}
	}
	return found{v, end, marks[kind]}
}

// quotes are what may be around a value: also in JSON, in JSON in JSON and so on, and in a URL.
var quotes = [...]string{`"`, "'", "`", `\"`, `\\\"`, `\\\\\\\"`, "%22", "%27"}

// quoteAt returns the quote at i, "" for none.
func quoteAt(s string, i int) string {
	if i == len(s) || strings.IndexByte("\"'`\\%", s[i]) < 0 {
		return ""
	}
	for _, q := range quotes {
		if strings.HasPrefix(s[i:], q) {
			return q
		}
	}
	return ""
}

// valueEnd returns the end of the value at v: at the closing quote q on the same line, or, without
// one (in a cut text), of a word. What has a mark in quotes, or a space and is no password, has none.
func (r *redactor) valueEnd(v int, q string, kind keyKind, how style) (end int, closed bool) {
	for end = v; q != "" && end < len(r.s) && r.s[end] != '\n'; end++ {
		switch c := r.s[end]; {
		case strings.HasPrefix(r.s[end:], q):
			return end, true
		case c == '\\' && len(q) == 1:
			end++
		case markAt(r.s, end) > 0, kind != passwordKey && (c == ' ' || c == '\t'):
			return v, true
		}
	}
	for end = v; end < len(r.s) && !ends(r.s[end]); end++ {
		if how == encoded && beginsWith(r.s[end:],
			"%22", "%27", "%26", "%2C", "%2c", "%3B", "%3b", "%20", "%7D", "%7d", "%0A", "%0a", "%0D", "%0d") {
			break
		}
	}
	return end, false
}

// ends reports whether an unquoted value ends before c.
func ends(c byte) bool {
	return c <= ' ' || !dotted.has(c) && strings.IndexByte("\"'`&;,()[]{}<>|\\", c) >= 0
}

// bearer finds the token after the word Bearer at i.
func (r *redactor) bearer(i int) found {
	const least = 20
	v := i + len("bearer ")
	if !strings.EqualFold(r.s[i:min(len(r.s), v)], "bearer ") {
		return found{}
	}
	f := r.find(v, &credentials, markAuth)
	if f.from != v || f.to-v < least || !hasDigit(r.s[v:f.to]) {
		return found{}
	}
	return f
}

// accepts judges a value after a name that says it is secret.
func accepts(v string, kind keyKind, how style) bool {
	shortest := 8
	if kind == passwordKey {
		shortest = 4
	}
	switch {
	case len(v) < shortest, isOneOf(v, strings.Fields(plainWords)...), isPlace(v), kind != passwordKey && isNumber(v):
		return false
	case kind == weakKey:
		return oddLooking(v)
	case how == loose && isReference(v) && namesSecret(v): // code: key = test2048PrivateKey
		return false
	case hasDigit(v):
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
	return beginsWith(v, "$", "<", "{", "%", "*", "[redacted:", "...", "…", "xxx", "XXX", "-----BEGIN")
}

// plainWords are values that are never secrets.
const plainWords = `true false null none undefined string required optional empty hidden masked redacted
unset missing invalid expired unknown provided generated disabled enabled password bearer
option options flag flags argument arguments parameter parameters value instead with when from must`

// isPlace reports whether v is where the secret is: an address, a path (rather than base64
// that begins with a slash), or as in --secret id=npmrc.
func isPlace(v string) bool {
	if v[0] == '/' {
		return !(hasCapital(v) && hasSmall(v) && hasDigit(v))
	}
	return strings.Contains(v[:min(len(v), 16)], "://") || beginsWith(v, "./", "../", "~/", "@",
		"id=", "src=", "source=", "env=", "type=", "name=", "file=", "from=")
}

// isReference reports whether v may be a name in a program: a.b_c.
func isReference(v string) bool { return dotted.span(v) == len(v) && !strings.Contains(v, "-") }

// namesSecret reports whether v is itself a name of a secret: my-token.
func namesSecret(v string) bool { return kindIn(flatten(v)) != harmless }

// oddLooking reports whether v looks random, and is not an id that every program shows.
func oddLooking(v string) bool {
	const shortest, bits = 16, 30
	return len(v) >= shortest && hasDigit(v) && !isUUID(v) && !isNumber(v) && random(v, bits)
}

func isUUID(v string) bool {
	dashes := len(v) == 36 && strings.Count(v, "-") == 4 && v[8] == '-' && v[23] == '-'
	return dashes && areHex(strings.ReplaceAll(v, "-", ""))
}
