package jsonenc

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Append appends the record that r points to as a JSON object: a struct of
// strings, flags, numbers, records, pointers to records, and lists of those, with
// their keys in its tags. A zero value (for a record: one whose members are all
// zero) is left out.
func Append(dst []byte, r any) []byte { return appendRecord(dst, reflect.ValueOf(r).Elem()) }

// keys are the members' keys by type of record, in the order of its fields.
var keys sync.Map // reflect.Type -> []string

func keysOf(t reflect.Type) []string {
	if known, ok := keys.Load(t); ok {
		return known.([]string)
	}
	list := make([]string, t.NumField())
	for i := range list {
		list[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	keys.Store(t, list)
	return list
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

// appendValue appends v and reports whether it is zero.
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

// Decode fills the record that r points to from text and reports whether that is one
// JSON object, and nothing else. Members without a field and members of another type
// than the field's are skipped. Strings without escapes share memory with text.
func Decode(text string, r any) bool {
	d := decoder{text: text}
	return d.peek() == '{' && d.record(reflect.ValueOf(r).Elem()) && d.peek() == 0 && d.at == len(text)
}

// decoder reads a text in one pass. Its methods report whether what stands there is
// valid, and leave it behind.
type decoder struct {
	text string
	at   int
}

// peek passes over white space and returns the byte there, 0 at the end.
func (d *decoder) peek() byte {
	for ; d.at < len(d.text); d.at++ {
		if c := d.text[d.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// take passes over c if it is next, and reports whether it was.
func (d *decoder) take(c byte) bool {
	if d.peek() != c {
		return false
	}
	d.at++
	return true
}

// list reads what stands between brackets: as many as there are of what each reads.
func (d *decoder) list(end byte, each func() bool) bool {
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
		for i := range keys {
			if n := (next + i) % len(keys); keys[n] == key {
				next = n + 1
				_, ok := d.value(to.Field(n))
				return ok
			}
		}
		return d.skip()
	})
}

// value reads a value into to, and reports whether it is of its type.
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
		start := d.at
		ok := d.number()
		n, err := strconv.ParseInt(d.text[start:d.at], 10, 64)
		if err == nil {
			to.SetInt(n)
		}
		return err == nil, ok
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

// skip passes over a value.
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
	return d.number()
}

func (d *decoder) word(w string) bool {
	if !strings.HasPrefix(d.text[d.at:], w) {
		return false
	}
	d.at += len(w)
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// digits passes over digits, and reports whether there are any.
func (d *decoder) digits() bool {
	start := d.at
	for d.at < len(d.text) && isDigit(d.text[d.at]) {
		d.at++
	}
	return d.at > start
}

// number passes over a number.
func (d *decoder) number() bool {
	is := func(set string) bool {
		if d.at == len(d.text) || strings.IndexByte(set, d.text[d.at]) < 0 {
			return false
		}
		d.at++
		return true
	}
	is("-")
	if !is("0") && !d.digits() {
		return false
	}
	if is(".") && !d.digits() {
		return false
	}
	if is("eE") {
		is("+-")
		return d.digits()
	}
	return true
}

// str reads a string.
func (d *decoder) str() (s string, ok bool) {
	if !d.take('"') {
		return "", false
	}
	start, escaped := d.at, false
	for ; d.at < len(d.text); d.at++ {
		switch c := d.text[d.at]; {
		case c == '"':
			s = d.text[start:d.at]
			d.at++
			if escaped {
				s = Unescape(s, -1)
			}
			return s, true
		case c < ' ':
			return "", false
		case c == '\\':
			escaped = true
			if d.at++; !isEscape(d.text[d.at:]) {
				return "", false
			}
		}
	}
	return "", false
}

// isEscape reports whether what follows a backslash does so in a valid string.
func isEscape(s string) bool {
	if s == "" || s[0] != 'u' {
		return s != "" && strings.IndexByte(`"\/bfnrt`, s[0]) >= 0
	}
	for i := 1; i <= 4; i++ {
		if i >= len(s) || HexDigit(s[i]) < 0 {
			return false
		}
	}
	return true
}

// Each calls f with every string, number and flag of the record that r points to,
// and of the records and lists in it. What it only points to, others may hold too.
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
	default:
		f(v)
	}
}
