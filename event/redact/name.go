package redact

import (
	"cmp"
	"slices"
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

// marks are the marks of the kinds of keys.
var marks = [...]string{
	secretKey: markSecret, passwordKey: markPassword, headerKey: markAuth, cookieKey: markCookie, weakKey: markSecret,
}

// style is how a value follows its name.
type style uint8

const (
	loose   style = iota // name: value, name = value: may be prose or code
	tight                // NAME=value, --name value
	quoted               // name: "value"
	encoded              // NAME%3Dvalue, %22name%22%3A%22value%22
)

// names are the words that make a name one of a secret, in lower case: anywhere in it, whatever
// separates them (most keys, of a map, of a cache, of a pair's public half, are none), or as its last.
var names = [...]struct {
	kind           keyKind
	anywhere, last []string
}{
	{passwordKey, []string{"password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "senha"},
		[]string{"pass", "pwd", "pw"}},
	{secretKey, []string{"secret", "token"}, nil},
	{headerKey, []string{"authorization"}, nil},
	{secretKey, []string{
		"apikey", "accesskey", "privatekey", "accountkey", "encryptionkey", "signingkey", "masterkey", "authkey", "sharedkey",
		"storagekey", "subscriptionkey", "licensekey", "sessionkey", "webhookkey", "cipherkey", "hmackey", "jwtkey",
	}, nil},
	{cookieKey, nil, []string{"cookie"}},
	{weakKey, nil, []string{"auth", "credential", "credentials", "creds"}},
}

var (
	// about are endings of names whose value describes the secret but is not it.
	about = []string{
		"file", "path", "dir", "name", "url", "uri", "id", "arn", "type", "count", "limit", "ttl", "expires", "expiry",
		"length", "size", "usage", "budget", "policy", "field", "hint", "label", "ref", "izer", "nization",
	}
	// queries are endings of such names in a URL, where shorter ones are common.
	queries = []string{"key", "sig", "signature", "hmac", "sas", "auth"}
)

// kindOf returns what a name says about its value; inURL, as a parameter of a URL.
func kindOf(name string, inURL bool) keyKind {
	flat := flatten(name)
	ends := func(end string) bool { return strings.HasSuffix(flat, end) }
	if kind := kindIn(flat); kind != harmless {
		if slices.ContainsFunc(about, ends) {
			return harmless
		}
		return kind
	}
	last := lastWord(name)
	for i := range names {
		if isOneOf(last, names[i].last...) {
			return names[i].kind
		}
	}
	if inURL && last != "" && slices.ContainsFunc(queries, ends) {
		return weakKey
	}
	return harmless
}

// flatten returns a name in lower case, without separators; nothing if it is too long for one.
func flatten(name string) string {
	var flat [maxKey]byte
	n := 0
	for i := 0; i < len(name) && len(name) <= maxKey; i++ {
		if c := name[i]; c != '_' && c != '-' {
			flat[n] = c | 0x20
			n++
		}
	}
	return string(flat[:n])
}

// kindIn returns what the words anywhere in a flat name say.
func kindIn(flat string) keyKind {
	for i := range names {
		if slices.ContainsFunc(names[i].anywhere, func(w string) bool { return strings.Contains(flat, w) }) {
			return names[i].kind
		}
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

// named finds the secret that the name at i announces: NAME=value, name: value,
// "name": "value", name := 'value', --name value, <name>value</name>, name is value.
func (r *redactor) named(i int) found {
	if i > r.last+1 && (r.s[i-1] == '-' || r.s[i-1] == '_') && alnum.has(r.s[i-2]) {
		return found{} // inside a name
	}
	end := i + token.span(r.s[i:min(len(r.s), i+maxKey+1)])
	name, above, label, gap := r.s[i:end], r.above, r.label, r.s[min(i, r.aboveEnd):i]
	if gap != "." {
		r.label = above
	}
	r.above, r.aboveEnd = name, end
	op, v, how := r.operator(end)
	if op == 0 {
		return r.spoken(i, end)
	}
	before := r.s[max(0, i-1):i]
	kind := kindOf(name, op == '=' && (how == encoded || beginsWith(before, "?", "&", ";")))
	switch {
	case kind != harmless:
	case isOneOf(name, "value") && isOneOf(lastWord(label), "key", "name") && strings.Trim(gap, "\"', \t\r\n-\\") == "":
		kind = kindOf(above, false) // name: DB_PASSWORD, value: ...; key="ApiKey" value=...
	}
	switch {
	case kind == harmless, how == encoded && (kind == headerKey || kind == cookieKey):
		return found{}
	case op == '>' && beginsWith(before, "<", ".", ":", "\"", "'"):
		return r.accepted(r.find(v, &element, marks[kind]), kind)
	case op == '>':
		return found{}
	case op == ':' && (beginsWith(name, "x-", "X-") || name == "pass" && v == end+1): // a header, or openssl's argument
		how = tight
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
	case op == '%':
		m := joint.match(rest[:min(len(rest), enough)])
		if m == nil || q == "" && m[2] < 0 {
			return 0, at, loose
		}
		return '=', at + m[1], encoded
	case op != '=' && op != ':', beginsWith(rest, "::", "://"):
		return 0, at, loose
	}
	v = len(r.s) - len(strings.TrimLeft(rest[1:], "=>"))
	if op == '=' && v == at+1 && at == i && v < len(r.s) && r.s[v] != ' ' {
		how = tight
	}
	return op, r.skipSpace(v), how
}

// spoken finds the secret after the name r.s[i:end] in a command line or in prose: --password x;
// the password is hunter2; machine h login me password x; #define PASS "x".
func (r *redactor) spoken(i, end int) found {
	v := r.skipSpace(end)
	name, flag := r.s[i:end], strings.HasSuffix(r.s[:i], "--")
	if v == end || v == len(r.s) || !flag && !mayAnnounce(name) {
		return found{}
	}
	kind := kindOf(name, false)
	if isOneOf(name, "key") {
		kind = weakKey
	}
	before := r.s[max(r.last, i-160):i]
	netrc := kind == passwordKey && strings.Contains(before, "machine ") && strings.Contains(before, "login ")
	switch {
	case kind == harmless:
		return found{}
	case flag && r.s[v] != '-', netrc, quoteAt(r.s, v) != "" && strings.Contains(name, "_"):
		return r.value(v, kind, tight)
	case kind == headerKey, kind == cookieKey:
		return found{}
	}
	return r.said(v, kind)
}

// mayAnnounce reports whether a name's last word begins like those that announce a secret.
func mayAnnounce(name string) bool {
	w := lastWord(name)
	return len(w) > 2 && strings.Contains(" pa pw se to ke ap ac au", string([]byte{' ', w[0] | 0x20, w[1] | 0x20}))
}

// said finds a secret in prose. It must look random, or, after a verb, like a password.
func (r *redactor) said(v int, kind keyKind) found {
	f := r.find(v, &said, marks[kind])
	s, verb := r.s[f.from:f.to], f.from > v+len(`"`)
	switch {
	case !hasDigit(s) || isPlace(s):
	case kind == passwordKey && verb && (hasCapital(s) || hasSmall(s)),
		len(s) >= 20 && oddLooking(s) && (verb || hasCapital(s)):
		return cmp.Or(r.key(f.from), f)
	}
	return found{}
}
