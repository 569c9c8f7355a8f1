package wire

import (
	"fmt"

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
			return fmt.Errorf("hookSpecificOutput: permissionDecision %q is not one of allow, deny, ask, defer", Printable(d.Str, 40))
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
	fields, err := read([]byte(d.Raw), map[string]string{"behavior": str, "message": str, "updatedInput": object, "interrupt": boolean})
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
