package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"beckon/event"

	"github.com/tidwall/gjson"
)

// protocolVersion is the one version of the server protocol that exists.
const protocolVersion = "1.0"

// question is a request to a policy server.
type question struct {
	Version string          `json:"version"`
	Event   about           `json:"event"`
	Data    json.RawMessage `json:"data"`
}

type about struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	Name        string `json:"name"`
	Timestamp   int64  `json:"timestamp"` // ms
	SessionID   string `json:"session_id"`
	Correlation string `json:"correlation_id"`
}

// Question returns the body of a question about c, and the data in it, which an answer may
// change. Related events share a correlation id: those of one tool call, else those of one
// prompt.
func Question(c Call) (body, data []byte, err error) {
	if data, err = eventData(c); err != nil {
		return nil, nil, fmt.Errorf("the payload: %w", err)
	}
	body, err = Encode(question{protocolVersion, about{ID: c.ID, Type: c.Event, Name: c.Event, Timestamp: c.At.UnixMilli(),
		SessionID: c.SessionID, Correlation: cmp.Or(c.ToolUseID, c.PromptID, c.ID)}, data})
	return body, data, err
}

// promised are the members that protocol 1.0 requires for an event, which the client's version
// may have left out.
var promised = map[string]map[string]any{
	"Stop":             {"stop_hook_active": false},
	"SubagentStop":     {"stop_hook_active": false},
	"PreCompact":       {"trigger": "auto", "custom_instructions": ""},
	"UserPromptSubmit": {"prompt": ""},
	"Notification":     {"message": ""},
	"PostToolUse":      {"tool_response": struct{}{}},
}

// eventData returns the client's payload with the members that the protocol requires.
func eventData(c Call) ([]byte, error) {
	more := map[string]any{}
	has := gjson.ParseBytes(c.Payload)
	promise := func(name string, value any) {
		if v := has.Get(name); !v.Exists() || v.Type == gjson.Null {
			more[name] = value
		}
	}
	for name, value := range promised[c.Event] {
		promise(name, value)
	}
	if c.ToolName != "" {
		promise("tool_name", c.ToolName)
	}
	if c.ToolInput != nil {
		more["tool_input"] = json.RawMessage(c.ToolInput)
	}
	return Overlay(c.Payload, must(more))
}

// ParseReply parses an answer of protocol 1.0 to a question with that data. metadata may
// contain more than the protocol defines: permission_decision with any decision,
// additional_context for the agent, system_message for the user. A plain no (see plain), or one
// without a version, is believed.
func ParseReply(event string, data, body []byte) (Outcome, error) {
	if o, _, err := plain(event, body); err != nil || o.Decision.Refuses() {
		return o, err
	}
	fields, err := read(body, map[string]string{"version": str, "decision": str})
	if err != nil {
		return Outcome{}, err
	}
	if v := fields["version"]; v.Str != protocolVersion && (v.Exists() || fields["decision"].Str != "block") {
		return Outcome{}, fmt.Errorf("its version is %q and not %q", Printable(v.Str, 40), protocolVersion)
	}
	for name, want := range map[string]string{"reason": str, "modified_data": object, "metadata": object} {
		if v := fields[name]; v.Exists() && v.Type != gjson.Null && kind(v) != want { // many servers write null for none
			return Outcome{}, fmt.Errorf("%s is %s and not %s", name, kind(v), want)
		}
	}
	o := Outcome{Reason: Reason(fields["reason"].Str)}
	o.Metadata, _ = fields["metadata"].Value().(map[string]any)
	o.Context, _ = o.Metadata["additional_context"].(string)
	o.System, _ = o.Metadata["system_message"].(string)
	switch d := fields["decision"].Str; d {
	case "allow":
		o.Decision = Allow
		err = o.extend()
	case "block":
		o.Decision = Refusal(event)
	case "modify":
		if err = o.modify(event, data, fields["modified_data"]); err == nil {
			err = o.extend()
		}
	default:
		err = fmt.Errorf("its decision is %q and none of allow, block, modify", Printable(d, 40))
	}
	if err != nil {
		return Outcome{}, err
	}
	return o, nil
}

// extend reads metadata.permission_decision.
func (o *Outcome) extend() error {
	switch d := o.Metadata["permission_decision"]; d {
	case nil:
	case "allow", "ask", "deny":
		o.Decision = Decision(d.(string))
	default:
		return fmt.Errorf("its metadata.permission_decision is %q and none of allow, ask, deny", Printable(fmt.Sprint(d), 40))
	}
	return nil
}

// modify reads modified_data: the event's data, or the part of it to change. Before a tool
// runs that is tool_input, merged into the present one; after it, tool_response. A change that
// the event cannot express is an error, because dropping it silently would be worse.
func (o *Outcome) modify(event string, data []byte, modified gjson.Result) error {
	if !modified.IsObject() {
		return errors.New("it decides to modify and has no modified_data")
	}
	list, err := members([]byte(modified.Raw))
	if err != nil {
		return fmt.Errorf("modified_data: %w", err)
	}
	o.Decision = Allow // until something differs
	for _, name := range slices.Sorted(maps.Keys(list)) {
		had := gjson.GetBytes(data, gjson.Escape(name))
		if had.Exists() && sameJSON([]byte(had.Raw), []byte(list[name].Raw)) {
			continue
		}
		if err := o.change(event, name, had, list[name]); err != nil {
			return err
		}
	}
	return nil
}

