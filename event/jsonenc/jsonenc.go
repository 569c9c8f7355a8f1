// Package jsonenc encodes and decodes JSON for the records of a process that lives a
// millisecond: what encoding/json prepares at its first use costs that process a tenth of its
// start.
//
// Its output is byte for byte that of encoding/json with HTML escaping off and
// omitempty/omitzero on every field, and it decodes that output as encoding/json does; tests
// enforce both. One thing differs: a byte that is not UTF-8 is written as the character
// U+FFFD, not as its escape, so that a record read and written again has the same bytes.
package jsonenc

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

func init() { gjson.SetEscapeHTML(false) } // only AppendString depends on it

// AppendString appends s as a JSON string. A byte that is not UTF-8 becomes
// U+FFFD; control characters, U+2028 and U+2029 are escaped.
func AppendString(dst []byte, s string) []byte { return gjson.AppendJSONString(dst, s) }

// comma appends a comma unless dst ends where an object or array begins.
func comma(dst []byte) []byte {
	if n := len(dst); n == 0 || dst[n-1] == '{' || dst[n-1] == '[' {
		return dst
	}
	return append(dst, ',')
}

// Unquote returns the text of a valid string token as Unescape does. A token
// that is not a string gives "".
func Unquote(raw string, max int) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return Unescape(raw[1:len(raw)-1], max)
}

// Unescape returns the text between the quotes of a valid string token, as encoding/json reads
// it: lone surrogates and bytes that are not UTF-8 become U+FFFD. It stops at the last
// character that fits in max bytes; max < 0 means all. The result shares no memory with raw.
func Unescape(raw string, max int) string {
	text := raw
	if strings.IndexByte(raw, '\\') >= 0 {
		text = gjson.Parse(`"` + raw + `"`).Str
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	if max >= 0 && max < len(text) {
		for max > 0 && !utf8.RuneStart(text[max]) {
			max--
		}
		text = text[:max]
	}
	return strings.Clone(text)
}
