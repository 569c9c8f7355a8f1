package redact

import "strings"

// encoded finds the value after the name that ends before a URL-encoded operator at i:
// NAME%3Dvalue, %22name%22%3A%22value%22.
func (r *redactor) encoded(i int) found {
	equals := beginsWith(r.s[i:], "%3D %3d")
	if !equals && !beginsWith(r.s[i:], "%3A %3a") {
		return found{}
	}
	end := i
	quote := i-len("%22") >= r.last && escapedQuote(r.s[i-len("%22"):])
	if quote {
		end -= len("%22")
	}
	from := r.nameStart(end, token)
	if from > r.last && r.s[from-1] == '%' && end-from >= 2 { // the digits belong to the escape before: %26DB_PASS
		from += 2
	}
	kind := kindOf(r.s[from:end])
	if kind == harmless && equals && from < i {
		kind = kindInQuery(r.s[from:i])
	}
	v := i + len("%3D")
	for n := 0; n < 4 && v < len(r.s) && (r.s[v] == '+' || strings.HasPrefix(r.s[v:], "%20")); n++ { // a space
		if r.s[v] == '%' {
			v += 2
		}
		v++
	}
	if v < len(r.s) && escapedQuote(r.s[v:]) {
		v, quote = v+len("%22"), true
	}
	if kind == harmless || kind == headerKey || kind == cookieKey || !equals && !quote || v == len(r.s) {
		return found{}
	}
	to := v
	for to < len(r.s) && to-v < 8*enough && !ends(r.s[to]) && !(r.s[to] == '%' && endsEncoded(r.s[to:])) {
		to++
	}
	value := r.s[v:to]
	if value == "" || beginsWith(value, "%24 %7B %3C") || placeholder(value) && value[0] != '%' {
		return found{}
	}
	if !r.accepts(value, kind, tight) {
		return found{}
	}
	return found{v, to, kind.mark()}
}

// escapedQuote reports whether s begins with a URL-encoded quote.
func escapedQuote(s string) bool {
	return beginsWith(s, "%22 %27")
}

// endsEncoded reports whether a value ends before the escape that s begins with:
// a quote, &, a comma, a semicolon, a space, a brace, a line break.
func endsEncoded(s string) bool {
	return len(s) >= 3 && strings.Contains("%22 %27 %26 %2C %2c %3B %3b %20 %7D %7d %0A %0a %0D %0d", s[:3])
}
