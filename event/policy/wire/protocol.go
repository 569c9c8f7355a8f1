package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"beckon/event"

	"github.com/tidwall/gjson"
)

// protocolVersion is the one version of the server protocol that exists.
const protocolVersion = "1.0"

// Promised are the events of protocol 1.0, each with the members that it requires and the client may have left out.
var Promised = map[event.Kind]map[string]any{
	event.PreToolUse:       nil,
	event.Stop:             {"stop_hook_active": false},
	event.SubagentStop:     {"stop_hook_active": false},
	event.PreCompact:       {"trigger": "auto", "custom_instructions": ""},
	event.UserPromptSubmit: {"prompt": ""},
	event.Notification:     {"message": ""},
	event.PostToolUse:      {"tool_response": struct{}{}},
}

// Question returns the body of a question about c, and its data: the client's payload with the members that the
// protocol requires. The events of one call share a correlation id.
func Question(c Call) (body, data []byte, err error) {
	more := map[string]any{}
	maps.Copy(more, Promised[c.Event])
	if c.ToolName != "" {
		more["tool_name"] = c.ToolName
	}
	get := func(name string) gjson.Result { return gjson.GetBytes(c.Payload, name) }
	maps.DeleteFunc(more, func(name string, _ any) bool { return get(name).Type != gjson.Null }) // null: missing
	if c.ToolInput != nil {
		more["tool_input"] = json.RawMessage(c.ToolInput)
	}
	if data, err = Overlay(c.Payload, must(more)); err != nil {
		return nil, nil, fmt.Errorf("the payload: %w", err)
	}
	body, err = Encode(map[string]any{
		"version": protocolVersion,
		"event": map[string]any{
			"id":             c.ID,
			"type":           c.Event,
			"name":           c.Event,
			"timestamp":      c.At.UnixMilli(),
			"session_id":     c.SessionID,
			"correlation_id": cmp.Or(get("tool_use_id").String(), get("prompt_id").String(), c.ID),
		},
		"data": json.RawMessage(data),
	})
	return body, data, err
}

// ParseReply parses an answer of protocol 1.0 to a question with that data. metadata may have more than
// the protocol defines: permission_decision, additional_context for the agent, system_message for the
// user. A plain no (see plain), or one without a version, is believed.
func ParseReply(k event.Kind, data, body []byte) (Outcome, error) {
	if o, _, err := plain(body); err != nil || o.Decision == Deny {
		return o, err
	}
	fields, err := read(body, map[string]string{"version": str, "decision": str})
	if err != nil {
		return Outcome{}, err
	}
	if v := fields["version"]; v.Str != protocolVersion && (v.Exists() || fields["decision"].Str != "block") {
		return Outcome{}, fmt.Errorf("its version is %q and not %q", event.OneLine(v.Str, 40), protocolVersion)
	}
	for name, want := range map[string]string{"reason": str, "modified_data": object, "metadata": object} {
		if v := fields[name]; v.Exists() && v.Type != gjson.Null && kind(v) != want { // many servers write null for none
			return Outcome{}, fmt.Errorf("%s is %s and not %s", name, kind(v), want)
		}
	}
	o := Outcome{Reason: Reason(fields["reason"].Str)}
	if more := fields["metadata"]; more.IsObject() {
		o.Context, o.System = more.Get("additional_context").Str, more.Get("system_message").Str
		o.Metadata, _ = Encode(more.Value())
	}
	switch d := fields["decision"].Str; d {
	case "block":
		o.Decision = Deny
		return o, nil
	case "allow":
		o.Decision = Allow
	case "modify":
		if err := o.modify(k, data, fields["modified_data"]); err != nil {
			return Outcome{}, err
		}
	default:
		return Outcome{}, fmt.Errorf("its decision is %q and none of allow, block, modify", event.OneLine(d, 40))
	}
	return o, nil
}

