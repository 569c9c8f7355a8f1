// Package policy answers a hook: it reads the user's decisions about their agents (policy.json), runs the hooks
// that match an event, merges their answers into one and writes that in the client's format.
//
// It guarantees: silence if no hook decides anything; the same answer for the same event and policy; one
// deadline for everything that an event starts, and rules that are evaluated whatever happens to the
// rest; nothing that an event cannot express reaches the client; a file with an error never disables
// what was in force before it.
//
// Its packages: shell reads command lines, rule says what a rule covers, config parses the files, wire knows
// what an event can express and the JSON of all sides, trust stores files between hooks, run starts
// commands and asks servers and models. This package starts nothing itself.
package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/rule"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/event/redact"

	"github.com/tidwall/gjson"
)

// Engine runs hooks for events. It is safe for concurrent use.
type Engine struct {
	Hooks []*config.Hook // in their order (see config.Merge)
	Start config.Start   // runs those that are no rules
}

// Event is one invocation, the argument of Trigger.
type Event struct {
	Kind    event.Kind
	Payload []byte // the client's whole JSON, valid
	Dialect wire.Dialect
	Given   []byte // the payload as a client of another dialect than Claude Code's sent it
	At      time.Time
	ID      string // of the invocation, the same on every retry

	ProjectDir string
	Dir        string // where commands run, and their project, if the event's cwd cannot be trusted
	HTTP       bool   // the answer goes out over HTTP, without an exit code
	Hops       int    // how many policies have passed the question on before
	Skip       string // why no hook that starts something runs: a dry run, inside a handler
	Fault      error  // how each of them fails, if set
	Home       string // the user's home directory, for ~ in paths
	Once       Once   // nil: the user cannot allow a refused call
	// Warn gets the failures of handlers, and returns those to show the user now; nil shows none.
	Warn func([]string) []string
}

// Once lets the user allow a refused call once.
type Once interface {
	// Take reports whether the user allowed exactly this call; only the first time.
	Take() bool
	// WithCode returns how the user can allow it; empty if they cannot.
	WithCode(reason string) string
}

// Result is the combined answer of all hooks.
type Result struct {
	Allowed  bool // not refused
	Verdict  wire.Verdict
	Answer   wire.Answer
	Results  []HookResult
	Notes    []string // what was decided outside of hooks, for the trace
	Warnings []string // name the handlers that failed and let the event pass

	Halts  bool // the answer ends the agent's work
	GoesOn bool // the answer keeps the agent from stopping
}

// HookResult is the result of one hook that matched.
type HookResult struct {
	Hook *config.Hook
	wire.Outcome
	Skipped string // why it did not run: "rules only", ...
	Rewrote []byte // the tool input that the hook returned
}

// Success reports whether the hook worked.
func (r HookResult) Success() bool { return r.Skipped == "" && r.Err == nil }

// says reports whether it decided anything.
func (r HookResult) says() bool { return r.Decision != wire.Silence }

// Trigger runs the hooks that match ev within the event's deadline: rules first; unless one refuses the others,
// and then the rules again for the input that these produced.
func (e Engine) Trigger(ctx context.Context, ev Event) Result {
	ctx, cancel := context.WithTimeout(ctx, wire.DeadlineOf(ev.Kind))
	defer cancel()
	r := &run{ev: ev, ctx: ctx, start: e.Start, call: ev.call(), contract: ev.Dialect.RulesOf(ev.Kind)}
	for _, h := range e.Hooks { // its "if" is evaluated when its turn comes, because it examines the input
		res := HookResult{Hook: h}
		switch {
		case h.Event != ev.Kind || !h.Takes(ev.Payload):
			continue
		case h.Runs():
			res.Skipped = ev.Skip
		}
		r.Results = append(r.Results, res)
	}
	seen := r.seen(r.call)
	for i := range r.Results {
		if h := r.Results[i].Hook; h.Spec.Rule != nil {
			r.Results[i] = r.rule(h, seen)
		}
	}
	r.ask()
	r.merge()
	return r.Result
}

// call returns the event as handlers see it.
func (ev Event) call() wire.Call {
	get := func(name string) string { return gjson.GetBytes(ev.Payload, name).String() }
	c := wire.Call{
		Event:      ev.Kind,
		ID:         ev.ID,
		Payload:    ev.Payload,
		At:         ev.At,
		ProjectDir: ev.ProjectDir,
		Dir:        ev.Dir,
		Hops:       ev.Hops,
		SessionID:  get("session_id"),
		ToolName:   get("tool_name"),
		Cwd:        get("cwd"),
	}
	if in := gjson.GetBytes(ev.Payload, "tool_input"); in.IsObject() {
		c.ToolInput = []byte(in.Raw)
	}
	return c
}

