package handler

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"beckon/event/jsonenc"
)

func quoted(s string) []byte { return jsonenc.AppendString(nil, s) }

// modify reads modified_data: the event's data, or the part of it that is to
// change. Before a tool runs that is tool_input, laid over the one it has;
// after it, tool_response. What no event can express is an error, because a
// change that is silently dropped is worse than none.
func (o *Outcome) modify(event string, data []byte, modified gjson.Result) error {
	if !modified.IsObject() {
		return errors.New("it decides to modify and has no modified_data")
	}
	list, err := members([]byte(modified.Raw))
	if err != nil {
		return fmt.Errorf("modified_data: %w", err)
	}
	o.Decision = Allow // until something is different
	for _, m := range list {
		had := gjson.GetBytes(data, gjson.Escape(m.key))
		if had.Exists() && sameJSON([]byte(had.Raw), []byte(m.value.Raw)) {
			continue
		}
		if err := o.change(event, m, had); err != nil {
			return err
		}
	}
	return nil
}

// change takes over one member of modified_data that differs from data.
func (o *Outcome) change(event string, m member, had gjson.Result) error {
	switch {
	case m.key == "tool_input" && refusal(event) == Deny:
		return o.changeInput(m, had)
	case m.key == "tool_response" && event == "PostToolUse":
		return o.changeResponse(m, had)
	}
	return fmt.Errorf("it modifies %s, which %s cannot", printable(m.key, 40), event)
}

func (o *Outcome) changeInput(m member, had gjson.Result) error {
	input, err := Overlay([]byte(had.Raw), []byte(m.value.Raw))
	if err != nil {
		return fmt.Errorf("modified_data.tool_input: %w", err)
	}
	if !sameJSON(input, []byte(had.Raw)) {
		o.Decision, o.UpdatedInput = Modify, input
	}
	return nil
}

// changeResponse hands the new response on in the client's own words.
func (o *Outcome) changeResponse(m member, had gjson.Result) error {
	response := []byte(m.value.Raw)
	if m.value.IsObject() && had.IsObject() {
		var err error
		if response, err = Overlay([]byte(had.Raw), response); err != nil {
			return fmt.Errorf("modified_data.tool_response: %w", err)
		}
	}
	var hso, all object
	hso.str("hookEventName", "PostToolUse")
	hso.add("updatedToolOutput", response)
	all.add("hookSpecificOutput", hso.bytes())
	o.Decision, o.Raw = Modify, all.bytes()
	return nil
}
