package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"beckon/event"
	"beckon/event/jsonenc"

	"github.com/tidwall/gjson"
)

// answerMembers are the members of the client's own output, with their types.
var answerMembers = map[string]string{
	"continue":         boolean,
	"suppressOutput":   boolean,
	"stopReason":       str,
	"systemMessage":    str,
	"terminalSequence": str,
	"decision":         str,
	"reason":           str,
	specific:           object,
}

// ParseAnswer parses the client's own output JSON. Known members must have their types; what has no field
// here stays in Raw. UpdatedInput may come with Allow and Ask, and without a decision, which becomes
// Modify. "approve" is PreToolUse's old word for allow.
func ParseAnswer(k event.Kind, data []byte) (Outcome, error) {
	fields, err := read(data, answerMembers)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{Raw: data, System: fields["systemMessage"].Str, Reason: fields["reason"].Str}
	switch d := fields["decision"]; {
	case !d.Exists():
	case d.Str == "block":
		o.Decision = Deny
	case d.Str == "approve" && k == event.PreToolUse:
		o.Decision = Allow
	default:
		return Outcome{}, fmt.Errorf("decision %q is not one that %s has", event.OneLine(d.Str, 40), k)
	}
	if v := fields[specific]; v.Exists() {
		if err := o.specific(k, v); err != nil {
			return Outcome{}, fmt.Errorf("hookSpecificOutput: %w", err)
		}
	}
	if o.UpdatedInput != nil && o.Decision == Silence {
		o.Decision = Modify
	}
	o.Reason = Reason(o.Reason)
	return o, nil
}

// specific reads hookSpecificOutput. "defer" is not a decision of ours; it stays in Raw.
func (o *Outcome) specific(k event.Kind, v gjson.Result) error {
	fields, err := read([]byte(v.Raw), map[string]string{
		"hookEventName":            str,
		"additionalContext":        str,
		"permissionDecision":       str,
		"permissionDecisionReason": str,
		"updatedInput":             object,
	})
	if err != nil {
		return err
	}
	if name := fields["hookEventName"].Str; name != string(k) {
		return fmt.Errorf("hookEventName is %q and not %q", event.OneLine(name, 40), k)
	}
	o.Context = fields["additionalContext"].Str
	word, reason := "permissionDecision", "permissionDecisionReason"
	switch k {
	case event.PreToolUse:
	case event.PermissionRequest:
		if !fields["decision"].Exists() {
			return nil
		}
		word, reason = "behavior", "message"
		fields, err = read([]byte(fields["decision"].Raw), map[string]string{
			"behavior":     str,
			"message":      str,
			"updatedInput": object,
			"interrupt":    boolean,
		})
		if err != nil {
			return fmt.Errorf("decision: %w", err)
		}
	default:
		return nil
	}
	switch d := fields[word]; {
	case d.Str == "allow" || d.Str == "deny" || d.Str == "ask" && k == event.PreToolUse:
		o.Decision = Decision(d.Str)
		o.Reason = cmp.Or(fields[reason].Str, o.Reason)
	case k == event.PreToolUse && (d.Str == "defer" || !d.Exists()):
	default:
		return fmt.Errorf("%s is no decision: %q", word, event.OneLine(d.Str, 40))
	}
	if in := fields["updatedInput"]; in.Exists() && o.Decision != Deny {
		o.UpdatedInput = []byte(in.Raw)
	}
	return nil
}

// ParseResponse parses an answer over HTTP: the client's own output JSON, or a plain yes or no (see plain).
// Either may be in a member "result", as Open Policy Agent answers.
func ParseResponse(k event.Kind, body []byte) (Outcome, error) {
	o, said, err := plain(body)
	if err != nil || o.Decision == Deny {
		return o, err
	}
	v := gjson.ParseBytes(body)
	if in := v.Get("result"); in.Exists() {
		v = in
	}
	for name := range answerMembers {
		if v.Get(name).Exists() {
			return ParseAnswer(k, []byte(v.Raw))
		}
	}
	if !said && string(bytes.TrimSpace(body)) != "{}" {
		return o, errors.New("it says neither yes nor no, nor has it anything that the client knows")
	}
	return o, nil
}

// plain parses an answer that says no more than yes or no: true, false, or an object with a boolean "allow" or
// "allowed", or with "deny": a boolean, or a list of reasons. One no is enough. said is false for other JSON.
func plain(body []byte) (o Outcome, said bool, err error) {
	v := gjson.ParseBytes(body)
	if !json.Valid(body) {
		return o, false, errors.New("it is not JSON")
	}
	for range 2 {
		if v.IsObject() {
			if _, err := members([]byte(v.Raw)); err != nil {
				return o, false, err
			}
		}
		if in := v.Get("result"); in.Exists() {
			v = in
		}
	}
	var reasons []string
	no := v.Type == gjson.False
	said = no || v.Type == gjson.True
	for _, name := range []string{"allow", "allowed", "deny"} {
		is := v.Get(name)
		switch {
		case !is.Exists():
			continue
		case is.IsBool():
			no = no || is.Bool() == (name == "deny")
		case name == "deny" && is.IsArray():
			for _, reason := range is.Array() {
				no = true
				reasons = append(reasons, reason.String())
			}
		default:
			return o, false, fmt.Errorf("%s is %s and not a boolean", name, kind(is))
		}
		said = true
	}
	switch {
	case no:
		o.Decision = Deny
		o.Reason = Reason(strings.Join(append(reasons, v.Get("reason").String()), "\n"))
	case said:
		o.Decision = Allow
	}
	return o, said, nil
}

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

// members returns the members of the one object in data. A repeated name is an error: parsers differ on it.
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

// Overlay returns an object with the members of another one merged into it; null removes one.
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

// sameJSON reports whether two values are equal, with members in any order, and numbers as written.
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