// modify reads modified_data: the event's data, or the part of it to change. Before a tool runs that is
// tool_input, merged into the present one; after it, tool_response. Another change is an error.
func (o *Outcome) modify(k event.Kind, data []byte, modified gjson.Result) error {
	if !modified.IsObject() {
		return errors.New("it decides to modify and has no modified_data")
	}
	list, err := members([]byte(modified.Raw))
	if err != nil {
		return fmt.Errorf("modified_data: %w", err)
	}
	o.Decision = Allow // until something differs
	for _, name := range slices.Sorted(maps.Keys(list)) {
		had, now := gjson.GetBytes(data, gjson.Escape(name)), list[name]
		changed := []byte(now.Raw)
		if had.Exists() && sameJSON([]byte(had.Raw), changed) {
			continue
		}
		if now.IsObject() && had.IsObject() || name == "tool_input" {
			if changed, err = Overlay([]byte(had.Raw), changed); err != nil {
				return fmt.Errorf("modified_data.%s: %w", event.OneLine(name, 40), err)
			}
		}
		switch {
		case name == "tool_input" && RulesOf(k).Rewrite:
			if !sameJSON(changed, []byte(had.Raw)) {
				o.Decision, o.UpdatedInput = Modify, changed
			}
		case name == "tool_response" && k == event.PostToolUse:
			o.Decision = Modify
			o.Raw = must(map[string]any{specific: map[string]any{
				"hookEventName":     k,
				"updatedToolOutput": json.RawMessage(changed),
			}})
		default:
			return fmt.Errorf("it modifies %s, which %s cannot", event.OneLine(name, 40), k)
		}
	}
	return nil
}

// ParseQuestion parses a question of protocol 1.0 from another policy, or any program: its id, and the client's
// payload as far as the asker sent it. Errors contain nothing of the request.
func ParseQuestion(body []byte) (id string, payload []byte, err error) {
	if !json.Valid(body) {
		return "", nil, errors.New("the request is not JSON")
	}
	v := gjson.ParseBytes(body)
	about, data := v.Get("event"), v.Get("data")
	name := about.Get("type")
	switch {
	case v.Get("version").String() != protocolVersion:
		return "", nil, errors.New(`version must be "1.0"`)
	case !about.IsObject() || name.Type != gjson.String || name.Str == "":
		return "", nil, errors.New("event.type is missing")
	case data.Exists() && !data.IsObject():
		return "", nil, errors.New("data must be an object")
	}
	known := map[string]string{"hook_event_name": name.Str}
	if session := about.Get("session_id").String(); session != "" {
		known["session_id"] = session
	}
	if payload, err = Overlay([]byte(cmp.Or(data.Raw, "{}")), must(known)); err != nil {
		return "", nil, fmt.Errorf("data: %w", err)
	}
	return about.Get("id").String(), payload, nil
}

// reply is an answer of protocol 1.0.
type reply struct {
	Version  string                     `json:"version"`
	Decision string                     `json:"decision"`
	Reason   string                     `json:"reason,omitempty"`
	Modified map[string]json.RawMessage `json:"modified_data,omitempty"`
	Metadata map[string]string          `json:"metadata,omitempty"`
}

// Reply returns the answer of protocol 1.0 to a question. What the protocol cannot express is a block;
// metadata has the texts.
func Reply(v Verdict) []byte {
	r := reply{
		Version:  protocolVersion,
		Decision: "allow",
		Reason:   strings.Trim(v.Reason+"\n"+v.HaltReason, "\n"),
		Metadata: map[string]string{
			"additional_context": strings.Join(v.Context, "\n\n"),
			"system_message":     strings.Join(v.System, "\n"),
		},
	}
	maps.DeleteFunc(r.Metadata, func(_, text string) bool { return text == "" })
	output := v.Extra["updatedToolOutput"]
	switch {
	case v.Decision == Deny || v.Halt:
		r.Decision = "block"
	case v.Decision == Ask:
		r.Decision = "block"
		r.Reason = strings.TrimSpace("the user is to be asked about this, which protocol 1.0 cannot: " + r.Reason)
	case v.Input != nil:
		r.Decision, r.Modified = "modify", map[string]json.RawMessage{"tool_input": v.Input}
	case output != nil:
		r.Decision, r.Modified = "modify", map[string]json.RawMessage{"tool_response": output}
	}
	return append(must(r), '\n')
}

// Posted is a request posted to a server: an event, or a question.
type Posted struct {
	Body         []byte
	Agent, Event string       // from the address; empty if it has none
	At           event.Millis // the event's time
	Hops         int          // how many policies have passed it on
	Foreign      bool         // it is not known to come from one of the owner's processes on this machine
	Busy         bool         // too much is running: rules answer, and everything else counts as failed
}
