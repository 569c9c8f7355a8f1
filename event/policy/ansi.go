package policy

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ansi reads $'...', whose escapes are those of C.
func (s *scanner) ansi() {
	s.line.opaque, s.open = true, true
	for s.at += len("$'"); s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case '\'':
			s.at++
			return
		case '\\':
			s.at++
			s.character()
		default:
			s.put(c)
		}
	}
	s.line.broken = true
}

// character reads what follows the backslash in $'...'.
func (s *scanner) character() {
	if s.at == len(s.text) {
		return
	}
	c := s.text[s.at]
	if i := strings.IndexByte("abeEfnrtv", c); i >= 0 {
		s.put("\a\b\x1b\x1b\f\n\r\t\v"[i])
		return
	}
	switch c {
	case 'x':
		s.coded(1, 2, 16)
	case 'u':
		s.coded(1, 4, 16)
	case 'U':
		s.coded(1, 8, 16)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		s.coded(0, 3, 8)
	default:
		s.put(c)
	}
}

// coded reads a character by its number: at most so many digits, after a
// letter or not.
func (s *scanner) coded(letter, most, base int) {
	first := s.at + letter
	end := first
	for end < min(first+most, len(s.text)) && strings.IndexByte("0123456789abcdefABCDEF", s.text[end]) >= 0 && (base == 16 || s.text[end] < '8') {
		end++
	}
	n, err := strconv.ParseUint(s.text[first:end], base, 32)
	switch {
	case err != nil:
		s.line.broken = true
	case most <= 3: // a byte
		s.word.WriteByte(byte(n))
	default:
		s.word.Write(utf8.AppendRune(nil, rune(n)))
	}
	s.at = end
}
