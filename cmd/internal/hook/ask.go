package hook

import (
	"cmp"
	"context"
	"crypto/rand"
	"os"
	"slices"

	"beckon/event"
	"beckon/event/policy"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// ask evaluates the policy in force for the event. If ctx ends nobody hears the decision.
func (f *invocation) ask(ctx context.Context) (ev policy.Event, r policy.Result) {
	var fault error
	defer func() {
		if fault != nil {
			f.st.Log(fault)
			r = f.refusal("beckon could not ask the policy (%v), which applies to this event", fault)
		}
	}()
	defer Guard(&fault)
	dir := f.sources.State
	ev = f.ev
	ev.Kind, ev.ID = f.e.Kind, f.id()
	ev.Home, ev.ProjectDir = f.sources.Home, f.getenv("CLAUDE_PROJECT_DIR")
	switch {
	case f.starter == nil:
		ev.Skip = "nothing can be started here"
	case f.starter.Inside(f.getenv, dir):
		ev.Skip = "inside a handler"
	case ev.Fault == nil && f.ev.ID == "" && f.starts() && !dir.Claim(&f.e, f.ev.Payload, f.args.Via, f.ev.At):
		ev.Skip = "another copy of this invocation runs it"
	}
	ev.Warn = func(warnings []string) []string {
		if ctx.Err() != nil {
			return nil // nobody would see them
		}
		due := dir.Due(f.e.SessionID, f.loaded.Notices(), onceASession, f.ev.At)
		return append(due, dir.Due(f.e.SessionID, warnings, remindAfter, f.ev.At)...)
	}
	if f.ev.ID == "" {
		ev.Once = f
	}
	engine := policy.Engine{Hooks: f.loaded.Hooks}
	if f.starter != nil {
		engine.Start = f.starter.Start(os.Environ(), dir)
	}
	if f.e.FromClient && !f.ev.Dialect.Native() { // Qwen sends it between two batches of tools: not written by the user
		engine.Hooks = nil
	}
	r = engine.Trigger(ctx, ev)
	if f.e.Kind == event.PreToolUse && r.Verdict.Decision == wire.Silence && dir.Allows() {
		if by, ok := f.take(); ok && by.Client {
			r.Verdict.Decision, r.Verdict.Reason = wire.Allow, "the user allowed this call once"
			r.Answer = f.ev.Dialect.Translate(f.e.Kind, r.Verdict, f.ev.HTTP, f.ev.Given)
		}
	}
	if ctx.Err() != nil {
		r = policy.Result{Allowed: true, Results: r.Results, Warnings: r.Warnings,
			Notes: append(r.Notes, "the client gave up waiting")}
	}
	return ev, r
}

// call identifies a refused call, so that the user can allow it, by all but its description.
func (f *invocation) call() string {
	p := gjson.ParseBytes(f.ev.Payload)
	tool := p.Get("tool_name").Str
	var input []byte
	p.Get("tool_input").ForEach(func(name, value gjson.Result) bool {
		if name.Str != "description" || tool != "Bash" && tool != "PowerShell" {
			input = append(append(append(input, name.Raw...), value.Raw...), ',')
		}
		return true
	})
	return trust.CallName(f.e.SessionID, p.Get("cwd").Str, tool, input)
}

func (f *invocation) take() (trust.Refused, bool) {
	return f.sources.State.Take(f.call(), gjson.GetBytes(f.ev.Payload, "tool_use_id").Str, f.ev.At)
}

// Take reports whether the user allowed the call although the policy refused it.
func (f *invocation) Take() bool {
	by, ok := f.take()
	return ok && !by.Client
}

// code returns a new code for a refused call; empty if it cannot be stored.
func (f *invocation) code(r trust.Refused) string {
	r.Call, r.Tool, r.Subject = f.call(), gjson.GetBytes(f.ev.Payload, "tool_name").Str, policy.SubjectOf(f.ev.Payload)
	code, err := f.sources.State.Refuse(r, f.ev.At)
	f.st.Log(err)
	return code
}

// WithCode creates a code for the call. Without one it is refused all the same.
func (f *invocation) WithCode(reason string) string {
	code := f.code(trust.Refused{Reason: reason})
	if code == "" {
		return ""
	}
	return "The user can allow this call once, in a terminal: beckon policy allow " + code
}

// id identifies the invocation.
func (f *invocation) id() string { return cmp.Or(f.ev.ID, "evt_"+rand.Text()) }

// after stores the decision in the trace, and what the policies cover.
func (f *invocation) after(ev policy.Event, r policy.Result) {
	dir := f.sources.State
	if len(r.Warnings) > 0 || slices.ContainsFunc(r.Results, policy.HookResult.Notable) {
		f.st.Log(dir.Trace(policy.EntryOf(ev, r)))
	}
	if f.ev.ID != "" {
		return
	}
	covered := func() (map[string]trust.Needs, []byte) { return f.loaded.Events(), f.loaded.Flat() }
	if len(f.loaded.Notices()) > 0 {
		covered = nil
	}
	f.st.Log(dir.Cover(f.covers, covered, f.ev.At))
}
