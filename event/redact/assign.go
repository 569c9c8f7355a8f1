package redact

import "strings"

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

// style is how a value follows its name.
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

// flag finds the value of a flag at i that follows a space: --password value, or for programs
// that take it so: mysql -pvalue.
func (r *redactor) flag(i int) found {
	if f := r.argument(i); f.mark != "" {
		return f
	}
	if !strings.HasPrefix(r.s[i:], "--") || i > 0 && token.has(r.s[i-1]) && i != r.last {
		return found{}
	}
	end := r.nameEnd(i)
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
	return r.nameStart(i, token), i
}

// nameStart returns the start of a name of such characters that ends before i, not before the
// last replacement; nameEnd the end of one that begins at i.
func (r *redactor) nameStart(i int, k class) int {
	from := i
	for from > r.last && i-from <= maxKey && k.has(r.s[from-1]) {
		from--
	}
	return from
}

func (r *redactor) nameEnd(i int) int {
	end := i
	for end < len(r.s) && end-i <= maxKey && token.has(r.s[end]) {
		end++
	}
	return end
}

// namedBefore returns what the name next to a value says about it, when the word "value"
// begins at i: name: DB_PASSWORD, value: ...; key="ApiKey" value=...
func (r *redactor) namedBefore(i int) keyKind {
	const between = "\"', \t\r\n-\\"
	end := i
	for i-end < 32 && end > r.last && strings.IndexByte(between, r.s[end-1]) >= 0 {
		end--
	}
	from := r.nameStart(end, dotted)
	before := strings.TrimRight(r.s[r.last:from], "\"' \\")
	if before == "" || before[len(before)-1] != ':' && before[len(before)-1] != '=' {
		return harmless
	}
	before = strings.TrimRight(before[:len(before)-1], "\"' \\")
	if !endsFold(before, "key") && !endsFold(before, "name") {
		return harmless
	}
	name := r.s[from:end]
	return kindOf(name[strings.LastIndexByte(name, '.')+1:])
}

func endsFold(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[len(s)-len(word):], word)
}