// run is the state of Trigger.
type run struct {
	Result
	ev       Event
	ctx      context.Context
	start    config.Start
	call     wire.Call // with the rewrites so far
	contract wire.Rules
	allowed  bool     // once, by the user
	reasons  []string // of the strongest decision so far
	declined bool     // a hook declines what an MCP server asks
}

// seen returns c as rules see it, under each name that its tool may have, the agent's own first.
func (r *run) seen(c wire.Call) []*rule.Call {
	one := rule.Call{
		Tool:    c.ToolName,
		Input:   c.ToolInput,
		Prompt:  gjson.GetBytes(c.Payload, "prompt").String(),
		Cwd:     c.Cwd,
		Project: cmp.Or(c.ProjectDir, c.Cwd),
		Home:    r.ev.Home,
	}
	list := []*rule.Call{&one}
	for _, name := range gjson.GetBytes(c.Payload, wire.ToolNames).Array() {
		if name.Str != c.ToolName {
			other := one
			other.Tool = name.Str
			list = append(list, &other)
		}
	}
	return list
}

// rule evaluates a rule for a call under each of its names, of which the strictest result counts.
func (r *run) rule(h *config.Hook, seen []*rule.Call) (res HookResult) {
	for i, c := range seen {
		now := hear(h, []*rule.Call{c}, func(res *HookResult) { r.evaluateRule(res, c) })
		if i == 0 || now.exceeds(res) {
			res = now
		}
	}
	return res
}

// exceeds reports whether a rule's result says more than an earlier one.
func (r HookResult) exceeds(old HookResult) bool {
	return r.Err != nil || r.says() && (!old.says() || r.Decision.Rank() > old.Decision.Rank())
}

// hear asks a hook about a call, if it is one for the hook under any name. A panic is a failure of the hook.
func hear(h *config.Hook, seen []*rule.Call, ask func(*HookResult)) (res HookResult) {
	res.Hook = h
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			res.Err = fmt.Errorf("it could not be asked: %v", p)
		}
		res.Took = time.Since(start)
	}()
	if !slices.ContainsFunc(seen, h.Applies) {
		res.Skipped = "if " + h.If.Text
		return res
	}
	ask(&res)
	return res
}

// evaluateRule evaluates one rule for a call under one name.
func (r *run) evaluateRule(res *HookResult, seen *rule.Call) {
	h := res.Hook
	is := h.Spec.Rule
	can := wire.RulesOf(h.Event)
	switch v := is.Match.Evaluate(seen); {
	case v.Result == rule.Yes, v.Result == rule.No && is.Decision == wire.Allow && r.approved(h, seen):
		res.Decision, res.Reason = is.Decision, is.Reason
	case v.Result == rule.No:
	case (is.Decision == wire.Deny || is.Decision == wire.Ask) && (can.Ask || can.Refuse == wire.ByRequest):
		// The rule's reason may not be true.
		res.Decision, res.Reason = wire.Ask, "It cannot be told whether this rule covers the call: "+v.Why+"."
	default:
		r.Notes = append(r.Notes, h.Name()+" cannot tell: "+v.Why)
	}
}

// approved reports whether a rule approves a part of a line of which others approve the rest.
func (r *run) approved(h *config.Hook, seen *rule.Call) bool {
	var all []*rule.Rule
	for _, res := range r.Results {
		is := res.Hook.Spec.Rule
		if is != nil && is.Decision == wire.Allow && !res.Hook.Observe && res.Hook.Applies(seen) {
			all = append(all, &is.Match)
		}
	}
	return slices.Contains(rule.Allows(all, seen), &h.Spec.Rule.Match)
}

// refused reports whether a rule has refused.
func (r *run) refused() bool {
	return r.contract.Refuse != wire.NoWay && slices.ContainsFunc(r.Results, func(res HookResult) bool {
		return res.Hook.Spec.Rule != nil && !res.Hook.Observe && res.Success() && res.Decision == wire.Deny
	})
}

// cannotAsk reports whether a decision is to ask the user about a call that the agent can refuse but
// not ask about. Such a call is refused, and the user can allow it once.
func (r *run) cannotAsk(d wire.Decision) bool {
	return d == wire.Ask && !r.contract.Ask && r.contract.Refuse == wire.ByPermission
}

