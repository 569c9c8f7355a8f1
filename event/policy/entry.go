package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/event/redact"

	"github.com/tidwall/gjson"
)

// EntryOf returns the trace line of the decision on ev.
func EntryOf(ev Event, r Result) trust.Entry {
	get := func(name string) string { return trust.Short(gjson.GetBytes(ev.Payload, name).String()) }
	e := trust.Entry{
		At:        ev.At.UTC(),
		Event:     string(ev.Kind),
		ID:        trust.Short(ev.ID),
		Session:   get("session_id"),
		Prompt:    get("prompt_id"),
		ToolUseID: get("tool_use_id"),
		AgentID:   get("agent_id"),
		Tool:      get("tool_name"),
		Subject:   trust.Kept(SubjectOf(ev.Payload)),
		Allowed:   r.Allowed,
		Decision:  r.Verdict.Decision,
		Reason:    trust.Kept(r.Verdict.Reason),
		Rewritten: trust.Kept(string(r.Verdict.Input)),
		Us:        r.Took.Microseconds(),
		ExitCode:  r.Answer.ExitCode,
		Bytes:     len(r.Answer.Stdout),
	}
	for _, n := range append(r.Notes, r.Warnings...) {
		e.Notes = append(e.Notes, trust.Kept(n))
	}
	for _, h := range r.Results {
		if h.Notable() {
			e.Hooks = append(e.Hooks, Traced(h))
		}
	}
	return e
}

// Notable reports whether a hook belongs in the trace: all do, except rules that do not apply.
func (r HookResult) Notable() bool {
	return r.Hook.Type != config.BuiltIn || r.Outcome.Decision != wire.Silence || r.Failed != nil
}

// Traceable reports whether there is anything to trace.
func (r Result) Traceable() bool {
	return len(r.Warnings) > 0 || slices.ContainsFunc(r.Results, HookResult.Notable)
}

// Traced returns a hook's result as the trace stores it.
func Traced(r HookResult) trust.TracedHook {
	o := r.Outcome
	t := trust.TracedHook{
		Hook:     r.Hook.Name(),
		Type:     string(r.Hook.Type),
		Success:  r.Success(),
		Decision: o.Decision,
		Reason:   trust.Kept(o.Reason),
		Skipped:  r.Skipped,
		Observed: r.Hook.Observe,
		Rewrote:  trust.Kept(string(r.Rewrote)),
		Output:   trust.Kept(o.Output),
		ExitCode: o.ExitCode,
		TimedOut: o.TimedOut,
		Attempts: o.Attempts,
		Us:       o.Took.Microseconds(),
	}
	if r.Failed != nil {
		t.Error = trust.Kept(r.Failed.Error())
	}
	if o.Metadata != nil {
		if b, err := json.Marshal(o.Metadata); err == nil && len(b) <= 2048 {
			if clean := redact.Text(string(b)); json.Valid([]byte(clean)) {
				t.Metadata = json.RawMessage(clean)
			}
		}
	}
	return t
}

// SubjectOf returns what an event is about, in one line.
func SubjectOf(payload []byte) string {
	const paths = "tool_input.command tool_input.file_path tool_input.notebook_path tool_input.url tool_input.path prompt message"
	for path := range strings.FieldsSeq(paths) {
		if v := gjson.GetBytes(payload, path); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return gjson.GetBytes(payload, "tool_input").Raw
}
