package run

import (
	"context"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// outcome asks an http hook, which fails closed or open, for an event.
func outcome(t *testing.T, url, name string, closed bool) wire.Outcome {
	t.Helper()
	h := handler{&config.Hook{Type: config.HTTP, FailClosed: closed, Spec: config.Spec{URL: url}}, nil, ""}
	return h.Run(context.Background(), wire.Call{Event: event.Kind(name), Payload: []byte(`{"tool_name":"Bash"}`)})
}

// Answers that say no more than yes or no are understood in the forms that servers use; what is
// not understood is no answer.
func TestPlainAnswers(t *testing.T) {
	for body, want := range map[string]wire.Decision{
		`{"allow":false}`:                                wire.Deny,
		`{"allowed":false,"reason":"frozen"}`:            wire.Deny,
		`{"result":false}`:                               wire.Deny,
		`{"result":{"allow":false}}`:                     wire.Deny,
		`{"result":{"allow":true,"deny":["a","b"]}}`:     wire.Deny,
		`{"result":{"deny":true}}`:                       wire.Deny,
		`false`:                                          wire.Deny,
		`{"allow":false,"continue":true}`:                wire.Deny,
		`{"allow":true}`:                                 wire.Allow,
		`{"result":{"allow":true,"deny":[]}}`:            wire.Allow,
		`true`:                                           wire.Allow,
		`{}`:                                             wire.Silence,
		`{"continue":true}`:                              wire.Silence,
		`{"decision":"block","reason":"x"}`:              wire.Deny,
		`{"result":{"decision":"block","reason":"x"}}`:   wire.Deny,
		`{"allow":true,"decision":"block","reason":"x"}`: wire.Deny,
		`{"allow":"false"}`:                              "?",
		`{"result":{"allow":0}}`:                         "?",
		`{"allow":true,"allow":false}`:                   "?",
		`{"permitted":false}`:                            "?",
		`{"result":{"violations":["x"]}}`:                "?",
		`{"result":[]}`:                                  "?",
		`null`:                                           "?",
		`[false]`:                                        "?",
		`"deny"`:                                         "?",
		`{"code":"undefined_document","message":"not in"}`: "?",
	} {
		o := outcome(t, answering(t, always(200, body)).URL, "PreToolUse", true)
		if o.Err != nil != (want == "?") || o.Err == nil && o.Decision != want {
			t.Errorf("%s: %q, %v; want %q", body, o.Decision, o.Err, want)
		}
	}
	o := outcome(t, answering(t, always(200, `{"result":{"allow":false,"deny":["no pushes","on Fridays"]}}`)).URL, "PreToolUse", true)
	if !strings.Contains(o.Reason, "no pushes") || !strings.Contains(o.Reason, "on Fridays") {
		t.Errorf("the reason is %q", o.Reason)
	}
	if o := outcome(t, answering(t, always(200, `{"allow":false}`)).URL, "UserPromptSubmit", true); o.Decision != wire.Deny {
		t.Errorf("a prompt: %q, %v", o.Decision, o.Err)
	}
}

// An empty body decides nothing where the hook fails open, and is no answer where it fails closed.
func TestEmptyAnswer(t *testing.T) {
	for _, body := range []string{"", " \n"} {
		url := answering(t, always(200, body)).URL
		if o := outcome(t, url, "PreToolUse", false); o.Err != nil || o.Decision != wire.Silence {
			t.Errorf("open: %q, %v", o.Decision, o.Err)
		}
		if o := outcome(t, url, "PreToolUse", true); o.Err == nil {
			t.Errorf("closed: %q", o.Decision)
		}
	}
}

// Open Policy Agent's Data API takes the payload as "input" and answers with "result", which is not
// there if the decision is undefined; /v0/data takes and answers the document itself. These are the
// answers of its documentation.
func TestOpenPolicyAgent(t *testing.T) {
	for _, c := range []struct {
		path, body string
		status     int
		want       wire.Decision
	}{
		{"/v1/data/agents/allow", `{"result":true}`, 200, wire.Allow},
		{"/v1/data/agents/allow", `{"decision_id":"b84cf736","result":false}`, 200, wire.Deny},
		{"/v1/data/agents", `{"result":{"allow":false,"reason":"frozen"}}`, 200, wire.Deny},
		{"/v1/data/agents", `{}`, 200, "?"},
		{"/v1/data/agents", `{"decision_id":"b84cf736"}`, 200, "?"},
		{"/v1/data/agents", `{"code":"internal_error","message":"error(s) occurred while evaluating query"}`, 500, "?"},
		{"/v0/data/agents/allow", `false`, 200, wire.Deny},
		{"/v0/data/agents", `{"allow":true}`, 200, wire.Allow},
		{"/v0/data/agents/none", `{"code":"undefined_document","message":"document missing or undefined: data.agents.none"}`, 404, "?"},
	} {
		s := answering(t, always(c.status, c.body))
		o := outcome(t, s.URL+c.path, "PreToolUse", true)
		if o.Err != nil != (c.want == "?") || o.Err == nil && o.Decision != c.want {
			t.Errorf("%s %s: %q, %v; want %q", c.path, c.body, o.Decision, o.Err, c.want)
		}
		at := "tool_name"
		if strings.HasPrefix(c.path, "/v1") {
			at = "input.tool_name"
		}
		if sent := s.seen()[0]; gjson.Get(sent, at).Str != "Bash" {
			t.Errorf("%s is sent %s", c.path, sent)
		}
	}
}

// A policy server that only says no is believed, in whatever version; one that is not understood
// has not answered.
func TestServersThatSayNo(t *testing.T) {
	for body, want := range map[string]wire.Decision{
		`{"decision":"block","reason":"x"}`:                  wire.Deny,
		`{"allow":false}`:                                    wire.Deny,
		`{"result":{"allow":false}}`:                         wire.Deny,
		`{"allowed":false}`:                                  wire.Deny,
		`{"version":"1.0","decision":"allow","allow":false}`: wire.Deny,
		`{"decision":"allow"}`:                               "?",
		`{"allow":true}`:                                     "?",
		``:                                                   "?",
		`{"version":"2.0","decision":"allow"}`:               "?",
		`{"version":"2.0","decision":"block"}`:               "?",
		`{"version":"1.0","decision":"nah"}`:                 "?",
	} {
		h := newServer(config.Spec{URL: answering(t, always(200, body)).URL}, 0, "")
		o := h.Run(context.Background(), wire.Call{Event: "PreToolUse", Payload: []byte(`{}`)})
		if o.Err != nil != (want == "?") || o.Err == nil && o.Decision != want {
			t.Errorf("%s: %q, %v; want %q", body, o.Decision, o.Err, want)
		}
	}
}