// change applies one member of modified_data that differs from data.
func (o *Outcome) change(event, name string, had, now gjson.Result) error {
	changed := []byte(now.Raw)
	if now.IsObject() && had.IsObject() || name == "tool_input" {
		var err error
		if changed, err = Overlay([]byte(had.Raw), changed); err != nil {
			return fmt.Errorf("modified_data.%s: %w", Printable(name, 40), err)
		}
	}
	switch {
	case name == "tool_input" && Refusal(event) == Deny:
		if !sameJSON(changed, []byte(had.Raw)) {
			o.Decision, o.UpdatedInput = Modify, changed
		}
	case name == "tool_response" && event == "PostToolUse":
		o.Decision = Modify
		o.Raw = must(output{Specific: &specific{Event: "PostToolUse", UpdatedToolOutput: changed}})
	default:
		return fmt.Errorf("it modifies %s, which %s cannot", Printable(name, 40), event)
	}
	return nil
}

// Asked is a question of protocol 1.0 from another policy, or any program.
type Asked struct {
	Kind    event.Kind
	ID      string
	Payload []byte // the client's own, as far as the asker sent it
}

// ParseQuestion parses a question of protocol 1.0: its data, with the members that the
// protocol keeps next to them. Errors contain nothing of the request but a member's name.
func ParseQuestion(body []byte) (Asked, error) {
	if !json.Valid(body) {
		return Asked{}, errors.New("the request is not JSON")
	}
	v := gjson.ParseBytes(body)
	about, data := v.Get("event"), v.Get("data")
	name := about.Get("type")
	switch {
	case v.Get("version").String() != protocolVersion:
		return Asked{}, errors.New(`version must be "1.0"`)
	case !about.IsObject() || name.Type != gjson.String || name.Str == "":
		return Asked{}, errors.New("event.type is missing")
	case data.Exists() && !data.IsObject():
		return Asked{}, errors.New("data must be an object")
	}
	known := map[string]string{"hook_event_name": name.Str}
	if session := about.Get("session_id").String(); session != "" {
		known["session_id"] = session
	}
	payload, err := Overlay([]byte(cmp.Or(data.Raw, "{}")), must(known))
	if err != nil {
		return Asked{}, fmt.Errorf("data: %w", err)
	}
	return Asked{event.ByName(name.Str), about.Get("id").String(), payload}, nil
}

// reply is an answer of protocol 1.0.
type reply struct {
	Version  string                     `json:"version"`
	Decision Decision                   `json:"decision"`
	Reason   string                     `json:"reason,omitempty"`
	Modified map[string]json.RawMessage `json:"modified_data,omitempty"`
	Metadata *metadata                  `json:"metadata,omitempty"`
}

// metadata is what a decision contains beyond the protocol.
type metadata struct {
	Permission Decision `json:"permission_decision,omitempty"` // ask, or allow for an explicit approval
	Context    string   `json:"additional_context,omitempty"`
	System     string   `json:"system_message,omitempty"`
}

// Reply returns the answer of protocol 1.0 to a question. The protocol cannot end the agent's
// work; it can end this step. Nor can it ask: a caller that does not say that it understands
// "ask" (asks) gets a block, because it would take any other word for allow.
func Reply(v Verdict, asks bool) []byte {
	r := reply{Version: protocolVersion, Decision: Allow, Reason: strings.Trim(v.Reason+"\n"+v.HaltReason, "\n")}
	m := metadata{Context: strings.Join(v.Context, "\n\n"), System: strings.Join(v.System, "\n")}
	if v.Decision == Ask || v.Decision == Allow {
		m.Permission = v.Decision
	}
	output := v.Extra["updatedToolOutput"]
	switch {
	case v.Decision == Deny || v.Halt:
		r.Decision = Block
	case v.Decision == Ask && !asks:
		r.Decision = Block
		r.Reason = strings.TrimSpace("the user is to be asked about this, which protocol 1.0 cannot: " + r.Reason)
	case v.Input != nil:
		r.Decision, r.Modified = Modify, map[string]json.RawMessage{"tool_input": v.Input}
	case output != nil:
		r.Decision, r.Modified = Modify, map[string]json.RawMessage{"tool_response": output}
	}
	if m != (metadata{}) {
		r.Metadata = &m
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
	Peer         string       // the address that it came from
	Asks         bool         // the caller understands the answer "ask"
	// Wait is how long the caller waits for a person's answer; 0 if it did not say.
	Wait time.Duration
	// Busy is set if nothing can be run for it, because too much is running: rules answer, and
	// everything else counts as failed.
	Busy bool
}
