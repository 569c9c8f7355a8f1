package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"beckon/event/jsonenc"
)

// member is one member of a JSON object, its value as it was written.
type member struct {
	key   string
	value gjson.Result
}

// members returns the members of the one object that data is, in order. A name
// that is there twice is an error: which one counts depends on the reader,
// and a policy must not.
func members(data []byte) ([]member, error) {
	if !json.Valid(data) {
		return nil, errors.New("it is not JSON")
	}
	v := gjson.ParseBytes(data)
	if !v.IsObject() {
		return nil, fmt.Errorf("it is not a JSON object but %s", kind(v))
	}
	var list []member
	seen := map[string]bool{}
	twice := ""
	v.ForEach(func(k, value gjson.Result) bool {
		key := jsonenc.Unquote(k.Raw, -1)
		if seen[key] {
			twice = key
		}
		seen[key] = true
		list = append(list, member{key, value})
		return true
	})
	if twice != "" {
		return nil, fmt.Errorf("it has the member %q twice", twice)
	}
	return list, nil
}

// kind is the JSON type of a value, in words.
func kind(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "an object"
	case v.IsArray():
		return "an array"
	case v.Type == gjson.String:
		return "a string"
	case v.Type == gjson.Number:
		return "a number"
	case v.Type == gjson.Null:
		return "null"
	}
	return "a boolean"
}

// object builds an object.
type object struct{ buf []byte }

func (o *object) add(key string, raw []byte) {
	if len(o.buf) > 0 {
		o.buf = append(o.buf, ',')
	}
	o.buf = jsonenc.AppendString(o.buf, key)
	o.buf = append(append(o.buf, ':'), raw...)
}

func (o *object) str(key, s string) { o.add(key, jsonenc.AppendString(nil, s)) }

func (o *object) bytes() []byte { return append(append([]byte{'{'}, o.buf...), '}') }

// Overlay returns base with the members of over put over it: those that base
// has take their place, new ones follow, and one that is null is left out,
// because there is no other way to say that a field is to go. Errors: either is no
// object, or has a member twice.
func Overlay(base, over []byte) ([]byte, error) {
	old, err := members(base)
	if err != nil {
		return nil, err
	}
	changes, err := members(over)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, m := range old {
		at[m.key] = i
	}
	for _, m := range changes {
		if i, ok := at[m.key]; ok {
			old[i] = m
		} else {
			old = append(old, m)
		}
		at[m.key] = -1
	}
	var o object
	for _, m := range old {
		if changed := at[m.key] == -1; !changed || m.value.Type != gjson.Null {
			o.add(m.key, []byte(m.value.Raw))
		}
	}
	return o.bytes(), nil
}

// sameJSON reports whether two values say the same, whatever their layout and
// the order of their members. Numbers are the same when they are written alike.
func sameJSON(a, b []byte) bool {
	x, errX := canonical(a)
	y, errY := canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func canonical(data []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v) // sorts the members
}
