package redact

import (
	"bytes"
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

// style is how a value stands behind its name.
type style uint8

const (
	loose  style = iota // name: value, name = value: may be prose or code
	tight               // NAME=value, --name value
	quoted              // name: "value"
)

// assignment finds the value behind the name that ends before the operator at
// i: NAME=value, name: value, "name": "value", name := 'value'.
func (r *redactor) assignment(i int) found {
	from, to := r.nameBefore(i)
	name := r.s[from:to]
	kind := kindOf(name)
	switch {
	case kind == harmless && r.s[i] == '=' && from > 0 && (r.s[from-1] == '?' || r.s[from-1] == '&' || r.s[from-1] == ';'):
		kind = kindInQuery(name)
	case kind == harmless && len(name) == len("value") && strings.EqualFold(name, "value"):
		kind = r.namedBefore(from)
	case kind == harmless && r.s[i] == ':':
		return r.passLine(i, from)
	}
	if kind == harmless || strings.HasPrefix(r.s[i:], "::") {
		return found{}
	}
	v := i + 1
	for v < len(r.s) && v < i+3 && (r.s[v] == '=' || r.s[v] == '>') {
		v++
	}
	how := loose
	joined := v == i+1 && i > 0 && r.s[i-1] != ' ' && v < len(r.s) && r.s[v] != ' '
	header := r.s[i] == ':' && len(name) > 2 && lower(name[0]) == 'x' && name[1] == '-'
	if header || joined && (r.s[i] == '=' || name == "pass") {
		how = tight
	}
	return r.value(r.skipSpace(v), kind, how)
}

// flag finds the value of a flag at i that stands behind a space:
// --password value, or where a program takes it: mysql -pvalue.
func (r *redactor) flag(i int) found {
	if f := r.argument(i); f.mark != "" {
		return f
	}
	if !strings.HasPrefix(r.s[i:], "--") || i > 0 && token.has(r.s[i-1]) && i != r.last {
		return found{}
	}
	end := i
	for end < len(r.s) && end-i <= maxKey && token.has(r.s[end]) {
		end++
	}
	if end == len(r.s) || r.s[end] != ' ' {
		return found{}
	}
	v := r.skipSpace(end)
	if kind := kindOf(r.s[i:end]); kind != harmless && v < len(r.s) && r.s[v] != '-' {
		return r.value(v, kind, tight)
	}
	return found{}
}

// skipSpace skips a few spaces and tabs.
func (r *redactor) skipSpace(i int) int {
	for n := 0; i < len(r.s) && n < 8 && (r.s[i] == ' ' || r.s[i] == '\t'); n++ {
		i++
	}
	return i
}

// nameBefore returns where the name lies that ends before i, with spaces, a
// quote and a bracket (env["NAME"] = ...) between; or nothing.
// It does not look behind what was replaced.
func (r *redactor) nameBefore(i int) (from, to int) {
	back := func(c byte) bool {
		ok := i > r.last && r.s[i-1] == c
		if ok {
			i--
		}
		return ok
	}
	for n := 0; n < 8 && (back(' ') || back('\t')); n++ {
	}
	bracket := back(']')
	quote := back('"') || back('\'') || back('`')
	if bracket && !quote {
		return i, i
	}
	for n := 0; quote && n < deepest && back('\\'); n++ {
	}
	end := i
	for i > r.last && end-i <= maxKey && token.has(r.s[i-1]) {
		i--
	}
	return i, end
}

// namedBefore returns what is said of a value by the name beside it, where the
// word "value" begins at i: name: DB_PASSWORD, value: ...; key="ApiKey" value=...
func (r *redactor) namedBefore(i int) keyKind {
	const between = "\"', \t\r\n-\\"
	end := i
	for i-end < 32 && end > r.last && strings.IndexByte(between, r.s[end-1]) >= 0 {
		end--
	}
	from := end
	for from > r.last && end-from <= maxKey && dotted.has(r.s[from-1]) {
		from--
	}
	before := strings.TrimRight(r.s[r.last:from], "\"' \\")
	if before == "" || before[len(before)-1] != ':' && before[len(before)-1] != '=' {
		return harmless
	}
	before = strings.TrimRight(before[:len(before)-1], "\"' \\")
	if !endsFold(before, "key") && !endsFold(before, "name") {
		return harmless
	}
	return kindOf(lastName(r.s[from:end]))
}

func endsFold(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[len(s)-len(word):], word)
}

// lastName returns the last part of a dotted name.
func lastName(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }

// sensitive are the words in a name that make its value a secret, in lower
// case and without separators.
var sensitive = [...]struct {
	word string
	kind keyKind
}{
	{"password", passwordKey}, {"passwd", passwordKey}, {"passphrase", passwordKey}, {"passcode", passwordKey},
	{"secret", secretKey}, {"token", secretKey}, {"authorization", headerKey}, {"key", secretKey},
}

