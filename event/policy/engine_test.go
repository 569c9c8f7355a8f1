package policy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/rule"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// does is a handler for tests.
type does func(context.Context, wire.Call) wire.Outcome

func (d does) Run(ctx context.Context, c wire.Call) wire.Outcome { return d(ctx, c) }

func says(o wire.Outcome) does {
	return func(context.Context, wire.Call) wire.Outcome { return o }
}

const bash = `{"session_id":"s","hook_event_name":"PreToolUse","cwd":"/w","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls","description":"d"},"x":1}`

func trigger(t testing.TB, e *Engine, kind event.Kind, payload string) Result {
	t.Helper()
	return e.Trigger(context.Background(), Event{Kind: kind, Payload: []byte(payload)})
}

func TestSilenceIsNothing(t *testing.T) {
	e := NewEngine(nil)
	e.Register(event.PreToolUse, says(wire.Outcome{}))
	e.Register(event.PreToolUse, says(wire.Outcome{Decision: wire.Continue}))
	e.Register(event.Stop, says(wire.Outcome{Decision: wire.Deny}))
	if r := trigger(t, e, event.PreToolUse, bash); len(r.Answer.Stdout) != 0 || !r.Allowed || len(r.Results) != 2 {
		t.Errorf("got %+v", r)
	}
}

func TestMatcherChooses(t *testing.T) {
	e := NewEngine(nil)
	id := e.Register(event.PreToolUse, says(wire.Outcome{Decision: wire.Deny, Reason: "no"}))
	m, err := rule.NewMatcher(event.PreToolUse, "Read")
	if err != nil {
		t.Fatal(err)
	}
	e.Register(event.PreToolUse, says(wire.Outcome{Decision: wire.Deny, Reason: "other"}), only(m))
	r := trigger(t, e, event.PreToolUse, bash)
	if r.Allowed || len(r.Results) != 1 || r.Results[0].Hook.ID != id || !r.Results[0].Success() {
		t.Fatalf("got %+v", r)
	}
	if r.Results[0].Took <= 0 {
		t.Error("it took no time")
	}
}

func TestStrongestDecisionWins(t *testing.T) {
	e := NewEngine(nil)
	for _, d := range []wire.Decision{wire.Allow, wire.Deny, wire.Ask, wire.Deny} {
		e.Register(event.PreToolUse, says(wire.Outcome{Decision: d, Reason: "r-" + string(d)}))
	}
	r := trigger(t, e, event.PreToolUse, bash)
	want := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r-deny (policy program/program-2)\nr-deny (policy program/program-4)"}}` + "\n"
	if string(r.Answer.Stdout) != want {
		t.Errorf("got %s", r.Answer.Stdout)
	}
}

