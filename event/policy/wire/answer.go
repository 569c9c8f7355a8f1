package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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
func ParseAnswer(event string, data []byte) (Outcome, error) {
	fields, err := read(data, answerMembers)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{Raw: data, System: fields["systemMessage"].Str, Reason: fields["reason"].Str}
	switch d := fields["decision"]; {
	case !d.Exists():
	case d.Str == "block":
		o.Decision = Refusal(event)
	case d.Str == "approve" && event == "PreToolUse":
		o.Decision = Allow
	default:
		return Outcome{}, fmt.Errorf("decision %q is not one that %s has", Printable(d.Str, 40), event)
	}
	if v := fields[specific]; v.Exists() {
		if err := o.specific(event, v); err != nil {
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
func (o *Outcome) specific(event string, v gjson.Result) error {
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
	if name := fields["hookEventName"].Str; name != event {
		return fmt.Errorf("hookEventName is %q and not %q", Printable(name, 40), event)
	}
	o.Context = fields["additionalContext"].Str
	word, reason := "permissionDecision", "permissionDecisionReason"
	switch event {
	case "PreToolUse":
	case "PermissionRequest":
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
	case d.Str == "allow" || d.Str == "deny" || d.Str == "ask" && event == "PreToolUse":
		o.Decision = Decision(d.Str)
		o.Reason = cmp.Or(fields[reason].Str, o.Reason)
	case event == "PreToolUse" && (d.Str == "defer" || !d.Exists()):
	default:
		return fmt.Errorf("%s is no decision: %q", word, Printable(d.Str, 40))
	}
	if in := fields["updatedInput"]; in.Exists() && o.Decision != Deny {
		o.UpdatedInput = []byte(in.Raw)
	}
	return nil
}

// ParseResponse parses an answer over HTTP: the client's own output JSON, or a plain yes or no (see plain).
// Either may be in a member "result", as Open Policy Agent answers.
func ParseResponse(event string, body []byte) (Outcome, error) {
	o, said, err := plain(event, body)
	if err != nil || o.Decision.Refuses() {
		return o, err
	}
	v := gjson.ParseBytes(body)
	if in := v.Get("result"); in.Exists() {
		v = in
	}
	for name := range answerMembers {
		if v.Get(name).Exists() {
			return ParseAnswer(event, []byte(v.Raw))
		}
	}
	if !said && string(bytes.TrimSpace(body)) != "{}" {
		return o, errors.New("it says neither yes nor no, nor has it anything that the client knows")
	}
	return o, nil
}

// plain parses an answer that says no more than yes or no: true, false, or an object with a boolean "allow" or
// "allowed", or with "deny": a boolean, or a list of reasons. One no is enough. said is false for other JSON.
func plain(event string, body []byte) (o Outcome, said bool, err error) {
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
		o.Decision = Refusal(event)
		o.Reason = Reason(strings.Join(append(reasons, v.Get("reason").String()), "\n"))
	case said:
		o.Decision = Allow
	}
	return o, said, nil
}
