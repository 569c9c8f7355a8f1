package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"beckon/event"
)

// display returns sentence i as one line for people: without emphasis, code
// marks and control characters, single spaces between words.
func (r *reading) display(i int) string {
	s := &r.all[i]
	return oneLine(r.src[s.from:s.to])
}

func oneLine(s string) string {
	var b strings.Builder
	gap := false
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsSpace(c) || unicode.IsControl(c):
			gap = true
		case c == '`' || c == '*' && !spaced(s, i, i+1, len(s)) || c == utf8.RuneError && n == 1 || event.Unsafe(c):
		default:
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(c)
		}
		i += n
	}
	return b.String()
}