// Each handler gets the input as the previous one rewrote it, and the answer has the whole
// input.
func TestRewritesInTurn(t *testing.T) {
	e := NewEngine(nil)
	add := func(suffix string) {
		e.Register(event.PreToolUse, does(func(_ context.Context, c wire.Call) wire.Outcome {
			if string(c.ToolInput) != gjson.GetBytes(c.Payload, "tool_input").Raw || gjson.GetBytes(c.Payload, "x").Int() != 1 {
				t.Errorf("payload %s, input %s", c.Payload, c.ToolInput)
			}
			now := gjson.GetBytes(c.ToolInput, "command").String() + suffix
			return wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{ "command": "` + now + `", "description": "d" }`)}
		}))
	}
	add(" -l")
	add(" -a")
	r := trigger(t, e, event.PreToolUse, bash)
	const told = `This call was changed before it ran (policy program/program-1; policy program/program-2). command was \"ls\" and is \"ls -l -a\"`
	want := `{"hookSpecificOutput":{"additionalContext":"` + told + `","hookEventName":"PreToolUse","updatedInput":{"command":"ls -l -a","description":"d"}},"systemMessage":"` + told + `"}` + "\n"
	if string(r.Answer.Stdout) != want || string(r.Results[0].Rewrote) != `{"command":"ls -l","description":"d"}` {
		t.Errorf("got %s after %s", r.Answer.Stdout, r.Results[0].Rewrote)
	}
}

// A deny rule that was evaluated first is evaluated again on the rewritten input.
func TestFinalInputIsCheckedAgain(t *testing.T) {
	c := decode(t, one(`{"type":"rule","id":"no-rm","decision":"deny","reason":"no rm","commands":["rm"]}`))
	e := NewEngine(c)
	e.Register(event.PreToolUse, says(wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"command":"rm x"}`)}))
	r := trigger(t, e, event.PreToolUse, bash)
	if r.Allowed || !strings.Contains(string(r.Answer.Stdout), "no rm") || strings.Contains(string(r.Answer.Stdout), "updatedInput") {
		t.Errorf("got %s", r.Answer.Stdout)
	}
}

func TestApprovalIsNotForAnotherInput(t *testing.T) {
	c := decode(t, one(`{"type":"rule","id":"ls","decision":"allow","commands":["ls"]}`))
	e := NewEngine(c)
	if r := trigger(t, e, event.PreToolUse, bash); !strings.Contains(string(r.Answer.Stdout), `"permissionDecision":"allow"`) {
		t.Fatalf("got %s", r.Answer.Stdout)
	}
	e.Register(event.PreToolUse, says(wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"command":"rm x"}`)}))
	if r := trigger(t, e, event.PreToolUse, bash); strings.Contains(string(r.Answer.Stdout), "allow") || !strings.Contains(string(r.Answer.Stdout), "updatedInput") {
		t.Errorf("got %s", r.Answer.Stdout)
	}
}

// An approval does not cover what a later hook rewrote, unless that hook approves.
func TestApprovalIsForTheFinalInput(t *testing.T) {
	made := wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"command":"rm x"}`)}
	for _, c := range []struct {
		later   wire.Decision
		approve bool
	}{{wire.Modify, false}, {wire.Allow, true}} {
		e := NewEngine(nil)
		e.Register(event.PreToolUse, says(wire.Outcome{Decision: wire.Allow, Reason: "fine"}))
		o := made
		o.Decision = c.later
		e.Register(event.PreToolUse, says(o))
		r := trigger(t, e, event.PreToolUse, bash)
		if got := r.Verdict.Decision == wire.Allow; got != c.approve || string(r.Verdict.Input) != `{"command":"rm x"}` || strings.Contains(r.Verdict.Reason, "fine") {
			t.Errorf("after %s: %+v, %q", c.later, r.Verdict, r.Notes)
		}
	}
}

func failing(kind event.Kind, closed bool, h handler) *Engine {
	e := NewEngine(nil)
	var o []Option
	if closed {
		o = append(o, onFailureRefuse())
	}
	e.Register(kind, h, o...)
	return e
}

func TestFailModes(t *testing.T) {
	for name, h := range map[string]does{
		"error":     says(wire.Outcome{Err: errors.New("connection refused")}),
		"timed out": says(wire.Outcome{Err: context.DeadlineExceeded}),
		"panic":     func(context.Context, wire.Call) wire.Outcome { panic("x") },
		"no object": says(wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`[1]`)}),
		"no input":  says(wire.Outcome{Decision: wire.Modify}),
	} {
		t.Run(name, func(t *testing.T) {
			r := trigger(t, failing(event.PreToolUse, false, h), event.PreToolUse, bash)
			if !r.Allowed || len(r.Answer.Stdout) != 0 || len(r.Warnings) != 1 || r.Results[0].Success() {
				t.Errorf("open: %+v", r)
			}
			r = trigger(t, failing(event.PreToolUse, true, h), event.PreToolUse, bash)
			if r.Allowed || !strings.Contains(string(r.Answer.Stdout), "without it this is refused") {
				t.Errorf("closed: %s", r.Answer.Stdout)
			}
		})
	}
}

func TestWarningsAreShownWhenDue(t *testing.T) {
	e := failing(event.PreToolUse, false, says(wire.Outcome{Err: errors.New("gone")}))
	r := e.Trigger(t.Context(), Event{Kind: event.PreToolUse, Payload: []byte(bash), Warn: func(w []string) []string { return w }})
	if got := gjson.GetBytes(r.Answer.Stdout, "systemMessage").Str; !strings.Contains(got, "gone") {
		t.Errorf("got %s", r.Answer.Stdout)
	}
}

// A handler that hangs delays the answer only until the event's deadline.
func TestDeadline(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a deadline")
	}
	e := NewEngine(nil)
	var seen atomic.Bool
	e.Register(event.SessionEnd, does(func(ctx context.Context, _ wire.Call) wire.Outcome {
		<-ctx.Done()
		seen.Store(true)
		return wire.Outcome{Err: ctx.Err()}
	}))
	start := time.Now()
	r := trigger(t, e, event.SessionEnd, `{}`)
	if took := time.Since(start); took < wire.SessionEndDeadline/2 || took > 20*wire.SessionEndDeadline {
		t.Errorf("it took %s", took)
	}
	if !seen.Load() || r.Results[0].Err == nil {
		t.Errorf("results %+v", r.Results)
	}
}

// Handlers of an event that cannot be rewritten run concurrently.
func TestParallelWhereNothingIsRewritten(t *testing.T) {
	e := NewEngine(nil)
	meet := make(chan struct{})
	for range 2 {
		e.Register(event.UserPromptSubmit, does(func(ctx context.Context, _ wire.Call) wire.Outcome {
			select {
			case meet <- struct{}{}:
			case <-meet:
			case <-ctx.Done():
				return wire.Outcome{Err: ctx.Err()}
			}
			return wire.Outcome{Context: "c"}
		}))
	}
	r := trigger(t, e, event.UserPromptSubmit, `{"prompt":"x"}`)
	if len(r.Warnings) > 0 || len(r.Verdict.Context) != 2 {
		t.Errorf("got %+v", r)
	}
}

// A refused call runs with no input, whichever hook changed it.
func TestRefusalHasNoInput(t *testing.T) {
	modify := says(wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"command":"rm x"}`)})
	deny := says(wire.Outcome{Decision: wire.Deny, Reason: "no"})
	for name, hooks := range map[string][2]does{"changed, then refused": {modify, deny}, "refused, then changed": {deny, modify}} {
		e := NewEngine(nil)
		for _, h := range hooks {
			e.Register(event.PreToolUse, h)
		}
		if r := trigger(t, e, event.PreToolUse, bash); r.Allowed || r.Verdict.Decision != wire.Deny || r.Verdict.Input != nil {
			t.Errorf("%s: %+v", name, r.Verdict)
		}
	}
}