// leftToUser reports whether every hook that has refused lets the user allow the call once.
func (r *run) leftToUser() bool {
	if r.ev.Kind != event.PreToolUse || r.ev.Once == nil {
		return false
	}
	return !slices.ContainsFunc(r.Results, func(res HookResult) bool {
		refuses := res.Decision == wire.Deny || res.Err != nil && (res.Hook.FailClosed || res.Hook.Spec.Rule != nil)
		return refuses && !res.Hook.Once && !res.Hook.Observe
	})
}

// allowedOnce reports whether the user allowed exactly this call; then the other hooks run.
func (r *run) allowedOnce() bool {
	if r.leftToUser() && !r.allowed {
		r.allowed = r.ev.Once.Take()
	}
	return r.allowed
}

// ask runs the hooks that are not rules: those that may rewrite the input in turn, the others concurrently.
func (r *run) ask() {
	var wait sync.WaitGroup
	var turns []int
	refused, in := r.refused() && !r.allowedOnce(), r.call
	for i := range r.Results {
		switch res := &r.Results[i]; {
		case res.Hook.Spec.Rule != nil || res.Skipped != "":
		case res.Hook.Observe || !r.contract.Rewrite && !refused:
			wait.Go(func() { *res = r.one(res.Hook, in) })
		case refused:
			res.Skipped = "a rule refuses already"
		default:
			turns = append(turns, i)
		}
	}
	for _, i := range turns {
		r.Results[i] = r.one(r.Results[i].Hook, r.call)
		r.rewrite(&r.Results[i])
	}
	wait.Wait()
}

// one runs a hook to its end, or to the event's.
func (r *run) one(h *config.Hook, c wire.Call) HookResult {
	return hear(h, r.seen(c), func(res *HookResult) {
		if res.Err = cmp.Or(h.Fault, r.ev.Fault); res.Err == nil {
			res.Outcome = r.start(r.ctx, h, c)
		}
	})
}

// rewrite shows the following hooks the input that res produced, if any.
func (r *run) rewrite(res *HookResult) {
	if !res.Success() || res.UpdatedInput == nil || res.Decision == wire.Deny {
		return
	}
	input := wire.Compact(res.UpdatedInput)
	payload, err := wire.Dialect{}.Rewritten(r.call.Payload, input)
	switch dialog := r.ev.Kind == event.PermissionRequest; {
	case dialog && res.Decision == wire.Ask: // it is about the call as it is
		return
	case dialog && res.Decision != wire.Allow:
		res.Err = errors.New("it rewrites the input and does not approve, which PermissionRequest cannot")
	case input == nil || err != nil:
		res.Err = errors.New("its updated input is no JSON object")
	case twice(gjson.ParseBytes(input)):
		res.Err = errors.New("its updated input has a member twice")
	}
	if res.Err == nil {
		res.Rewrote = input
		r.call.ToolInput, r.call.Payload = input, payload
		r.call.ID += "." // not the same question as before under that name
	}
}

// twice reports whether an object in v has a repeated member: the client reads the last, rules the first.
func twice(v gjson.Result) (found bool) {
	names := map[string]bool{}
	v.ForEach(func(name, value gjson.Result) bool {
		found = v.IsObject() && names[name.Str] || value.Type == gjson.JSON && twice(value)
		names[name.Str] = true
		return !found
	})
	return found
}

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
	return r.Hook.Type != config.BuiltIn || r.Decision != wire.Silence || r.Err != nil
}

// Traced returns a hook's result as the trace stores it.
func Traced(r HookResult) trust.TracedHook {
	t := trust.TracedHook{
		Hook:     r.Hook.Name(),
		Success:  r.Success(),
		Type:     string(r.Hook.Type),
		Outcome:  r.Outcome,
		Skipped:  r.Skipped,
		Observed: r.Hook.Observe,
		Rewrote:  trust.Kept(string(r.Rewrote)),
		Us:       r.Took.Microseconds(),
	}
	if r.Err != nil {
		t.Error = trust.Kept(r.Err.Error())
	}
	t.Reason, t.Output, t.Metadata = trust.Kept(r.Reason), trust.Kept(r.Output), nil
	if clean := redact.Text(string(r.Metadata)); len(clean) <= 2048 && json.Valid([]byte(clean)) {
		t.Metadata = json.RawMessage(clean)
	}
	return t
}

// SubjectOf returns what an event is about, in one line.
func SubjectOf(payload []byte) string {
	const paths = "tool_input.command tool_input.file_path tool_input.notebook_path tool_input.url tool_input.path " +
		"prompt message"
	for path := range strings.FieldsSeq(paths) {
		if v := gjson.GetBytes(payload, path); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return gjson.GetBytes(payload, "tool_input").Raw
}
