package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/policy/handler"

	"github.com/tidwall/gjson"
)

// Deadlines of one event over all of its handlers, their retries and delays
// (row D3). The installed entry gives the hook 60 s; at SessionEnd the client
// waits 1.5 s for all hooks together (CONTRACT 1.4).
const (
	Deadline           = 25 * time.Second
	SessionEndDeadline = 1200 * time.Millisecond
	// grace is what a handler has after its context has ended before it is
	// left behind.
	grace = 500 * time.Millisecond
)

// DeadlineOf returns how long events of kind k may take.
func DeadlineOf(k event.Kind) time.Duration {
	if k == event.SessionEnd {
		return SessionEndDeadline
	}
	return Deadline
}

// Engine puts events to hooks. It is safe for concurrent use.
type Engine struct {
	mu    sync.RWMutex
	hooks []*Hook
	next  int
}

// NewEngine returns an engine with the hooks, which run in their order (see
// Merge).
func NewEngine(hooks []*Hook) *Engine { return &Engine{hooks: slices.Clone(hooks)} }

// Option changes how a registered handler takes part.
type Option func(*Hook)

// Observer makes a handler's answers be ignored; it runs beside the others.
func Observer() Option { return func(h *Hook) { h.Observe = true } }

// OnFailureRefuse refuses the event when the handler does not work.
func OnFailureRefuse() Option { return func(h *Hook) { h.FailClosed = closable(h.Event) } }

// For limits a handler to the firings that m takes.
func For(m Matcher) Option { return func(h *Hook) { h.Matcher = m } }

// Within limits how long one run may take.
func Within(d time.Duration) Option { return func(h *Hook) { h.Timeout = d } }

// Register adds a handler for events of kind k, behind those that are there,
// and returns its id (row C6). An approval of such a handler counts.
func (e *Engine) Register(k event.Kind, run handler.Handler, options ...Option) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next++
	h := &Hook{ID: "program-" + strconv.Itoa(e.next), Event: k, Type: TypeProgram, Level: Registered,
		Enabled: true, Grant: true, StopBlocks: 1, handler: run}
	for _, o := range options {
		o(h)
	}
	e.hooks = append(slices.Clip(e.hooks), h)
	return h.ID
}

// Unregister takes a registered handler out and reports whether it was there.
func (e *Engine) Unregister(k event.Kind, id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.hooks)
	e.hooks = slices.DeleteFunc(slices.Clone(e.hooks), func(h *Hook) bool {
		return h.Level == Registered && h.Event == k && h.ID == id
	})
	return len(e.hooks) < n
}

// Hooks returns the hooks in the order in which they run.
func (e *Engine) Hooks() []*Hook {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.hooks
}

// Event is one firing, put to Trigger.
type Event struct {
	Kind    event.Kind
	Payload []byte // the client's whole JSON, valid
	At      time.Time
	// ID is the firing's own name, the same for every try (row D1).
	ID         string
	ProjectDir string
	// Dir is where commands run, and what they take for the project, in place of
	// where the agent works: for events of which nobody vouches for that.
	Dir string
	// HTTP is set when the answer goes out over HTTP: it has no exit code, with
	// which alone some events can be refused.
	HTTP bool
	// Hops is how many policies have handed the question on before.
	Hops int
	// Version of the client; empty when it is not known.
	Version string
	// RulesOnly leaves out every hook that starts something: inside a handler,
	// for a second copy of one firing, and in a dry run.
	RulesOnly bool
	// Why says why RulesOnly is set, for the trace.
	Why string
	// Others waits for what another copy of this firing decided; nil when there
	// is none.
	Others func(context.Context) (handler.Outcome, error)
	// StopBlocks is how often in a row the agent has been kept from stopping.
	StopBlocks int
	// Warn is given what the user should be told of handlers that did not work,
	// and returns what is to be shown now; nil shows nothing. It is asked only
	// where the event can show a text.
	Warn func([]string) []string
}

// Result is what all hooks together said (row C6).
type Result struct {
	// Allowed is false when the event is refused.
	Allowed bool
	Verdict Verdict
	Answer  Answer
	Results []HookResult
	Notes   []string // what was decided beside the hooks, for the trace
	// Warnings name the handlers that did not work and let the event pass.
	Warnings []string
	Took     time.Duration

	halts, goesOn bool
}

