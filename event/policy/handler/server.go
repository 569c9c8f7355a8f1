package handler

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
)

// protocolVersion is the one version of the server protocol that exists.
const protocolVersion = "1.0"

// ServerConfig describes a policy server that speaks protocol 1.0 (MISSION D1
// to D3). Start from ServerDefaults: a zero Retries means no retry.
type ServerConfig struct {
	URL        string            // server_url
	Timeout    time.Duration     // timeout_ms, of one try; 0 leaves it to the context
	Retries    int               // retry_count, tries after the first
	RetryDelay time.Duration     // retry_delay_ms, between two tries
	Headers    map[string]string // sent along as they are
	Health     Health            // nil: nobody remembers
}

// Health remembers whether a server answered. One that did not is asked once
// and not again and again, or a server that is down would hold up every call
// for all of its tries.
type Health interface {
	// Down reports whether it lately did not answer.
	Down() bool
	// Note keeps whether it did.
	Note(answered bool)
}

// ServerDefaults is what protocol 1.0 says where nothing is configured. With
// them a dead server costs 3 s, a hanging one 23 s.
func ServerDefaults(url string) ServerConfig {
	return ServerConfig{URL: url, Timeout: 5 * time.Second, Retries: 3, RetryDelay: time.Second}
}

type server struct {
	to endpoint
	retries
	health Health
}

// NewServer returns a handler that asks a policy server.
//
// A server that is there and has an opinion answers 200. It is asked again,
// with the same event id, after 500 and above, 429, a connection that fails
// and a timeout; not after 400 or another status, and not after an answer that
// is no protocol 1.0: the next would be the same.
//
// Errors: a URL that is no http or https URL, a negative number.
func NewServer(c ServerConfig) (Handler, error) {
	if c.Timeout < 0 || c.Retries < 0 || c.RetryDelay < 0 {
		return nil, errors.New("timeout, retries and delay must not be negative")
	}
	to, err := newEndpoint(c.URL, c.Headers)
	if err != nil {
		return nil, err
	}
	return server{to, retries{c.Timeout, c.Retries, c.RetryDelay}, c.Health}, nil
}

// Run is Handler.
func (h server) Run(ctx context.Context, c Call) Outcome {
	start := time.Now()
	if c.ID == "" {
		c.ID = rand.Text()
	}
	data, err := eventData(c)
	if err != nil {
		return Outcome{Err: fmt.Errorf("the payload: %w", err)}
	}
	got, tries, err := h.ask(ctx, c, data)
	o := Outcome{Err: err}
	if err == nil {
		o = h.read(c.Event, data, got)
	}
	return o.of(got, tries, start)
}

// ask asks as often as the server's health lets it.
func (h server) ask(ctx context.Context, c Call, data []byte) (replied, int, error) {
	patience := h.retries
	down := h.health != nil && h.health.Down()
	if down {
		patience.count = 0
	}
	got, tries, err := h.to.hop(c).ask(ctx, request(c, data), patience)
	silent := again(got, err)
	if h.health != nil && silent != down && ctx.Err() == nil {
		h.health.Note(!silent)
	}
	if down && err != nil {
		err = fmt.Errorf("%w; asked once only, because it lately did not answer", err)
	}
	return got, tries, err
}

func (h server) read(event string, data []byte, got replied) Outcome {
	if got.status != http.StatusOK {
		return Outcome{Err: h.to.unexpected(got.status)}
	}
	o, err := parseVerdict(event, data, got.body)
	if err != nil {
		return Outcome{Err: fmt.Errorf("the answer of %s: %w", h.to, err)}
	}
	return o
}

// request is the body of a question (MISSION D1).
func request(c Call, data []byte) []byte {
	var event, all object
	event.str("id", c.ID)
	event.str("type", c.Event)
	event.str("name", c.Event)
	event.add("timestamp", strconv.AppendInt(nil, c.At.UnixMilli(), 10))
	event.str("session_id", c.SessionID)
	event.str("correlation_id", correlation(c))
	all.str("version", protocolVersion)
	all.add("event", event.bytes())
	all.add("data", data)
	return all.bytes()
}

// correlation is the same for everything that belongs together: the events of
// one tool call, else those of one prompt.
func correlation(c Call) string {
	for _, id := range []string{c.ToolUseID, c.PromptID} {
		if id != "" {
			return id
		}
	}
	return c.ID
}

// eventData is the client's payload, with the keys that protocol 1.0 promises
// for an event there whatever the client's version left out.
func eventData(c Call) ([]byte, error) {
	var promised object
	has := gjson.ParseBytes(c.Payload)
	promise := func(key, value string) {
		if v := has.Get(key); !v.Exists() || v.Type == gjson.Null {
			promised.add(key, []byte(value))
		}
	}
	switch c.Event {
	case "Stop", "SubagentStop":
		promise("stop_hook_active", "false")
	case "PreCompact":
		promise("trigger", `"auto"`)
		promise("custom_instructions", `""`)
	case "UserPromptSubmit":
		promise("prompt", `""`)
	case "Notification":
		promise("message", `""`)
	case "PostToolUse":
		promise("tool_response", "{}")
	}
	if c.ToolName != "" {
		promise("tool_name", string(quoted(c.ToolName)))
	}
	if c.ToolInput != nil {
		promised.add("tool_input", c.ToolInput)
	}
	return Overlay(c.Payload, promised.bytes())
}

// parseVerdict reads an answer of protocol 1.0 (MISSION D2). metadata may say
// more than the protocol can: permission_decision beside allow and modify,
// additional_context for the agent, system_message for the user.
func parseVerdict(event string, data, body []byte) (Outcome, error) {
	fields, err := read(body, map[string]shape{"version": str, "decision": str})
	if err != nil {
		return Outcome{}, err
	}
	if v := fields["version"]; v.Str != protocolVersion {
		return Outcome{}, fmt.Errorf("its version is %q and not %q", printable(v.Str, 40), protocolVersion)
	}
	for key, want := range map[string]shape{"reason": str, "modified_data": objectShape, "metadata": objectShape} {
		if v := fields[key]; v.Exists() && v.Type != gjson.Null && !want.fits(v) { // many servers write null for none
			return Outcome{}, fmt.Errorf("%s is %s and not %s", key, kind(v), want)
		}
	}
	o := Outcome{Reason: reason(fields["reason"].Str)}
	o.Metadata, _ = fields["metadata"].Value().(map[string]any)
	o.Context, _ = o.Metadata["additional_context"].(string)
	o.System, _ = o.Metadata["system_message"].(string)
	switch d := fields["decision"].Str; d {
	case "allow":
		o.Decision = Allow
		err = o.extend()
	case "block":
		o.Decision = refusal(event)
	case "modify":
		if err = o.modify(event, data, fields["modified_data"]); err == nil {
			err = o.extend()
		}
	default:
		err = fmt.Errorf("its decision is %q and none of allow, block, modify", printable(d, 40))
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
	case "allow":
		o.Decision = Allow
	case "ask":
		o.Decision = Ask
	case "deny":
		o.Decision = Deny
	default:
		return fmt.Errorf("its metadata.permission_decision is %q and none of allow, ask, deny", printable(fmt.Sprint(d), 40))
	}
	return nil
}
