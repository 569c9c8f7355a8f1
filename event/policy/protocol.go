package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/handler"

	"github.com/tidwall/gjson"
)

// protocolVersion is the one version of the server protocol that exists.
const protocolVersion = "1.0"

// ParseRequest reads a question of protocol 1.0 (seed 004, row D5) as an event
// to trigger. Its payload is the client's own as far as the asker sent it: the
// question's data, with the members that protocol 1.0 keeps beside them.
//
// Errors: what is no such question. They repeat nothing of what was sent but a
// member's name.
func ParseRequest(body []byte) (Event, error) {
	if !json.Valid(body) {
		return Event{}, errors.New("the request is not JSON")
	}
	v := gjson.ParseBytes(body)
	about, data := v.Get("event"), v.Get("data")
	name := about.Get("type")
	switch {
	case v.Get("version").String() != protocolVersion:
		return Event{}, errors.New(`version must be "1.0"`)
	case !about.IsObject() || name.Type != gjson.String || name.Str == "":
		return Event{}, errors.New("event.type is missing")
	case data.Exists() && !data.IsObject():
		return Event{}, errors.New("data must be an object")
	}
	payload, err := payloadOf(name.Str, about.Get("session_id").String(), data)
	if err != nil {
		return Event{}, fmt.Errorf("data: %w", err)
	}
	return Event{Kind: event.ByName(name.Str), Payload: payload, At: time.Now(), ID: about.Get("id").String()}, nil
}

// payloadOf makes the client's payload of a question's data.
func payloadOf(name, session string, data gjson.Result) ([]byte, error) {
	known := []pair{{"hook_event_name", text(name)}}
	if session != "" {
		known = append(known, pair{"session_id", text(session)})
	}
	base := []byte("{}")
	if data.Exists() {
		base = []byte(data.Raw)
	}
	return handler.Overlay(base, object(known))
}

// Reply is the answer of protocol 1.0 to a question. The protocol knows allow,
// block and modify; what else was decided is in metadata, as this program's own
// handler of servers reads it: permission_decision (ask, or allow for an
// approval that was given in so many words), additional_context,
// system_message.
func (r Result) Reply() []byte {
	v := r.Verdict
	decision, modified := v.simple()
	out := []pair{{"version", text(protocolVersion)}, {"decision", text(decision)}}
	if reason := join(v.Reason, v.HaltReason); reason != "" {
		out = append(out, pair{"reason", text(reason)})
	}
	if modified != nil {
		out = append(out, pair{"modified_data", modified})
	}
	if m := v.metadata(); len(m) > 0 {
		out = append(out, pair{"metadata", object(m)})
	}
	return append(object(out), '\n')
}

// simple puts a verdict in the protocol's words. It cannot end the agent's work;
// it can end this step.
func (v Verdict) simple() (decision string, modified []byte) {
	switch output := v.Extra["updatedToolOutput"]; {
	case v.Decision == handler.Deny || v.Halt:
		return "block", nil
	case v.Input != nil:
		return "modify", object([]pair{{"tool_input", v.Input}})
	case output != nil:
		return "modify", object([]pair{{"tool_response", output}})
	}
	return "allow", nil
}

func (v Verdict) metadata() (m []pair) {
	if v.Decision == handler.Ask || v.Decision == handler.Allow {
		m = append(m, pair{"permission_decision", text(string(v.Decision))})
	}
	if c := strings.Join(v.Context, "\n\n"); c != "" {
		m = append(m, pair{"additional_context", text(c)})
	}
	if s := strings.Join(v.System, "\n"); s != "" {
		m = append(m, pair{"system_message", text(s)})
	}
	return m
}
