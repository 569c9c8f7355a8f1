package jsonenc

import (
	"unicode/utf16"
	"unicode/utf8"
)

// IsString reports whether raw is a string token.
func IsString(raw string) bool { return len(raw) >= 2 && raw[0] == '"' }

// Unquote returns the text of a valid string token as Unescape does. A token
// that is not a string gives "".
func Unquote(raw string, max int) string {
	if !IsString(raw) {
		return ""
	}
	return Unescape(raw[1:len(raw)-1], max)
}

// Unescape returns the text between the quotes of a valid string token, as encoding/json reads
// it: lone surrogates and bytes that are not UTF-8 become U+FFFD. It stops at the last
// character that fits in max bytes; max < 0 means all. The result shares no memory with raw.
func Unescape(raw string, max int) string {
	if max < 0 || max > len(raw)*utf8.UTFMax {
		max = len(raw) * utf8.UTFMax
	}
	out := make([]byte, 0, min(max, len(raw)))
	for len(raw) > 0 {
		r, n := decode(raw)
		if len(out)+utf8.RuneLen(r) > max {
			break
		}
		out = utf8.AppendRune(out, r)
		raw = raw[n:]
	}
	return string(out)
}

// decode reads the first character of a string token's inside.
func decode(s string) (rune, int) {
	switch {
	case s[0] != '\\' && s[0] < utf8.RuneSelf:
		return rune(s[0]), 1
	case s[0] != '\\':
		return utf8.DecodeRuneInString(s)
	case len(s) < 2:
		return utf8.RuneError, 1
	case s[1] == 'u':
		return decodeU(s)
	}
	if c := Escapes[s[1]]; c != 0 {
		return rune(c), 2
	}
	return rune(s[1]), 2
}

// Escapes has the meanings of the two-byte escapes, by the second byte.
var Escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// decodeU reads \uXXXX, and a second one with it if they form a surrogate pair.
func decodeU(s string) (rune, int) {
	r := hex4(s)
	if r < 0 {
		return utf8.RuneError, len(s)
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if pair := utf16.DecodeRune(r, hex4(s[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// hex4 returns the value of the \uXXXX that s starts with, or -1.
func hex4(s string) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	var r rune
	for i := 2; i < 6; i++ {
		d := HexDigit(s[i])
		if d < 0 {
			return -1
		}
		r = r<<4 | d
	}
	return r
}

// HexDigit returns the value of a hexadecimal digit, -1 for anything else.
func HexDigit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}
