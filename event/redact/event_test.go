package redact

import (
	"strings"
	"testing"

	"beckon/event"
)

// No text of an event that is kept holds a secret that was in it.
func TestEvent(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	e := event.Event{
		SessionID: "s", Prompt: "use " + secret, Message: secret + " works", Details: secret,
		Tool: event.Tool{Summary: "Bash: curl -H 'Authorization: token " + secret + "'"}, TaskN: event.Todo{Subject: secret},
		Background: []event.Task{{Description: secret}},
		Ask: &event.Ask{Plan: secret, Suggestions: []string{secret},
			Questions: []event.Question{{Text: secret, Options: []event.Option{{Label: secret, Description: secret}}}}},
	}
	Event(&e)
	out := string(event.AppendJSON(nil, &e))
	if strings.Contains(out, secret) {
		t.Errorf("a secret is left in %s", out)
	}
	if e.SessionID != "s" || !strings.HasPrefix(e.Prompt, "use ") || !strings.HasSuffix(e.Message, " works") {
		t.Errorf("more than the secret is gone: %s", out)
	}
}
