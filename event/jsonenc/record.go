package jsonenc

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// Append appends the record that r points to as a JSON object: a struct of strings, flags,
// numbers, records, pointers to records, and lists of those, with their keys in its tags. Zero
// values (for a record: one whose members are all zero) are left out.
func Append(dst []byte, r any) []byte {
	v := reflect.ValueOf(r).Elem()
	return appendRecord(dst, v)
}

var tags sync.Map // reflect.Type of a record -> []string

// keysOf returns the keys of a type of record, in the order of its fields. They are read at
// the first use: a process that lives a millisecond sees few types.
func keysOf(t reflect.Type) []string {
	if known, ok := tags.Load(t); ok {
		return known.([]string)
	}
	keys := make([]string, t.NumField())
	for i := range keys {
		keys[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	tags.Store(t, keys)
	return keys
}

func appendRecord(dst []byte, v reflect.Value) []byte {
	dst = append(dst, '{')
	for i, key := range keysOf(v.Type()) {
		mark, zero := len(dst), false
		if dst, zero = appendValue(Key(dst, key), v.Field(i)); zero {
			dst = dst[:mark]
		}
	}
	return append(dst, '}')
}

// appendValue appends v, the value of a member, and reports whether it is zero.
func appendValue(dst []byte, v reflect.Value) (_ []byte, zero bool) {
	mark := len(dst)
	switch v.Kind() {
	case reflect.String:
		return AppendString(dst, v.String()), v.Len() == 0
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool()), !v.Bool()
	case reflect.Int, reflect.Int64:
		return strconv.AppendInt(dst, v.Int(), 10), v.Int() == 0
	case reflect.Struct:
		dst = appendRecord(dst, v)
		return dst, len(dst) == mark+len("{}")
	case reflect.Pointer:
		if v.IsNil() {
			return dst, true
		}
		return appendRecord(dst, v.Elem()), false
	case reflect.Slice:
		dst = append(dst, '[')
		for i := range v.Len() {
			dst, _ = appendValue(Comma(dst), v.Index(i))
		}
		return append(dst, ']'), v.Len() == 0
	}
	panic("jsonenc: a record cannot hold " + v.Type().String())
}

// Decode fills the record that r points to from text and reports whether that is exactly one
// JSON object. Members without a field and members of another type than the field's are
// skipped. Strings without escapes share memory with text.
func Decode(text string, r any) bool {
	d := decoder{text: text}
	to := reflect.ValueOf(r).Elem()
	return d.peek() == '{' && d.record(to) && d.peek() == 0 && d.at == len(text)
}

// Fault returns where text stops being JSON: at or before the byte that is wrong, in the same
// string or number.
func Fault(text string) int {
	d := decoder{text: text}
	if d.peek(); d.skip() {
		d.peek()
	}
	return d.at
}

// decoder reads a text in one pass. Its methods report whether the next token is valid, and
// consume it.
type decoder struct {
	text  string
	at    int
	depth int // of nested brackets
}

// maxDepth limits nested brackets: a text could otherwise exhaust the stack, which ends the
// process. It is encoding/json's limit, and our records stay below ten.
const maxDepth = 10_000

// peek skips white space and returns the next byte, 0 at the end.
func (d *decoder) peek() byte {
	for ; d.at < len(d.text); d.at++ {
		if c := d.text[d.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// take consumes c if it is next, and reports whether it was.
func (d *decoder) take(c byte) bool {
	if d.peek() != c {
		return false
	}
	d.at++
	return true
}

// list reads the items between brackets by calling each.
func (d *decoder) list(end byte, each func() bool) bool {
	if d.depth++; d.depth > maxDepth {
		return false
	}
	defer func() { d.depth-- }()
	d.at++
	if d.take(end) {
		return true
	}
	for each() {
		if d.take(end) {
			return true
		}
		if !d.take(',') {
			return false
		}
	}
	return false
}

func (d *decoder) record(to reflect.Value) bool {
	keys := keysOf(to.Type())
	next := 0 // members usually come in the order of the fields
	return d.list('}', func() bool {
		key, ok := d.str()
		if !ok || !d.take(':') {
			return false
		}
		for range keys {
			if next == len(keys) {
				next = 0
			}
			n := next
			if next++; keys[n] == key {
				_, ok := d.value(to.Field(n))
				return ok
			}
		}
		return d.skip()
	})
}

// value reads the value of a member into to, and reports whether it has its type.
func (d *decoder) value(to reflect.Value) (set, ok bool) {
	switch kind, c := to.Kind(), d.peek(); {
	case kind == reflect.String && c == '"':
		s, ok := d.str()
		to.SetString(s)
		return true, ok
	case kind == reflect.Bool && (c == 't' || c == 'f'):
		to.SetBool(c == 't')
		return true, d.skip()
	case (kind == reflect.Int || kind == reflect.Int64) && (c == '-' || isDigit(c)):
		n, whole, ok := d.number()
		if whole {
			to.SetInt(n)
		}
		return whole, ok
	case kind == reflect.Struct && c == '{':
		return true, d.record(to)
	case kind == reflect.Pointer && c == '{':
		if to.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
		}
		return true, d.record(to.Elem())
	case kind == reflect.Slice && c == '[':
		to.SetZero()
		return true, d.list(']', func() bool {
			n := to.Len()
			to.Grow(1)
			to.SetLen(n + 1)
			set, ok := d.value(to.Index(n))
			if !set {
				to.SetLen(n)
			}
			return ok
		})
	}
	return false, d.skip()
}

// skip skips a value.
func (d *decoder) skip() bool {
	switch c := d.peek(); c {
	case '{':
		return d.list('}', func() bool {
			_, ok := d.str()
			return ok && d.take(':') && d.skip()
		})
	case '[':
		return d.list(']', d.skip)
	case '"':
		_, ok := d.str()
		return ok
	case 't':
		return d.word("true")
	case 'f':
		return d.word("false")
	case 'n':
		return d.word("null")
	}
	_, _, ok := d.number()
	return ok
}

func (d *decoder) word(w string) bool {
	if !strings.HasPrefix(d.text[d.at:], w) {
		return false
	}
	d.at += len(w)
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number reads a number, and reports whether it is an integer that n can hold.
func (d *decoder) number() (n int64, whole, ok bool) {
	start := d.at
	for i := 0; i < 18 && start+i < len(d.text); i++ { // as nearly all are: 3 % of a view of 1,000 sessions
		c := d.text[start+i]
		if isDigit(c) {
			n = n*10 + int64(c-'0')
			continue
		}
		if (c == ',' || c == '}') && i > 0 && (i == 1 || d.text[start] != '0') {
			d.at += i
			return n, true, true
		}
		break
	}
	for d.at < len(d.text) && (isDigit(d.text[d.at]) || strings.IndexByte("-+.eE", d.text[d.at]) >= 0) {
		d.at++
	}
	token := d.text[start:d.at]
	n, err := strconv.ParseInt(token, 10, 64)
	whole = err == nil
	if ok = whole && token[0] > '0' || gjson.Valid(token); !ok { // ParseInt takes +7 and 007, too
		d.at = start
	}
	return n, whole, ok
}

// str reads a string.
func (d *decoder) str() (s string, ok bool) {
	if !d.take('"') {
		return "", false
	}
	rest, escaped := d.text[d.at:], false
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			start := d.at - 1
			if token := d.text[start : d.at+i+1]; escaped && !gjson.Valid(token) {
				d.at = start
				return "", false
			} else if escaped {
				s = Unquote(token, -1)
			} else {
				s = rest[:i]
			}
			d.at += i + 1
			return s, true
		case c < ' ':
			if !escaped { // otherwise the escape may be wrong
				d.at += i
			}
			return "", false
		case c == '\\':
			escaped = true
			i++
		}
	}
	return "", false
}

// Each calls f with every string, number and flag of the record that r points to, and of the
// records and lists in it. It follows pointers, whose targets may be shared with other records.
func Each(r any, f func(reflect.Value)) { each(reflect.ValueOf(r).Elem(), f) }

func each(v reflect.Value, f func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), f)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			each(v.Elem(), f)
		}
	default:
		f(v)
	}
}
