package redact

import (
	"bytes"
	"strings"
)

// maxKey is the longest name that is looked at, in bytes.
const maxKey = 64

// keyKind is what the name before a value says about it.
type keyKind uint8

const (
	harmless keyKind = iota
	secretKey
	passwordKey
	headerKey // Authorization
	cookieKey
	weakKey // a secret if it looks random
)

func (k keyKind) mark() string {
	if k == passwordKey {
		return markPassword
	}
	return markSecret
}

// style is how a value follows its name.
type style uint8

const (
	loose   style = iota // name: value, name = value: may be prose or code
	tight                // NAME=value, --name value
	quoted               // name: "value"
	encoded              // NAME%3Dvalue, %22name%22%3A%22value%22
)

// sensitive are the words in a name that make its value a secret, in lower case and without separators.
var sensitive = [...]struct {
	kind  keyKind
	words string
}{
	{passwordKey, "password passwd passphrase passcode passwort kennwort senha"},
	{secretKey, "secret token"},
	{headerKey, "authorization"},
}

// keys are the words before "key" that make it a secret: most keys (of a map, of a cache, of a
// pair's public half) are not.
const keys = `api access private account encryption signing master auth shared storage subscription license
session webhook cipher hmac jwt`

// about are endings of names whose value describes the secret but is not it.
const about = `file path dir name url uri id arn type count limit ttl expires expiry
length size usage budget policy field hint label ref izer nization`

// kindOf returns what a name says about its value.
func kindOf(name string) keyKind {
	if len(name) < len("pw") || len(name) > maxKey {
		return harmless
	}
	var buf [maxKey]byte
	flat := flatten(&buf, name)
	if kind := kindIn(flat); kind != harmless {
		if someWord(about, func(end string) bool { return len(end) < len(flat) && bytes.HasSuffix(flat, []byte(end)) }) {
			return harmless
		}
		return kind
	}
	switch end := lastWord(name); {
	case isOneOf(name, "cookie set-cookie"):
		return cookieKey
	case isOneOf(end, "pass pwd pw"): // DB_PASS, but not bypass
		return passwordKey
	case isOneOf(end, "auth credential credentials creds"):
		return weakKey
	}
	return harmless
}

// flatten returns a name in lower case, without separators; nothing if it is too long for one.
func flatten(buf *[maxKey]byte, name string) []byte {
	flat := buf[:0]
	for i := 0; i < len(name) && len(name) <= maxKey; i++ {
		if c := name[i]; c != '_' && c != '-' {
			flat = append(flat, lower(c))
		}
	}
	return flat
}

// kindIn returns what the sensitive words in a name say, which is in lower case and without separators.
func kindIn(flat []byte) keyKind {
	has := func(w string) bool { return bytes.Contains(flat, []byte(w)) }
	for i := range sensitive {
		if someWord(sensitive[i].words, has) {
			return sensitive[i].kind
		}
	}
	if has("key") && someWord(keys, func(w string) bool {
		at := bytes.Index(flat, []byte(w))
		return at >= 0 && bytes.HasPrefix(flat[at+len(w):], []byte("key"))
	}) {
		return secretKey
	}
	return harmless
}

// lastWord returns the last word of a name: after a separator, or from a capital on.
func lastWord(name string) string {
	i := len(name)
	for i > 0 && alnum.has(name[i-1]) {
		i--
		if i > 0 && upper.has(name[i]) && !upper.has(name[i-1]) {
			break
		}
	}
	return name[i:]
}

