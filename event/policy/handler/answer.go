package handler

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

const (
	maxOutput = 8 << 10 // what the trace keeps of what a handler printed
	maxReason = 10_000  // bytes of a reason; the client keeps as many characters of such texts
)

// refusal is what "no" means for an event: a tool call is denied, everything
// else is blocked.
func refusal(event string) Decision {
	if event == "PreToolUse" || event == "PermissionRequest" {
		return Deny
	}
	return Block
}

// reason is a text as the agent or the user will read it.
func reason(s string) string { return cut(strings.TrimSpace(s), maxReason) }

// printable is a text for an error message: one line, no control characters.
func printable(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, s)
	return cut(strings.TrimSpace(s), limit)
}

// isObject reports whether the client would try to read a text as JSON: it
// begins and ends like an object, and is valid (CONTRACT 1.8).
func isObject(s string) bool {
	return strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") && json.Valid([]byte(s))
}

// parseAnswer reads the client's own output JSON (CONTRACT 1.9 to 1.11).
// Members it knows must have their type; those it does not know stay in Raw,
// as do continue, stopReason, terminalSequence and what only one event has.
// UpdatedInput may come with Allow and Ask, and with no decision, which makes
// it Modify.
func parseAnswer(event string, data []byte) (Outcome, error) {
	o := Outcome{Raw: data}
	fields, err := read(data, map[string]shape{
		"continue": boolean, "suppressOutput": boolean, "stopReason": str, "systemMessage": str,
		"terminalSequence": str, "decision": str, "reason": str, "hookSpecificOutput": objectShape,
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
	o.Reason = reason(o.Reason)
	return o, nil
}

// topDecision reads decision and reason. "approve" is PreToolUse's old word
// for allow.
func (o *Outcome) topDecision(event string, fields map[string]gjson.Result) error {
	o.Reason = fields["reason"].Str
	switch d := fields["decision"].Str; {
	case d == "block":
		o.Decision = refusal(event)
	case d == "approve" && event == "PreToolUse":
		o.Decision = Allow
	case d != "" || fields["decision"].Type == gjson.String:
		return fmt.Errorf("decision %q is none that %s has", printable(d, 40), event)
	}
	return nil
}

// specific reads hookSpecificOutput.
func (o *Outcome) specific(event string, hso gjson.Result) error {
	if !hso.Exists() {
		return nil
	}
	fields, err := read([]byte(hso.Raw), map[string]shape{
		"hookEventName": str, "additionalContext": str, "permissionDecision": str,
		"permissionDecisionReason": str, "updatedInput": objectShape,
	})
	if err != nil {
		return fmt.Errorf("hookSpecificOutput: %w", err)
	}
	if name := fields["hookEventName"].Str; name != event {
		return fmt.Errorf("hookSpecificOutput: hookEventName is %q and not %q", printable(name, 40), event)
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

// permission reads what PreToolUse has. "defer" is no decision of ours; Raw
// has it.
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
			return fmt.Errorf("hookSpecificOutput: permissionDecision %q is none of allow, deny, ask, defer", printable(d.Str, 40))
		}
	}
	if o.Decision == Deny {
		o.UpdatedInput = nil
	}
	return nil
}

// behavior reads what PermissionRequest has.
func (o *Outcome) behavior(d gjson.Result) error {
	if !d.Exists() {
		return nil
	}
	fields, err := read([]byte(d.Raw), map[string]shape{"behavior": str, "message": str, "updatedInput": objectShape, "interrupt": boolean})
	if err != nil {
		return fmt.Errorf("hookSpecificOutput.decision: %w", err)
	}
	switch b := fields["behavior"].Str; b {
	case "allow":
		o.Decision, o.UpdatedInput = Allow, raw(fields["updatedInput"])
	case "deny":
		o.Decision, o.Reason = Deny, fields["message"].Str
	default:
		return fmt.Errorf("hookSpecificOutput.decision: behavior %q is none of allow, deny", printable(b, 40))
	}
	return nil
}

func raw(v gjson.Result) []byte {
	if !v.Exists() {
		return nil
	}
	return []byte(v.Raw)
}

// shape is what a member must be.
type shape int

const (
	str shape = iota
	boolean
	objectShape
)

func (s shape) fits(v gjson.Result) bool {
	switch s {
	case str:
		return v.Type == gjson.String
	case boolean:
		return v.IsBool()
	}
	return v.IsObject()
}

func (s shape) String() string { return [...]string{"a string", "a boolean", "an object"}[s] }

// read returns the members of an object by name, each known one of its shape.
func read(data []byte, known map[string]shape) (map[string]gjson.Result, error) {
	list, err := members(data)
	if err != nil {
		return nil, err
	}
	fields := make(map[string]gjson.Result, len(list))
	for _, m := range list {
		if want, ok := known[m.key]; ok && !want.fits(m.value) {
			return nil, fmt.Errorf("%s is %s and not %s", m.key, kind(m.value), want)
		}
		fields[m.key] = m.value
	}
	return fields, nil
}