// Halts reports whether the answer ends the agent's work.
func (r Result) Halts() bool { return r.halts }

// GoesOn reports whether the answer keeps the agent from stopping.
func (r Result) GoesOn() bool { return r.goesOn }

// HookResult is what became of one hook that matched.
type HookResult struct {
	Hook    *Hook
	Outcome handler.Outcome
	Ran     bool   // false: left out, and Skipped says why
	Skipped string // "disabled", "rules only", ...
	// Rewrote is the tool input that the hook made.
	Rewrote []byte
	// Failed is what it did not do; the fail mode decided in its place.
	Failed error
}

// Success reports whether the hook worked.
func (r HookResult) Success() bool { return r.Ran && r.Failed == nil }

// Trigger puts ev to the hooks that match it and returns what they said,
// merged and put in the client's words. It returns within the event's
// deadline, whatever the handlers do.
func (e *Engine) Trigger(ctx context.Context, ev Event) Result {
	start := time.Now()
	limit := DeadlineOf(ev.Kind)
	ctx, cancel := context.WithTimeout(ctx, limit-min(grace, limit/4))
	defer cancel()
	r := &run{ev: ev, ctx: ctx, hard: start.Add(limit), call: ev.call()}
	r.all(matching(e.Hooks(), ev.Kind, r.call))
	r.others()
	res := r.merge()
	res.Took = time.Since(start)
	return res
}

// call is the event as handlers see it.
func (ev Event) call() handler.Call {
	get := func(name string) string { return gjson.GetBytes(ev.Payload, name).String() }
	c := handler.Call{Event: string(ev.Kind), ID: ev.ID, Payload: ev.Payload, At: ev.At, ProjectDir: ev.ProjectDir, Dir: ev.Dir, Hops: ev.Hops,
		SessionID: get("session_id"), PromptID: get("prompt_id"), ToolName: get("tool_name"), ToolUseID: get("tool_use_id"),
		Cwd: get("cwd"), TranscriptPath: get("transcript_path")}
	if in := gjson.GetBytes(ev.Payload, "tool_input"); in.IsObject() {
		c.ToolInput = []byte(in.Raw)
	}
	return c
}

// matching returns the hooks of the event whose matcher takes the call; "if"
// is asked when the hook's turn comes, because it looks at the input.
func matching(hooks []*Hook, k event.Kind, c handler.Call) []*Hook {
	value := subject(k, c.Payload)
	var out []*Hook
	for _, h := range hooks {
		if h.Event == k && (h.Matcher.All() || h.Matcher.Match(value)) {
			out = append(out, h)
		}
	}
	return out
}

// run is one Trigger under way.
type run struct {
	ev      Event
	ctx     context.Context
	hard    time.Time
	call    handler.Call // with the rewrites so far
	results []HookResult
	notes   []string
}

// all runs the hooks. Those that may rewrite what the next one sees run in
// turn; the others, and all observers, beside each other.
func (r *run) all(hooks []*Hook) {
	r.results = make([]HookResult, len(hooks))
	in := r.call
	turns := rulesOf(r.ev.Kind).rewrite
	var wait sync.WaitGroup
	for i, h := range hooks {
		r.results[i].Hook = h
		switch why := r.leftOut(h); {
		case why != "":
			r.results[i].Skipped = why
		case turns && !h.Observe:
		case h.Type == TypeRule:
			r.results[i] = r.one(h, in)
		default:
			wait.Go(func() { r.results[i] = r.one(h, in) })
		}
	}
	for i, h := range hooks {
		if turns && !h.Observe && r.results[i].Skipped == "" {
			r.results[i] = r.one(h, r.call)
			r.rewrite(&r.results[i])
		}
	}
	wait.Wait()
}

// others lets the other copy's decision count. If it never comes the hooks
// that it should have run have said nothing: what fails closed refuses.
func (r *run) others() {
	if r.ev.Others == nil {
		return
	}
	h := &Hook{ID: "other-copy", Type: TypeProgram, Level: Registered, Event: r.ev.Kind, Grant: true, StopBlocks: 1}
	for _, res := range r.results {
		h.FailClosed = h.FailClosed || res.Skipped == r.ev.Why && res.Hook.FailClosed && !res.Hook.Observe
	}
	o, err := r.ev.Others(r.ctx)
	r.results = append(r.results, HookResult{Hook: h, Outcome: o, Ran: true, Failed: err})
}

