package run

import (
	"context"
	"encoding/json"
	"time"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
)

// handler is a hook with what it runs in.
type handler struct {
	*config.Hook
	env   []string
	state trust.Dir
}

func (h handler) Run(ctx context.Context, c wire.Call) wire.Outcome {
	start := time.Now()
	o := Starter{}.Start(h.env, h.state)(ctx, h.Hook, c)
	o.Took = time.Since(start)
	return o
}

// newServer returns the handler of a policy server.
func newServer(s config.Spec, timeout time.Duration, state trust.Dir) handler {
	return handler{&config.Hook{Type: config.Server, Spec: s, Timeout: timeout}, nil, state}
}

// commandOf returns the handler of a command.
func commandOf(s config.Spec, env ...string) handler {
	return handler{&config.Hook{Type: config.Command, Spec: s}, env, ""}
}

// bashCall returns what the client sends before it runs a command.
func bashCall(command string) wire.Call {
	input, _ := json.Marshal(map[string]any{"command": command, "timeout": json.Number("12345678901234567890")})
	payload, _ := json.Marshal(map[string]any{
		"session_id": "s-1", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1",
		"tool_input": json.RawMessage(input), "cwd": "/", "permission_mode": "default",
	})
	return wire.Call{
		Event: "PreToolUse", ID: "e-1", Payload: payload, SessionID: "s-1", ToolName: "Bash",
		ToolInput: input, At: time.UnixMilli(1234567890123),
	}
}

func eventCall(kind event.Kind, more map[string]any) wire.Call {
	fields := map[string]any{"session_id": "s-1", "prompt_id": "p-1", "hook_event_name": kind, "cwd": "/"}
	for k, v := range more {
		fields[k] = v
	}
	payload, _ := json.Marshal(fields)
	return wire.Call{Event: kind, ID: "e-1", Payload: payload, SessionID: "s-1", At: time.UnixMilli(1234567890123)}
}
