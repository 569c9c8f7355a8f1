package policy

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"beckon/event"
	"beckon/event/policy/config"
	handlers "beckon/event/policy/run"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// question is a request as an engine gets it.
type question struct {
	Kind    event.Kind
	ID      string
	Payload []byte
}

func parsed(body []byte) (q question, err error) {
	q.ID, q.Payload, err = wire.ParseQuestion(body)
	q.Kind = event.ByName(gjson.GetBytes(q.Payload, "hook_event_name").Str)
	return q, err
}

// reply returns an engine's response to a request.
func reply(e *Engine, q question) []byte {
	return wire.Reply(e.Trigger(context.Background(), Event{Kind: q.Kind, ID: q.ID, Payload: q.Payload}).Verdict)
}

// asked returns the engine of a user whose policy sends requests to another one, and the
// number of these requests.
func asked(t *testing.T, other *Engine, kind event.Kind, grant bool) *Engine {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		ev, err := parsed(body)
		if err != nil || ev.ID == "" || r.Header.Get(wire.HopsHeader) != "1" {
			t.Errorf("the question %s: %v, hops %q", body, err, r.Header.Get(wire.HopsHeader))
		}
		_, _ = w.Write(reply(other, ev))
	}))
	t.Cleanup(s.Close)
	h := &config.Hook{Event: kind, Type: config.Server, Spec: config.Spec{URL: s.URL}, Timeout: 5 * time.Second}
	e := NewEngine(nil)
	e.Register(kind, does(func(ctx context.Context, c wire.Call) wire.Outcome {
		return handlers.Starter{}.Start(nil, "")(ctx, h, c)
	}), func(h *config.Hook) { h.Grant = grant })
	return e
}

