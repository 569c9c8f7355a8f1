package redact

import "strings"

const white = " \t\r\n"

// element finds the text of an XML element whose start tag ends at i:
// <password>text</password>, <entry key="token">text</entry>.
func (r *redactor) element(i int) found {
	from, to := r.nameBefore(i)
	kind := kindOf(r.s[from:to])
	if kind == harmless || from == 0 || strings.IndexByte("<.:\"'", r.s[from-1]) < 0 {
		return found{}
	}
	if i+1 == len(r.s) || placeholder(r.s[i+1:]) {
		return found{}
	}
	end := i + 1
	for end < len(r.s) && r.s[end] != '<' && r.s[end] > ' ' {
		end++
	}
	if !strings.HasPrefix(r.s[end:], "</") || !r.accepts(r.s[i+1:end], kind, quoted) {
		return found{}
	}
	return found{i + 1, end, kind.mark()}
}

// cookie finds the values of a Cookie header that begins at v: name=value; ...
func (r *redactor) cookie(v int) found {
	const shortest = 8
	eq := v
	for eq < len(r.s) && eq-v < enough && dotted.has(r.s[eq]) {
		eq++
	}
	if eq == v || eq+1 >= len(r.s) || r.s[eq] != '=' || placeholder(r.s[eq+1:]) {
		return found{}
	}
	end := eq + 1
	for end < len(r.s) && r.s[end] > ' ' && strings.IndexByte("\"'`\\", r.s[end]) < 0 {
		if next := end + len("; "); strings.HasPrefix(r.s[end:], "; ") && next < len(r.s) && alnum.has(r.s[next]) {
			end = next
		}
		end++
	}
	if end-eq-1 < shortest {
		return found{}
	}
	return found{eq + 1, end, markCookie}
}

// pair finds the second of two quoted texts in brackets: ("user", "password").
func (r *redactor) pair(v int) found {
	const far = 128
	rest := r.s[v:min(len(r.s), v+far)]
	_, after, ok := strings.Cut(rest, ",")
	if !ok || len(rest) < 2 || quoteAt(rest, 1) == "" {
		return found{}
	}
	at := r.skipSpace(v + len(rest) - len(after))
	if at >= len(r.s) {
		return found{}
	}
	q := quoteAt(r.s, at)
	if q == "" {
		return found{}
	}
	return r.quotedValue(at+len(q), q, passwordKey)
}

// passLine finds the password in a line of a pgpass file, host:port:db:user:password, at the
// colon after its host, which begins at from.
func (r *redactor) passLine(colon, from int) found {
	const far, port = 256, 4
	for from > r.last && dotted.has(r.s[from-1]) {
		from--
	}
	if from > 0 && r.s[from-1] != '\n' || colon+1 == len(r.s) || r.s[colon+1] != '*' && !isDigit(r.s[colon+1]) {
		return found{}
	}
	line := r.s[colon+1 : min(len(r.s), colon+far)]
	if end := strings.IndexAny(line, white); end >= 0 {
		line = line[:end]
	}
	fields := strings.Split(line, ":")
	if len(fields) != 4 || fields[0] != "*" && (!isNumber(fields[0]) || len(fields[0]) < port) {
		return found{}
	}
	password := fields[3]
	if len(password) < 4 || isNumber(password) || placeholder(password) || fields[1] == "" || fields[2] == "" {
		return found{}
	}
	end := colon + 1 + len(line)
	return found{end - len(password), end, markPassword}
}

// spoken finds the secret after the word at i that announces one: the password is hunter2;
// machine h login me password x; #define PASS "x".
func (r *redactor) spoken(i int) found {
	if i+2 > len(r.s) || !mayName(r.s[i:i+2]) {
		return found{}
	}
	end := r.nameEnd(i)
	v := r.skipSpace(end)
	if v == end || v == len(r.s) {
		return found{}
	}
	// What follows is cheaper to check than the name.
	q := quoteAt(r.s, v)
	verb, said := r.skipFiller(v)
	netrc := lower(r.s[i]) == 'p' && r.inNetrc(i)
	if !netrc && q == "" && !hasDigit(r.s[said:r.saidEnd(said)]) {
		return found{}
	}
	name := r.s[r.nameStart(end, token):end]
	kind := kindOf(name)
	if kind == harmless && strings.EqualFold(name, "key") {
		kind = weakKey
	}
	switch {
	case kind != secretKey && kind != passwordKey && kind != weakKey:
		return found{}
	case q != "" && strings.Contains(name, "_"):
		return r.quotedValue(v+len(q), q, kind)
	case kind == passwordKey && netrc:
		return r.plainValue(v, kind, tight)
	}
	return r.said(said, kind, verb)
}

// mayName reports whether a word that begins like this may name a secret.
func mayName(begin string) bool {
	const begins = " pa pw se to ke ap ac au"
	return strings.Contains(begins, string([]byte{' ', lower(begin[0]), lower(begin[1])}))
}

// inNetrc reports whether the word password at i follows a login.
func (r *redactor) inNetrc(i int) bool {
	const far = 160
	before := r.s[max(r.last, i-far, 0):i]
	return strings.Contains(before, "login ") && strings.Contains(before, "machine ")
}

// skipFiller skips the verb between a secret's name and the secret.
func (r *redactor) skipFiller(v int) (said bool, _ int) {
	for _, w := range [...]string{"is ", "is: ", "was ", "to ", "key is ", "key is: "} {
		if strings.HasPrefix(r.s[v:], w) {
			return true, v + len(w)
		}
	}
	return false, v
}

// saidEnd returns the end of the word at v.
func (r *redactor) saidEnd(v int) int {
	if v < len(r.s) {
		v += len(quoteAt(r.s, v))
	}
	for v < len(r.s) && !ends(r.s[v]) {
		v++
	}
	return v
}

// said finds a secret in prose. It must look random, or, after a verb, like a password.
func (r *redactor) said(v int, kind keyKind, verb bool) found {
	end := r.saidEnd(v)
	if v < end {
		v += len(quoteAt(r.s, v))
	}
	for end > v && strings.IndexByte(".!?:", r.s[end-1]) >= 0 {
		end--
	}
	s := r.s[v:end]
	if s != "" {
		if f := r.key(v); f.mark != "" {
			return f
		}
	}
	if s == "" || placeholder(s) || isPath(s) || strings.Contains(s, "://") {
		return found{}
	}
	called := end < len(r.s) && r.s[end] == '('
	password := len(s) >= 6 && hasDigit(s) && (hasCapital(s) || hasSmall(s)) && !called
	token := len(s) >= 20 && oddLooking(s)
	if kind == passwordKey && verb && password || token && (verb || hasCapital(s)) {
		return found{v, end, kind.mark()}
	}
	return found{}
}
