package redact

import (
	"strings"
	"testing"

	"beckon/event"
)

// A key that the limit cuts in two has lost the prefix that it is known by, or
// the length.
func TestSecretAtTheCut(t *testing.T) {
	const key = "sk-ant-api03-0123456789abcdefABCDEF0123456789"
	whole := event.Event{Message: event.CutTail(key+" "+strings.Repeat("word ", 402)+"some rest.", event.MaxMessage),
		Prompt: event.Cut(strings.Repeat("word ", 99)+key, event.MaxPrompt)}
	if !strings.Contains(whole.Message, "456789 ") || !strings.Contains(whole.Prompt, "sk-ant-api03-0") {
		t.Fatalf("the texts are not cut through the key: %q, %q", whole.Message[:30], whole.Prompt[490:])
	}
	Event(&whole)
	if strings.Contains(whole.Message, "456789") || strings.Contains(whole.Prompt, "api03") {
		t.Errorf("half a key is left: %q, %q", whole.Message[:30], whole.Prompt[480:])
	}
	short := event.Event{Message: "word/of/a/long/path stays", Prompt: "so does this/long/path/here"}
	if Event(&short); short.Message != "word/of/a/long/path stays" || short.Prompt != "so does this/long/path/here" {
		t.Errorf("%+v", short)
	}
}

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
