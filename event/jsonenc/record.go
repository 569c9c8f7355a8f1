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
		dst = append(comma(dst), '"')
		dst = append(append(dst, key...), '"', ':')
		if dst, zero = appendValue(dst, v.Field(i)); zero {
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
			dst, _ = appendValue(comma(dst), v.Index(i))
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
	return d.peek() == '{' && d.value(reflect.ValueOf(r).Elem()) && d.peek() == 0 && d.at == len(text) && !d.bad
}

// decoder reads a text in one pass. It goes on after an error, to the end of the text at most.
type decoder struct {
	text  string
	at    int
	depth int // of nested brackets
	bad   bool
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

// take consumes c, which must be next.
func (d *decoder) take(c byte) {
	d.bad = d.bad || d.peek() != c
	d.at++
}

// list reads the items between brackets by calling each.
func (d *decoder) list(end byte, each func()) {
	d.depth++
	d.bad = d.bad || d.depth > maxDepth
	if d.at++; d.peek() != end {
		for each(); !d.bad && d.peek() != end; each() {
			d.take(',')
		}
	}
	d.take(end)
	d.depth--
}

// value reads a value into to, and reports whether it has its type. The zero to skips it.
func (d *decoder) value(to reflect.Value) (set bool) {
	kind := to.Kind()
	switch d.peek() {
	case '{':
		if kind == reflect.Pointer {
			if to.IsNil() {
				to.Set(reflect.New(to.Type().Elem()))
			}
			to = to.Elem()
		}
		var keys []string
		if set = to.Kind() == reflect.Struct; set {
			keys = keysOf(to.Type())
		}
		next := 0 // members usually come in the order of the fields
		d.list('}', func() {
			key, field := d.str(), reflect.Value{}
			d.take(':')
			for range keys {
				n := next
				if next++; next == len(keys) {
					next = 0
				}
				if keys[n] == key {
					field = to.Field(n)
					break
				}
			}
			d.value(field)
		})
	case '[':
		if set = kind == reflect.Slice; set {
			to.SetZero()
		}
		d.list(']', func() {
			if !set {
				d.value(reflect.Value{})
				return
			}
			n := to.Len()
			to.Grow(1)
			to.SetLen(n + 1)
			if !d.value(to.Index(n)) {
				to.SetLen(n)
			}
		})
	case '"':
		s := d.str()
		if set = kind == reflect.String; set {
			to.SetString(s)
		}
	default:
		start := min(d.at, len(d.text))
		for d.at = start; d.at < len(d.text); d.at++ {
			if c := d.text[d.at]; c == ',' || c == ']' || c == '}' || c <= ' ' {
				break
			}
		}
		switch token := d.text[start:d.at]; token {
		case "true", "false":
			if set = kind == reflect.Bool; set {
				to.SetBool(token == "true")
			}
		case "null":
		default:
			n, err := strconv.ParseInt(token, 10, 64)
			if err != nil || token[0] <= '0' { // ParseInt takes +7 and 007, too
				d.bad = d.bad || !gjson.Valid(token)
			}
			if set = err == nil && (kind == reflect.Int || kind == reflect.Int64); set {
				to.SetInt(n)
			}
		}
	}
	return set
}

// str reads a string.
func (d *decoder) str() string {
	d.take('"')
	for i, escaped := d.at, false; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '"':
			s := d.text[d.at:i]
			if escaped {
				d.bad = d.bad || !gjson.Valid(d.text[d.at-1:i+1])
				s = Unescape(s, -1)
			}
			d.at = i + 1
			return s
		case c < ' ':
			d.bad = true
			return ""
		case c == '\\':
			escaped = true
			i++
		}
	}
	d.bad = true
	return ""
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
