package redact

import (
	"math"
	"strings"
)

// class is a set of ASCII characters; each contains those before it.
type class uint8

const (
	upper  class = iota // A-Z, 0-9
	alnum               // and a-z
	word                // and _
	token               // and -
	dotted              // and .
	opaque              // and ~ + / = %: the characters of an Authorization header
)

func (k class) has(c byte) bool {
	switch {
	case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	case 'a' <= c && c <= 'z':
		return k >= alnum
	}
	switch c {
	case '_':
		return k >= word
	case '-':
		return k >= token
	case '.':
		return k >= dotted
	case '~', '+', '/', '=', '%':
		return k >= opaque
	}
	return false
}

// run returns the end of the run of characters at i, or 0 if it has fewer than min or lacks a
// required digit. Full stops at its end belong to the sentence.
func (r *redactor) run(i int, k class, min int, digit bool) int {
	end := i
	for end < len(r.s) && end-i < enough && k.has(r.s[end]) {
		end++
	}
	if digit && !hasDigit(r.s[i:end]) {
		return 0
	}
	for end-i >= enough && end < len(r.s) && k.has(r.s[end]) {
		end++
	}
	for end > i && r.s[end-1] == '.' {
		end--
	}
	if end-i < min {
		return 0
	}
	return end
}

// webToken finds a JSON web token: a header that begins with {" in base64, followed by two or
// more parts.
func (r *redactor) webToken(i int) found {
	const shortest = 36
	if i < r.noJWT || !strings.HasPrefix(r.s[i:], "eyJ") {
		return found{}
	}
	end, dots := i, 0
	for end < len(r.s) && dotted.has(r.s[end]) {
		if r.s[end] == '.' {
			dots++
		}
		end++
	}
	whole := end
	for r.s[end-1] == '.' {
		end, dots = end-1, dots-1
	}
	if dots < 2 || end-i < shortest {
		r.noJWT = whole // there is none further on in it either
		return found{}
	}
	return found{i, end, markJWT}
}

// bearer finds the token after the word Bearer.
func (r *redactor) bearer(i int) found {
	const word, shortest = "bearer", 20
	if len(r.s)-i <= len(word) || !strings.EqualFold(r.s[i:i+len(word)], word) || r.s[i+len(word)] != ' ' {
		return found{}
	}
	from := i + len(word) + 1
	if end := r.run(from, opaque, shortest, true); end > 0 && r.s[from] != '%' {
		return found{from, end, markAuth}
	}
	return found{}
}

// random reports whether s has more than that many tenths of bits per character. A placeholder
// (xxxx) has few.
func random(s string, tenths int) bool {
	var count [256]uint16
	for i := range len(s) {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			bits += float64(n) * math.Log2(float64(len(s))/float64(n))
		}
	}
	return bits*10 > float64(tenths*len(s))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// hasAny reports whether s has a byte from first to last.
func hasAny(s string, first, last byte) bool {
	for i := range len(s) {
		if first <= s[i] && s[i] <= last {
			return true
		}
	}
	return false
}

func hasDigit(s string) bool { return hasAny(s, '0', '9') }

func hasCapital(s string) bool { return hasAny(s, 'A', 'Z') }

func hasSmall(s string) bool { return hasAny(s, 'a', 'z') }