// keys are the words before "key" that make it a secret one: most keys (of a
// map, of a cache, of a pair's public half) are not.
var keys = [...]string{
	"api", "access", "private", "account", "encryption", "signing", "master", "auth", "shared", "storage", "subscription", "license",
	"session", "webhook", "cipher", "hmac", "jwt",
}

// last are words that make a value a secret when a name ends with them:
// DB_PASS, but not bypass.
var last = [...]struct {
	word string
	kind keyKind
}{
	{"pass", passwordKey}, {"pwd", passwordKey}, {"pw", passwordKey}, {"auth", weakKey}, {"credential", weakKey}, {"credentials", weakKey}, {"creds", weakKey},
}

// about are endings of names whose value describes the secret but is not it.
var about = [...]string{
	"file", "path", "dir", "name", "url", "uri", "id", "arn", "type", "count", "limit", "ttl", "expires", "expiry",
	"length", "size", "usage", "budget", "policy", "field", "hint", "label", "ref", "izer", "nization",
}

func kindOf(name string) keyKind {
	if len(name) < len("pw") || len(name) > maxKey {
		return harmless
	}
	var buf [maxKey]byte
	n := 0
	for i := range len(name) {
		if c := name[i]; c != '_' && c != '-' {
			buf[n] = lower(c)
			n++
		}
	}
	flat := buf[:n]
	for _, w := range sensitive {
		if bytes.Contains(flat, []byte(w.word)) && (w.word != "key" || isSecretKey(flat)) {
			for _, end := range about {
				if len(flat) > len(end) && string(flat[len(flat)-len(end):]) == end {
					return harmless
				}
			}
			return w.kind
		}
	}
	if strings.EqualFold(name, "cookie") || strings.EqualFold(name, "set-cookie") {
		return cookieKey
	}
	end := lastWord(name)
	for _, w := range last {
		if len(end) == len(w.word) && strings.EqualFold(end, w.word) {
			return w.kind
		}
	}
	return harmless
}

// lastWord returns the last word of a name: behind a separator, or from a
// capital on.
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

