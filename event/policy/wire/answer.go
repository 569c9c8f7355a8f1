package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// ParseAnswer parses the client's own output JSON. Known members must have their types;
// unknown ones stay in Raw, as do continue, stopReason, terminalSequence and members of one
// event only. UpdatedInput may come with Allow and Ask, and without a decision, which becomes
// Modify.
func ParseAnswer(event string, data []byte) (Outcome, error) {
	o := Outcome{Raw: data}
	fields, err := read(data, map[string]string{
		"continue": boolean, "suppressOutput": boolean, "stopReason": str, "systemMessage": str,
		"terminalSequence": str, "decision": str, "reason": str, "hookSpecificOutput": object,
	})
	if err != nil {
		return Outcome{}, err
	}
	o.System = fields["systemMessage"].Str
	if err := o.topDecision(event, fields); err != nil {
		return Outcome{}, err
	}
	if err := o.specific(event, fields["hookSpecificOutput"]); err != nil {
		return Outcome{}, err
	}
	if o.UpdatedInput != nil && o.Decision == Silence {
		o.Decision = Modify
	}
	o.Reason = Reason(o.Reason)
	return o, nil
}

// answerMembers are those of the client's own output that say something by themselves.
var answerMembers = []string{
	"continue",
	"suppressOutput",
	"stopReason",
	"systemMessage",
	"terminalSequence",
	"decision",
	"reason",
	"hookSpecificOutput",
}

// ParseResponse parses an answer over HTTP: the client's own output JSON, or a plain yes or no (see
// plain). Either may be in a member "result", as Open Policy Agent answers. An object with none of
// what is known is an error.
func ParseResponse(event string, body []byte) (Outcome, error) {
	o, said, err := plain(event, body)
	if err != nil || o.Decision.Refuses() {
		return o, err
	}
	v := gjson.ParseBytes(body)
	if in := v.Get("result"); in.Exists() {
		v = in
	}
	isClients := slices.ContainsFunc(answerMembers, func(name string) bool { return v.Get(name).Exists() })
	if said && !isClients {
		return o, nil
	}
	if !isClients && string(bytes.TrimSpace(body)) != "{}" {
		return Outcome{}, errors.New("it says neither yes nor no, nor has it anything that the client knows")
	}
	return ParseAnswer(event, []byte(v.Raw))
}

// plain parses an answer that says no more than yes or no: true, false, or an object with a boolean
// "allow" or "allowed", or with "deny": a boolean, or a list of reasons, as rules of Open Policy
// Agent have it. One no is enough. said is false for any other JSON.
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
		switch is := v.Get(name); {
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
	if !said {
		return o, false, nil
	}
	if o.Decision = Allow; no {
		o.Decision = Refusal(event)
		o.Reason = Reason(strings.Join(append(reasons, v.Get("reason").String()), "\n"))
	}
	return o, true, nil
}

// topDecision reads decision and reason. "approve" is PreToolUse's old word for allow.
func (o *Outcome) topDecision(event string, fields map[string]gjson.Result) error {
	o.Reason = fields["reason"].Str
	switch d := fields["decision"].Str; {
	case d == "block":
		o.Decision = Refusal(event)
	case d == "approve" && event == "PreToolUse":
		o.Decision = Allow
	case d != "" || fields["decision"].Type == gjson.String:
		return fmt.Errorf("decision %q is not one that %s has", Printable(d, 40), event)
	}
	return nil
}

// specific reads hookSpecificOutput.
func (o *Outcome) specific(event string, hso gjson.Result) error {
	if !hso.Exists() {
		return nil
	}
	fields, err := read([]byte(hso.Raw), map[string]string{
		"hookEventName": str, "additionalContext": str, "permissionDecision": str,
		"permissionDecisionReason": str, "updatedInput": object,
	})
	if err != nil {
		return fmt.Errorf("hookSpecificOutput: %w", err)
	}
	if name := fields["hookEventName"].Str; name != event {
		return fmt.Errorf("hookSpecificOutput: hookEventName is %q and not %q", Printable(name, 40), event)
	}
	o.Context = fields["additionalContext"].Str
	switch event {
	case "PreToolUse":
		return o.permission(fields)
	case "PermissionRequest":
		return o.behavior(fields["decision"])
	}
	return nil
}

// permission reads PreToolUse's members. "defer" is not a decision of ours; it stays in Raw.
func (o *Outcome) permission(fields map[string]gjson.Result) error {
	o.UpdatedInput = raw(fields["updatedInput"])
	d := fields["permissionDecision"]
	switch d.Str {
	case "allow", "deny", "ask":
		o.Decision = Decision(d.Str)
		o.Reason = fields["permissionDecisionReason"].Str
	case "defer":
	default:
		if d.Exists() {
			return fmt.Errorf("hookSpecificOutput: permissionDecision %q is not one of allow, deny, ask, defer",
				Printable(d.Str, 40))
		}
	}
	if o.Decision == Deny {
		o.UpdatedInput = nil
	}
	return nil
}

// behavior reads PermissionRequest's members.
func (o *Outcome) behavior(d gjson.Result) error {
	if !d.Exists() {
		return nil
	}
	known := map[string]string{"behavior": str, "message": str, "updatedInput": object, "interrupt": boolean}
	fields, err := read([]byte(d.Raw), known)
	if err != nil {
		return fmt.Errorf("hookSpecificOutput.decision: %w", err)
	}
	switch b := fields["behavior"].Str; b {
	case "allow":
		o.Decision, o.UpdatedInput = Allow, raw(fields["updatedInput"])
	case "deny":
		o.Decision, o.Reason = Deny, fields["message"].Str
	default:
		return fmt.Errorf("hookSpecificOutput.decision: behavior %q is not one of allow, deny", Printable(b, 40))
	}
	return nil
}