func TestObserversAreNotHeard(t *testing.T) {
	e := NewEngine(nil)
	ran := make(chan struct{}, 1)
	e.Register(event.PreToolUse, does(func(context.Context, wire.Call) wire.Outcome {
		ran <- struct{}{}
		return wire.Outcome{Decision: wire.Deny, UpdatedInput: []byte(`{}`), Context: "c"}
	}), observer(), onFailureRefuse())
	if r := trigger(t, e, event.PreToolUse, bash); !r.Allowed || len(r.Answer.Stdout) > 0 {
		t.Errorf("got %s", r.Answer.Stdout)
	}
	if len(ran) != 1 {
		t.Error("it did not run")
	}
}

// A file with "observe" is a trial: every hook runs and is traced, but no answer counts, not
// even a rule's about a rewritten input.
func TestFileThatObserves(t *testing.T) {
	c := decode(t, `{"observe":true,"servers":[{"server_url":"http://127.0.0.1:1/","retry_count":0,"fail_open":false,"events":["PreToolUse"]}],`+
		one(`{"type":"rule","id":"no-ls","decision":"deny","reason":"no","commands":["ls"]},{"type":"rule","id":"no-rm","decision":"deny","reason":"no","commands":["rm"]}`)[1:])
	e := NewEngine(c)
	e.Register(event.PreToolUse, says(wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"command":"rm x"}`)}))
	r := trigger(t, e, event.PreToolUse, bash)
	if got := gjson.GetBytes(r.Answer.Stdout, "hookSpecificOutput"); got.Get("updatedInput.command").Str != "rm x" || got.Get("permissionDecision").Exists() || len(r.Warnings) > 0 {
		t.Errorf("got %s, %q", r.Answer.Stdout, r.Warnings)
	}
	entry := EntryOf(Event{Kind: event.PreToolUse, Payload: []byte(bash)}, r)
	if len(entry.Hooks) != 4 || !entry.Hooks[0].Observed || entry.Hooks[0].Decision != wire.Deny || entry.Hooks[2].Error == "" || entry.Decision != "" {
		t.Errorf("the trace has %+v", entry)
	}
}

// "allow" means "no objection", unless the hook may approve.
func TestAllowApprovesOnlyWhenItMay(t *testing.T) {
	clients := []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`)
	for _, c := range []struct {
		h    config.Hook
		o    wire.Outcome
		want bool
	}{
		{config.Hook{Level: config.Global, Type: config.Server}, wire.Outcome{Decision: wire.Allow}, false},
		{config.Hook{Level: config.Global, Type: config.Server, Grant: true}, wire.Outcome{Decision: wire.Allow}, true},
		{config.Hook{Level: config.Global, Type: config.Command}, wire.Outcome{Decision: wire.Allow}, false},
		{config.Hook{Level: config.Global, Type: config.Command}, wire.Outcome{Decision: wire.Allow, Raw: clients}, true},
		{config.Hook{Level: config.Project, Type: config.Command}, wire.Outcome{Decision: wire.Allow, Raw: clients}, false},
	} {
		c.h.Event = event.PreToolUse
		e := NewEngine([]*config.Hook{&c.h})
		e.Handle(&c.h, says(c.o))
		r := trigger(t, e, event.PreToolUse, bash)
		if got := len(r.Answer.Stdout) > 0; got != c.want {
			t.Errorf("%+v: %s", c.h, r.Answer.Stdout)
		}
	}
}