// kindInQuery is kindOf for the parameters of a URL, where shorter names are in
// use.
func kindInQuery(name string) keyKind {
	for _, w := range [...]string{"key", "sig", "signature", "hmac", "sas", "auth"} {
		if endsFold(lastWord(name), w) {
			return weakKey
		}
	}
	return harmless
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

// beforeKey reports whether a name ends with a word that makes the key behind it
// secret.
func beforeKey(name string) bool {
	name = strings.TrimRight(name, "_-")
	return slices.ContainsFunc(keys[:], func(w string) bool { return endsFold(name, w) })
}

// isSecretKey reports whether one of the keys that are secret is in the name.
func isSecretKey(name []byte) bool {
	for _, w := range keys {
		if at := bytes.Index(name, []byte(w)); at >= 0 && bytes.HasPrefix(name[at+len(w):], []byte("key")) {
			return true
		}
	}
	return false
}

// value finds the secret in the value that begins at v.
func (r *redactor) value(v int, kind keyKind, how style) found {
	if v >= len(r.s) {
		return found{}
	}
	if v+1 < len(r.s) && alnum.has(r.s[v]) && (r.s[v+1] == '"' || r.s[v+1] == '\'') {
		v++ // b"...", f'...'
	}
	q := quoteAt(r.s, v)
	switch {
	case kind == headerKey:
		return r.header(v + len(q))
	case kind == cookieKey:
		return r.cookie(v + len(q))
	case kind == weakKey && r.s[v] == '(':
		return r.pair(v)
	}
	if q != "" {
		return r.quotedValue(v+len(q), q, kind)
	}
	return r.plainValue(v, kind, how)
}

// deepest is how many backslashes a quote has that is looked at: JSON in JSON in
// JSON in JSON.
const deepest = 7

// quoteAt returns the quote at i, which may be escaped, and that again.
func quoteAt(s string, i int) string {
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
	switch s[i] {
	case '"', '\'', '`':
		return s[i : i+1]
	}
	return ""
}

// quotedValue finds the value from v to the closing quote q on the same line.
// Only a password may hold spaces. Without a closing quote (a text that was
// cut) it is a plain value.
func (r *redactor) quotedValue(v int, q string, kind keyKind) found {
	if v < len(r.s) && placeholder(r.s[v:]) {
		return found{}
	}
	for j := v; j < len(r.s) && r.s[j] != '\n'; j++ {
		switch c := r.s[j]; {
		case strings.HasPrefix(r.s[j:], q):
			if r.accepts(r.s[v:j], kind, quoted) {
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
	for end < len(r.s) && end-v < enough && !ends(r.s[end]) {
		end++
	}
	rest := r.s[end:]
	switch {
	case placeholder(r.s[v:]), rest != "" && markAt(rest, 0) > 0:
		return found{}
	case end-v >= enough: // no word is that long
		for end < len(r.s) && !ends(r.s[end]) {
			end++
		}
		if end < len(r.s) && markAt(r.s, end) > 0 {
			return found{}
		}
	case rest != "" && (rest[0] == '(' || rest[0] == '[') && isReference(r.s[v:end]):
		return found{} // a call, an index
	case !r.accepts(r.s[v:end], kind, how):
		return found{}
	}
	return found{v, end, kind.mark()}
}

// ends reports whether an unquoted value ends before c.
func ends(c byte) bool {
	switch c {
	case '"', '\'', '`', '&', ';', ',', '(', ')', '[', ']', '{', '}', '<', '>', '|', '\\':
		return true
	}
	return c <= ' '
}

func (k keyKind) mark() string {
	if k == passwordKey {
		return markPassword
	}
	return markSecret
}

// accepts judges a value behind a name that says it is secret.
func (r *redactor) accepts(v string, kind keyKind, how style) bool {
	shortest := 8
	if kind == passwordKey {
		shortest = 4
	}
	switch {
	case len(v) < shortest || len(v) < 32 && plainWord(v) || strings.Contains(v[:min(len(v), 16)], "://"):
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
	// Without a digit it may be prose, or the name of what holds the secret.
	return how != loose && !namesSecret(v) && (how == quoted || !isReference(v) || !strings.Contains(v, "."))
}

// placeholder reports whether a value only stands for one: $TOKEN, <token>,
// {{token}}, %s, ***, ..., or a mark.
func placeholder(v string) bool {
	if v == "" {
		return false
	}
	switch v[0] {
	case '$', '<', '{', '%', '*':
		return true
	}
	for _, p := range [...]string{markBegin, "...", "…", "xxx", "XXX", "-----BEGIN"} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	return false
}

// plainWord reports whether a value is one of the words that stand for no
// secret.
func plainWord(v string) bool {
	for _, w := range [...]string{
		"true", "false", "null", "none", "undefined", "string", "required", "optional", "empty", "hidden", "masked", "redacted",
		"unset", "missing", "invalid", "expired", "unknown", "provided", "generated", "disabled", "enabled", "password", "bearer",
		"option", "options", "flag", "flags", "argument", "arguments", "parameter", "parameters", "value", "instead", "with", "when", "from", "must",
	} {
		if len(v) == len(w) && strings.EqualFold(v, w) {
			return true
		}
	}
	return false
}

// isPath reports whether v is a path rather than base64 that begins with a
// slash.
func isPath(v string) bool {
	if strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "@") {
		return true
	}
	if v[0] != '/' {
		return false
	}
	capital, small, digit := false, false, false
	for i := range len(v) {
		c := v[i]
		capital = capital || 'A' <= c && c <= 'Z'
		small = small || 'a' <= c && c <= 'z'
		digit = digit || isDigit(c)
	}
	return !capital || !small || !digit
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

func isNumber(v string) bool { return strings.Trim(v, "0123456789.,_") == "" }

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
	for i := 0; i < len(v); i++ {
		for _, w := range sensitive {
			if v[i]|0x20 == w.word[0] && len(v)-i >= len(w.word) && strings.EqualFold(v[i:i+len(w.word)], w.word) && (w.word != "key" || beforeKey(v[:i])) {
				return true
			}
		}
	}
	return false
}

// oddLooking reports whether v looks drawn by lot, and is not an id that every
// program shows.
func oddLooking(v string) bool {
	const shortest, bits = 16, 30
	return len(v) >= shortest && hasDigit(v) && !isUUID(v) && !isNumber(v) && random(v, bits)
}

func isUUID(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := range len(v) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (v[i] == '-') || !dash && !isHex(v[i]) {
			return false
		}
	}
	return true
}

// header finds the credentials of an Authorization header: behind a scheme, or
// alone if they are long and odd.
func (r *redactor) header(v int) found {
	end := r.run(v, opaque, 1, false)
	if end == 0 || placeholder(r.s[v:]) {
		return found{}
	}
	if end < len(r.s) && r.s[end] == ' ' && isScheme(r.s[v:end]) {
		from := r.skipSpace(end)
		if to := r.run(from, opaque, 6, false); to > 0 && !placeholder(r.s[from:]) && !(to < len(r.s) && r.s[to] == '(') {
			return found{from, to, markAuth}
		}
		return found{}
	}
	called := end < len(r.s) && r.s[end] == '(' && isReference(r.s[v:end])
	if end-v >= 16 && !called && hasDigit(r.s[v:min(end, v+enough)]) {
		return found{v, end, markAuth}
	}
	return found{}
}

func isScheme(s string) bool {
	for _, w := range [...]string{"basic", "bearer", "token", "apikey", "negotiate", "digest", "key", "jwt", "oauth"} {
		if strings.EqualFold(s, w) {
			return true
		}
	}
	return false
}
