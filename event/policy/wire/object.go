package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"beckon/event/jsonenc"

	"github.com/tidwall/gjson"
)

// Encode writes v as JSON, with < and & as they are, because people read it.
func Encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// must is Encode for values that cannot fail: texts, and JSON that was parsed before.
func must(v any) []byte {
	b, err := Encode(v)
	if err != nil {
		panic(err)
	}
	return b
}

// members returns the members of the one object in data. A repeated name is an error: parsers differ in
// which one counts.
func members(data []byte) (map[string]gjson.Result, error) {
	if !json.Valid(data) {
		return nil, errors.New("it is not JSON")
	}
	v := gjson.ParseBytes(data)
	if !v.IsObject() {
		return nil, fmt.Errorf("it is not a JSON object but %s", kind(v))
	}
	all := map[string]gjson.Result{}
	var err error
	v.ForEach(func(k, value gjson.Result) bool {
		key := jsonenc.Unquote(k.Raw, -1)
		if _, there := all[key]; there {
			err = fmt.Errorf("it has the member %q twice", key)
		}
		all[key] = value
		return err == nil
	})
	return all, err
}

// The types of members.
const str, boolean, object = "a string", "a boolean", "an object"

// read returns the members of an object by name, checking the types of known ones.
func read(data []byte, known map[string]string) (map[string]gjson.Result, error) {
	fields, err := members(data)
	for name, want := range known {
		if v, there := fields[name]; there && kind(v) != want {
			return nil, fmt.Errorf("%s is %s and not %s", name, kind(v), want)
		}
	}
	return fields, err
}

// kind returns the JSON type of a value, in words.
func kind(v gjson.Result) string {
	switch {
	case v.IsObject():
		return object
	case v.IsArray():
		return "an array"
	case v.Type == gjson.String:
		return str
	case v.Type == gjson.Number:
		return "a number"
	case v.Type == gjson.Null:
		return "null"
	}
	return boolean
}

// Overlay returns base with the members of over merged into it; null removes one. It fails if either is not an
// object, or has a repeated member.
func Overlay(base, over []byte) ([]byte, error) {
	out := map[string]json.RawMessage{}
	for i, object := range [][]byte{base, over} {
		list, err := members(object)
		if err != nil {
			return nil, err
		}
		for name, v := range list {
			if out[name] = json.RawMessage(v.Raw); i > 0 && v.Type == gjson.Null {
				delete(out, name)
			}
		}
	}
	return Encode(out)
}

// Compact returns JSON without white space, nil if it is not an object.
func Compact(data []byte) []byte {
	var out bytes.Buffer
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' || json.Compact(&out, data) != nil {
		return nil
	}
	return out.Bytes()
}

// sameJSON reports whether two values are equal, whatever the order of their members. Numbers are compared as
// written.
func sameJSON(a, b []byte) bool {
	var values [2]any
	for i, data := range [][]byte{a, b} {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if d.Decode(&values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// WithInput returns the payload with another tool_input and all other bytes unchanged.
func WithInput(payload, input []byte) ([]byte, error) {
	return splice(payload, gjson.GetBytes(payload, "tool_input"), input)
}

// splice returns the payload with one of its values replaced.
func splice(payload []byte, old gjson.Result, now []byte) ([]byte, error) {
	if old.Index == 0 {
		return nil, errors.New("the event has no tool_input")
	}
	return slices.Concat(payload[:old.Index], now, payload[old.Index+len(old.Raw):]), nil
}
