package jsonenc

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
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

// Decode fills the record that r points to from the object v and reports whether
// v is one. Members without a field and members of another type than the field's
// are skipped. v must come from valid JSON; strings share memory with it.
func Decode(v gjson.Result, r any) bool { return decodeRecord(v, reflect.ValueOf(r).Elem()) }

func decodeRecord(v gjson.Result, to reflect.Value) bool {
	if !v.IsObject() {
		return false
	}
	keys := keysOf(to.Type())
	next := 0 // members usually come in the order of the fields
	v.ForEach(func(key, v gjson.Result) bool {
		for i := range keys {
			if n := (next + i) % len(keys); keys[n] == key.Str {
				decodeValue(v, to.Field(n))
				next = n + 1
				break
			}
		}
		return true
	})
	return true
}

// decodeValue sets to and reports whether v is of its type.
func decodeValue(v gjson.Result, to reflect.Value) (ok bool) {
	switch kind := to.Kind(); {
	case kind == reflect.String && v.Type == gjson.String:
		to.SetString(v.Str)
	case kind == reflect.Bool && v.IsBool():
		to.SetBool(v.Bool())
	case kind == reflect.Int && v.Type == gjson.Number, kind == reflect.Int64 && v.Type == gjson.Number:
		to.SetInt(v.Int())
	case kind == reflect.Struct:
		return decodeRecord(v, to)
	case kind == reflect.Pointer && v.IsObject():
		to.Set(reflect.New(to.Type().Elem()))
		decodeRecord(v, to.Elem())
	case kind == reflect.Slice && v.IsArray():
		v.ForEach(func(_, v gjson.Result) bool {
			n := to.Len()
			to.Grow(1)
			to.SetLen(n + 1)
			if !decodeValue(v, to.Index(n)) {
				to.SetLen(n)
			}
			return true
		})
	default:
		return false
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