// kindInQuery is kindOf for the parameters of a URL, where shorter names are common.
func kindInQuery(name string) keyKind {
	if endsWithOneOf(lastWord(name), "key sig signature hmac sas auth") {
		return weakKey
	}
	return harmless
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

// named finds the secret that the name at i announces: NAME=value, name: value,
// "name": "value", name := 'value', --name value, <name>value</name>, name is value.
func (r *redactor) named(i int) found {
	if i > r.last+1 && (r.s[i-1] == '-' || r.s[i-1] == '_') && alnum.has(r.s[i-2]) {
		return found{} // inside a name
	}
	end := i
	for end < len(r.s) && end-i <= maxKey && token.has(r.s[end]) {
		end++
	}
	name := r.s[i:end]
	op, v, how := r.operator(end)
	if op == 0 {
		return r.spoken(i, end)
	}
	kind := kindOf(name)
	before := byte(0)
	if i > 0 {
		before = r.s[i-1]
	}
	switch {
	case op == '>':
		if kind == harmless || strings.IndexByte("<.:\"'", before) < 0 {
			return found{}
		}
		return r.accepted(r.find(v, &element, kind.mark()), kind)
	case kind == harmless && op == '=' && (how == encoded || strings.IndexByte("?&;", before) >= 0):
		kind = kindInQuery(name)
	case kind == harmless && strings.EqualFold(name, "value"):
		kind = r.namedBefore(i)
	case op == ':' && (beginsWith(name, "x- X-") || name == "pass" && v == end+1): // a header, or openssl's argument
		how = tight
	}
	if kind == harmless || how == encoded && (kind == headerKey || kind == cookieKey) {
		return found{}
	}
	return r.value(v, kind, how)
}

// operator returns what joins the name that ends at i to its value, after a quote and a bracket
// (env["NAME"] = ...); 0 if nothing does. v is where the value begins.
func (r *redactor) operator(i int) (op byte, v int, how style) {
	q := quoteAt(r.s, i)
	i += len(q)
	if q != "" && strings.HasPrefix(r.s[i:], "]") {
		i++
	}
	at := r.skipSpace(i)
	rest := r.s[at:]
	if rest == "" {
		return 0, at, loose
	}
	switch op = rest[0]; {
	case op == '>':
		return op, at + 1, quoted
	case op == '%' && (beginsWith(rest, "%3D %3d") || q != "" && beginsWith(rest, "%3A %3a")):
		v = at + len("%3D")
		for n := 0; n < 4 && beginsWith(r.s[v:], "+ %20"); n++ { // a space
			v += len("+")
			if r.s[v-1] == '%' {
				v += len("20")
			}
		}
		if rest[2]|0x20 == 'd' {
			return '=', v, encoded
		}
		return ':', v, encoded
	case op != '=' && op != ':', op == ':' && beginsWith(rest, ":: ://"):
		return 0, at, loose
	}
	for v = at + 1; v < len(r.s) && v < at+3 && (r.s[v] == '=' || r.s[v] == '>'); {
		v++
	}
	if op == '=' && v == at+1 && at == i && v < len(r.s) && r.s[v] != ' ' {
		how = tight
	}
	return op, r.skipSpace(v), how
}

// namedBefore returns what the name next to a value says about it, when the word "value"
// begins at i: name: DB_PASSWORD, value: ...; key="ApiKey" value=...
func (r *redactor) namedBefore(i int) keyKind {
	before := r.s[max(r.last, i-far):i]
	if q := strings.TrimRight(before, "\"', \t\r\n-\\"); len(before)-len(q) < 32 {
		before = q
	}
	from := len(before)
	for from > 0 && dotted.has(before[from-1]) {
		from--
	}
	name := before[from:]
	key := strings.TrimRight(before[:from], "\"' \\")
	if !strings.HasSuffix(key, ":") && !strings.HasSuffix(key, "=") {
		return harmless
	}
	if !endsWithOneOf(strings.TrimRight(key[:len(key)-1], "\"' \\"), "key name") {
		return harmless
	}
	return kindOf(name[strings.LastIndexByte(name, '.')+1:])
}

// spoken finds the secret after the name r.s[i:end] in a command line or in prose: --password x;
// the password is hunter2; machine h login me password x; #define PASS "x".
func (r *redactor) spoken(i, end int) found {
	v := r.skipSpace(end)
	name, flag := r.s[i:end], strings.HasSuffix(r.s[:i], "--")
	if v == end || v == len(r.s) || !flag && !mayAnnounce(name) {
		return found{}
	}
	kind := kindOf(name)
	if strings.EqualFold(name, "key") {
		kind = weakKey
	}
	q := quoteAt(r.s, v)
	switch before := r.s[max(r.last, i-160):i]; {
	case flag && kind != harmless && r.s[v] != '-':
		return r.value(v, kind, tight)
	case kind != secretKey && kind != passwordKey && kind != weakKey:
		return found{}
	case q != "" && strings.Contains(name, "_"):
		return r.quotedValue(v+len(q), q, kind)
	case kind == passwordKey && strings.Contains(before, "machine ") && strings.Contains(before, "login "):
		return r.plainValue(v, kind, tight)
	}
	return r.said(v, kind)
}

// mayAnnounce reports whether a name's last word begins like those that announce a secret.
func mayAnnounce(name string) bool {
	w := lastWord(name)
	return len(w) > 2 && strings.Contains(" pa pw se to ke ap ac au", string([]byte{' ', lower(w[0]), lower(w[1])}))
}

// said finds a secret in prose. It must look random, or, after a verb, like a password.
func (r *redactor) said(v int, kind keyKind) found {
	verb := false
	for _, w := range [...]string{"is ", "is: ", "was ", "to ", "key is ", "key is: "} {
		if rest, ok := strings.CutPrefix(r.s[v:], w); ok {
			v, verb = len(r.s)-len(rest), true
			break
		}
	}
	if f := r.key(v + len(quoteAt(r.s, v))); f.mark != "" {
		return f
	}
	f := r.find(v, &said, kind.mark())
	s := r.s[f.from:f.to]
	switch {
	case !hasDigit(s) || isPath(s) || strings.Contains(s, "://"):
	case kind == passwordKey && verb && (hasCapital(s) || hasAny(s, 'a', 'z')),
		len(s) >= 20 && oddLooking(s) && (verb || hasCapital(s)):
		return f
	}
	return found{}
}