// A Stop is blocked once in a row.
func TestStopIsNotBlockedForEver(t *testing.T) {
	for payload, want := range map[string]bool{`{"stop_hook_active":false}`: true, `{"stop_hook_active":true}`: false} {
		e := NewEngine(nil)
		e.Register(event.Stop, says(wire.Outcome{Decision: wire.Deny, Reason: "go on"}))
		if r := trigger(t, e, event.Stop, payload); r.GoesOn != want || r.Allowed == want {
			t.Errorf("%s: %s", payload, r.Answer.Stdout)
		}
	}
}

func TestTextForTheAgentDoesNotKeepItFromStoppingForEver(t *testing.T) {
	e := NewEngine(nil)
	e.Register(event.Stop, says(wire.Outcome{Context: "by the way"}))
	if r := trigger(t, e, event.Stop, `{"stop_hook_active":false}`); !r.GoesOn {
		t.Errorf("first: %s", r.Answer.Stdout)
	}
	if r := trigger(t, e, event.Stop, `{"stop_hook_active":true}`); r.GoesOn || len(r.Answer.Stdout) > 0 {
		t.Errorf("second: %s", r.Answer.Stdout)
	}
}

func TestRawMembersGoThrough(t *testing.T) {
	e := NewEngine(nil)
	e.Register(event.UserPromptSubmit, says(wire.Outcome{Raw: []byte(`{"continue":false,"stopReason":"enough","suppressOutput":true,"terminalSequence":"\u0007","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","sessionTitle":"t","nope":1}}`)}))
	r := trigger(t, e, event.UserPromptSubmit, `{}`)
	want := `{"continue":false,"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","sessionTitle":"t"},"stopReason":"enough","terminalSequence":"\u0007"}` + "\n"
	if string(r.Answer.Stdout) != want || !r.Halts || !slices.Contains(r.Answer.Dropped, "nope") {
		t.Errorf("got %s, dropped %v", r.Answer.Stdout, r.Answer.Dropped)
	}
}