// A policy that another policy asks over protocol 1.0 decides as for its own client.
func TestOnePolicyAsksAnother(t *testing.T) {
	const permission = `{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"}}`
	const after = `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"ls"},"tool_response":{"stdout":"secret","stderr":""}}`
	rewritten := []byte(`{"command":"ls -l","description":"d"}`)
	for _, c := range []struct {
		name, payload string
		kind          event.Kind
		says          wire.Outcome
		grant         bool
		want          map[string]string // members of the client's answer; nil for nothing
	}{
		{"silence", bash, event.PreToolUse, wire.Outcome{}, false, nil},
		{"no objection", bash, event.PreToolUse, wire.Outcome{Decision: wire.Allow}, false, nil},
		{"approval", bash, event.PreToolUse, wire.Outcome{Decision: wire.Allow, Reason: "fine"}, true,
			map[string]string{"hookSpecificOutput.permissionDecision": "allow"}},
		{"approval of one who may not", bash, event.PreToolUse, wire.Outcome{Decision: wire.Allow, Reason: "fine"}, false, nil},
		{"refusal", bash, event.PreToolUse, wire.Outcome{Decision: wire.Deny, Reason: "not here"}, false,
			map[string]string{"hookSpecificOutput.permissionDecision": "deny", "hookSpecificOutput.permissionDecisionReason": "not here"}},
		{"question", bash, event.PreToolUse, wire.Outcome{Decision: wire.Ask, Reason: "sure?"}, false,
			map[string]string{"hookSpecificOutput.permissionDecision": "deny"}},
		{"rewrite", bash, event.PreToolUse, wire.Outcome{Decision: wire.Modify, UpdatedInput: rewritten}, false,
			map[string]string{"hookSpecificOutput.updatedInput": string(rewritten), "hookSpecificOutput.permissionDecision": ""}},
		{"rewrite and question", bash, event.PreToolUse, wire.Outcome{Decision: wire.Ask, Reason: "this?", UpdatedInput: rewritten}, false,
			map[string]string{"hookSpecificOutput.updatedInput": "", "hookSpecificOutput.permissionDecision": "deny"}},
		{"texts", bash, event.PreToolUse, wire.Outcome{Context: "for the agent", System: "for the user"}, false,
			map[string]string{"hookSpecificOutput.additionalContext": "for the agent", "systemMessage": "for the user"}},
		{"end of work", bash, event.PreToolUse, wire.Outcome{Raw: []byte(`{"continue":false,"stopReason":"enough"}`)}, false,
			map[string]string{"hookSpecificOutput.permissionDecision": "deny", "hookSpecificOutput.permissionDecisionReason": "enough"}},
		{"blocked prompt", `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x"}`, event.UserPromptSubmit,
			wire.Outcome{Decision: wire.Deny, Reason: "no"}, false, map[string]string{"decision": "block", "reason": "no"}},
		{"blocked stop", `{"session_id":"s","hook_event_name":"Stop","stop_hook_active":false}`, event.Stop,
			wire.Outcome{Decision: wire.Deny, Reason: "the tests"}, false, map[string]string{"decision": "block", "reason": "the tests"}},
		{"a stop that was blocked before", `{"session_id":"s","hook_event_name":"Stop","stop_hook_active":true}`, event.Stop,
			wire.Outcome{Decision: wire.Deny, Reason: "the tests"}, false, map[string]string{"decision": "", "systemMessage": "the tests"}},
		{"refused permission", permission, event.PermissionRequest, wire.Outcome{Decision: wire.Deny, Reason: "no"}, false,
			map[string]string{"hookSpecificOutput.decision.behavior": "deny", "hookSpecificOutput.decision.message": "no"}},
		{"rewritten result", after, event.PostToolUse, wire.Outcome{Decision: wire.Modify,
			Raw: []byte(`{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"***","stderr":""}}}`)}, false,
			map[string]string{"hookSpecificOutput.updatedToolOutput.stdout": "***"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := NewEngine(nil)
			other.Register(c.kind, says(c.says))
			r := trigger(t, asked(t, other, c.kind, c.grant), c.kind, c.payload)
			if c.want == nil && len(r.Answer.Stdout) != 0 {
				t.Errorf("the client gets %s", r.Answer.Stdout)
			}
			for path, want := range c.want {
				if got := gjson.GetBytes(r.Answer.Stdout, path).String(); got != want && (want == "" || !strings.HasPrefix(got, want+" (policy ")) {
					t.Errorf("%s is %q, want %q, in %s", path, got, want, r.Answer.Stdout)
				}
			}
			if len(r.Warnings) != 0 {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
	}
}

// The protocol's own request is parsed. What is not a request is an error.
func TestParseQuestion(t *testing.T) {
	ev, err := parsed([]byte(`{"version":"1.0","event":{"id":"unique-event-id","type":"PreToolUse","name":"PreToolUse","timestamp":1234567890123,"session_id":"session-123","correlation_id":"correlation-456"},"data":{"tool_name":"Bash","tool_input":{"command":"ls"}}}`))
	if err != nil || ev.Kind != event.PreToolUse || ev.ID != "unique-event-id" {
		t.Fatalf("%+v, %v", ev, err)
	}
	for path, want := range map[string]string{"hook_event_name": "PreToolUse", "session_id": "session-123", "tool_name": "Bash", "tool_input.command": "ls"} {
		if got := gjson.GetBytes(ev.Payload, path).String(); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	// The type of the event in the request counts, whatever the data names.
	ev, err = parsed([]byte(`{"version":"1.0","event":{"type":"PreToolUse","session_id":"a"},"data":{"hook_event_name":"Stop","session_id":"b"}}`))
	if err != nil || gjson.GetBytes(ev.Payload, "hook_event_name").Str != "PreToolUse" || gjson.GetBytes(ev.Payload, "session_id").Str != "a" {
		t.Errorf("%s, %v", ev.Payload, err)
	}
	if ev, err = parsed([]byte(`{"version":"1.0","event":{"type":"NotYetThere"}}`)); err != nil || ev.Kind != event.Unknown {
		t.Errorf("an event of tomorrow: %+v, %v", ev, err)
	}
	if got := string(reply(NewEngine(nil), ev)); got != `{"version":"1.0","decision":"allow"}`+"\n" {
		t.Errorf("of an event of tomorrow: %s", got)
	}
	for body, want := range map[string]string{
		`{`: "not JSON", `[]`: "version", `{"version":"2.0","event":{"type":"Stop"}}`: "version", `{"version":"1.0","event":"Stop"}`: "event.type",
		`{"version":"1.0","event":{"type":1}}`: "event.type", `{"version":"1.0","event":{"type":"Stop"},"data":[]}`: "data",
		`{"version":"1.0","event":{"type":"PreToolUse"},"data":{"tool_input":{},"tool_input":{"command":"rm"}}}`: "twice",
	} {
		if _, err := parsed([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// Over HTTP there is no exit code: a refusal that needs one is reported to the user and does
// not count as a refusal.
func TestRefusalOverHTTP(t *testing.T) {
	e := NewEngine(nil)
	e.Register(event.TeammateIdle, says(wire.Outcome{Decision: wire.Deny, Reason: "go on"}))
	ev := Event{Kind: event.TeammateIdle, Payload: []byte(`{"session_id":"s","hook_event_name":"TeammateIdle"}`)}
	if r := e.Trigger(context.Background(), ev); r.Allowed || r.Answer.ExitCode != 2 {
		t.Errorf("by a process: %+v", r.Answer)
	}
	ev.HTTP = true
	r := e.Trigger(context.Background(), ev)
	if !r.Allowed || r.Answer.ExitCode != 0 || len(r.Answer.Stderr) != 0 || !strings.HasPrefix(gjson.GetBytes(r.Answer.Stdout, "systemMessage").Str, "go on") {
		t.Errorf("over HTTP: %+v, %s", r.Answer, r.Answer.Stdout)
	}
}

// A command runs in the directory of the call, Event.Dir, whatever the payload's cwd says.
func TestDirectoryOfCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths have another form in its shell")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hooks := []*config.Hook{{ID: "where", Event: event.UserPromptSubmit, Type: config.Command, Spec: config.Spec{Command: "pwd -P", Convention: config.Client}}}
	ev := Event{Kind: event.UserPromptSubmit, Dir: dir, Payload: []byte(`{"session_id":"s","hook_event_name":"UserPromptSubmit","cwd":"/","prompt":"x"}`)}
	e := Engine{Hooks: hooks, Start: handlers.Starter{}.Start(os.Environ(), "")}
	r := e.Trigger(context.Background(), ev)
	if got := gjson.GetBytes(r.Answer.Stdout, "hookSpecificOutput.additionalContext").Str; got != dir {
		t.Errorf("it ran in %q (%s), want %q", got, r.Answer.Stdout, dir)
	}
}

// FuzzParseQuestion checks that any request that can be parsed is one valid payload of the
// event that it names, and that its answer is valid in protocol 1.0.
func FuzzParseQuestion(f *testing.F) {
	for _, s := range []string{
		`{"version":"1.0","event":{"id":"1","type":"PreToolUse","session_id":"s"},"data":{"tool_name":"Bash","tool_input":{"command":"ls"}}}`,
		`{"version":"1.0","event":{"type":"Stop","name":7},"data":{"hook_event_name":null,"session_id":["x"]}}`,
		`{"version":1.0,"event":{"type":"Stop"}}`, `{"version":"1.0","event":{"type":"\ud800\u0000"},"data":{"a":1,"a":2}}`,
	} {
		f.Add([]byte(s))
	}
	e := NewEngine(nil)
	for _, k := range []event.Kind{event.PreToolUse, event.PostToolUse, event.UserPromptSubmit, event.Notification, event.Stop, event.SubagentStop, event.PreCompact} {
		e.Register(k, does(func(_ context.Context, c wire.Call) wire.Outcome {
			return wire.Outcome{Decision: wire.Deny, Reason: c.ToolName + c.SessionID}
		}))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		ev, err := parsed(body)
		if err != nil {
			return
		}
		name := gjson.GetBytes(body, "event.type").Str
		if !json.Valid(ev.Payload) || utf8.ValidString(name) && gjson.GetBytes(ev.Payload, "hook_event_name").Str != name || ev.Kind != event.ByName(name) {
			t.Errorf("%s became %s of %s", body, ev.Payload, ev.Kind)
		}
		got := gjson.ParseBytes(reply(e, ev))
		want := "allow"
		if slices.Contains([]event.Kind{event.PreToolUse, event.PostToolUse, event.UserPromptSubmit, event.Notification, event.Stop, event.SubagentStop, event.PreCompact}, ev.Kind) && ev.Kind != event.Notification {
			want = "block"
		}
		d := got.Get("decision").Str
		if loops := ev.Kind == event.Stop || ev.Kind == event.SubagentStop; !json.Valid([]byte(got.Raw)) || got.Get("version").Str != "1.0" || d != want && !loops && ev.Kind != event.Notification {
			t.Errorf("%s is answered %s", body, got.Raw)
		}
	})
}

// At a dialog the user is already being asked: a hook that decides "ask" keeps others from
// approving for the user.
func TestAskedAtADialog(t *testing.T) {
	const unsure = `{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"rm 'unclosed"}}`
	c, err := config.Decode("p.json", config.Global, []byte(`{"hooks": {"PermissionRequest": [{"matcher": "Bash", "hooks": [
		{"type": "rule", "id": "no-rm", "decision": "deny", "reason": "No.", "commands": ["rm"]}]}]}}`), false)
	if err != nil {
		t.Fatal(err)
	}
	for name, asks := range map[string]*wire.Outcome{
		"a rule that is not sure":             nil,
		"a handler":                           {Decision: wire.Ask, Reason: "look"},
		"one that would change the call, too": {Decision: wire.Ask, Reason: "look", UpdatedInput: []byte(`{"command":"ls"}`)},
	} {
		e := NewEngine(nil)
		if asks != nil {
			e.Register(event.PermissionRequest, says(*asks))
		} else {
			e = NewEngine(c)
		}
		e.Register(event.PermissionRequest, says(wire.Outcome{Decision: wire.Allow, Reason: "fine"}))
		r := trigger(t, e, event.PermissionRequest, unsure)
		if r.Verdict.Decision != wire.Ask || len(r.Warnings) > 0 || !r.Allowed || gjson.GetBytes(r.Answer.Stdout, "hookSpecificOutput").Exists() {
			t.Errorf("%s: %q, %q, client gets %s", name, r.Verdict.Decision, r.Warnings, r.Answer.Stdout)
		}
	}
}