func (r *run) leftOut(h *Hook) string {
	switch {
	case !h.Enabled:
		return "disabled"
	case r.ev.RulesOnly && h.Runs():
		return cmp.Or(r.ev.Why, "rules only")
	}
	return ""
}

// errLate is the failure of a handler whose event had no time left, or which
// did not come back.
var errLate = errors.New("no answer within the event's deadline")

// one runs a hook to its end, or to the event's.
func (r *run) one(h *Hook, c handler.Call) (res HookResult) {
	defer func() {
		if p := recover(); p != nil { // it may be on a goroutine of its own, where nobody else would
			res.Ran, res.Failed = true, fmt.Errorf("it could not be asked: %v", p)
		}
	}()
	res = HookResult{Hook: h}
	if !h.applies(c) {
		res.Skipped = "if " + h.If.text
		return res
	}
	res.Ran = true
	if h.handler == nil {
		res.Failed = errors.New("no handler")
		return res
	}
	if r.ctx.Err() != nil {
		res.Outcome, res.Failed = handler.Outcome{TimedOut: true}, errLate
		return res
	}
	if h.Type == TypeRule { // it cannot hang, and a goroutine costs more than it does
		res.Outcome = safely(r.ctx, h.handler, c)
		res.Failed = res.Outcome.Err
		return res
	}
	done := make(chan handler.Outcome, 1)
	go func() { done <- safely(r.ctx, h.handler, c) }()
	late := time.NewTimer(time.Until(r.hard))
	defer late.Stop()
	select {
	case res.Outcome = <-done:
		res.Failed = res.Outcome.Err
		if res.Failed == nil && res.Outcome.TimedOut {
			res.Failed = errLate
		}
	case <-late.C:
		res.Outcome, res.Failed = handler.Outcome{TimedOut: true}, errLate
	}
	return res
}

// applies reports whether the hook's "if" lets it take the call. Before a rule
// that approves it must speak of the whole call: any other handler looks at
// the call itself.
func (h *Hook) applies(c handler.Call) bool {
	switch {
	case h.If == nil:
		return true
	case h.Type == TypeRule && h.Spec.Rule.Decision == handler.Allow:
		return h.If.Covers(c)
	}
	return h.If.Match(c)
}

// safely turns a handler's panic into its failure.
func safely(ctx context.Context, h handler.Handler, c handler.Call) (o handler.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = handler.Outcome{Err: fmt.Errorf("handler panicked: %v", p)}
		}
	}()
	return h.Run(ctx, c)
}

// rewrite lets the hooks that follow see what res made of the input.
func (r *run) rewrite(res *HookResult) {
	if !res.Success() || res.Outcome.UpdatedInput == nil || res.Outcome.Decision == handler.Deny || res.Outcome.Decision == handler.Block {
		return
	}
	if r.ev.Kind == event.PermissionRequest && res.Outcome.Decision != handler.Allow {
		res.Failed = errors.New("it rewrites the input and does not approve, which PermissionRequest cannot")
		return
	}
	input := compact(res.Outcome.UpdatedInput)
	payload, err := WithInput(r.call.Payload, input)
	if input == nil || err != nil {
		res.Failed = errors.New("its updated input is no JSON object")
		return
	}
	res.Rewrote = input
	r.call.ToolInput, r.call.Payload = input, payload
}

var errNoInput = errors.New("the event has no tool_input")

// WithInput returns the payload with another tool_input, all else byte for
// byte.
func WithInput(payload, input []byte) ([]byte, error) {
	old := gjson.GetBytes(payload, "tool_input")
	if !old.Exists() || old.Index == 0 {
		return nil, errNoInput
	}
	out := make([]byte, 0, len(payload)-len(old.Raw)+len(input))
	out = append(out, payload[:old.Index]...)
	out = append(out, input...)
	return append(out, payload[old.Index+len(old.Raw):]...), nil
}