func TestInsideAHandlerOnlyRulesApply(t *testing.T) {
	c := decode(t, one(`{"type":"command","command":"exit 2","fail":"closed"},{"type":"rule","decision":"ask","reason":"sure?"}`))
	r := NewEngine(c).Trigger(t.Context(), Event{Kind: event.PreToolUse, Payload: []byte(bash), Skip: "inside a handler"})
	if r.Verdict.Decision != wire.Ask || r.Results[0].Skipped != "inside a handler" {
		t.Errorf("got %+v", r)
	}
}

// A fault in one hook does not affect the others.
func TestFaultAtAHook(t *testing.T) {
	p, err := rule.NewPermission("Bash")
	if err != nil {
		t.Fatal(err)
	}
	h := &config.Hook{ID: "a", Event: event.PreToolUse, Type: config.BuiltIn, If: p, FailClosed: true} // a rule without a rule
	if r := trigger(t, NewEngine([]*config.Hook{h}), event.PreToolUse, bash); r.Allowed || r.Results[0].Err == nil {
		t.Errorf("got %+v", r)
	}
}

// A project may refuse what an MCP server asks the user, but not answer it.
func TestProjectAnswersNoElicitation(t *testing.T) {
	for _, c := range []struct {
		level  config.Level
		action string
		want   bool
	}{{config.Global, "accept", true}, {config.Project, "accept", false}, {config.Project, "decline", true}, {config.Project, "cancel", true}} {
		raw := []byte(`{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"` + c.action + `","content":{"a":1}}}`)
		h := &config.Hook{ID: "a", Event: event.Elicitation, Type: config.Command, Level: c.level}
		e := NewEngine([]*config.Hook{h})
		e.Handle(h, says(wire.Outcome{Raw: raw}))
		got := string(trigger(t, e, event.Elicitation, `{"hook_event_name":"Elicitation"}`).Answer.Stdout)
		if strings.Contains(got, c.action) != c.want || strings.Contains(got, "content") && c.level == config.Project {
			t.Errorf("%s %s: %s", c.level, c.action, got)
		}
	}
}

// Where nothing can be started for an event, a hook that fails closed refuses it. A second copy leaves
// it to the first.
func TestNothingStarts(t *testing.T) {
	c := decode(t, one(`{"type":"command","command":"true","fail":"closed"}`))
	ev := Event{Kind: event.PreToolUse, Payload: []byte(bash), Fault: errors.New("too much runs")}
	if r := NewEngine(c).Trigger(t.Context(), ev); r.Allowed {
		t.Error("too much runs, and the gate is open")
	}
	ev.Fault, ev.Skip = nil, "copy"
	if r := NewEngine(c).Trigger(t.Context(), ev); !r.Allowed || r.Results[0].Skipped != "copy" {
		t.Errorf("got %+v", r.Verdict)
	}
}

// observer makes the engine ignore a handler's answers; it runs concurrently with the others.
func observer() Option { return func(h *config.Hook) { h.Observe = true } }

// onFailureRefuse refuses the event if the handler fails.
func onFailureRefuse() Option {
	return func(h *config.Hook) { h.FailClosed = wire.RulesOf(h.Event).Closable() }
}

// only limits a handler to the events that m matches.
func only(m rule.Matcher) Option { return func(h *config.Hook) { h.Matcher = m } }
