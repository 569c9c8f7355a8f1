package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strconv"

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
			f.log(fault)
			r = f.refusal("beckon could not ask the policy (%v), which applies to this event", fault)
		}
	}()
	defer Guard(&fault)
	dir := f.sources.State
	ev = policy.Event{
		Kind:       f.e.Kind,
		Payload:    f.payload,
		Dialect:    f.dialect,
		Given:      f.raw,
		At:         f.start,
		ID:         f.id(),
		Home:       f.sources.Home,
		ProjectDir: f.getenv("CLAUDE_PROJECT_DIR"),
		Dir:        f.dir,
		HTTP:       f.http,
		Hops:       f.hops,
	}
	switch {
	case f.starter == nil:
		ev.Skip = "nothing can be started here"
	case f.starter.Inside(f.getenv, dir):
		ev.Skip = "inside a handler"
	case f.busy:
		ev.Fault = errors.New("too much runs already")
	case f.asked == "" && f.starts() && !dir.Claim(&f.e, f.payload, f.args.Via, f.start):
		ev.Skip = "another copy of this invocation runs it"
	}
	ev.Warn = func(warnings []string) []string {
		if ctx.Err() != nil {
			return nil // nobody would see them
		}
		due := dir.Due(f.e.SessionID, f.loaded.Notices(), onceASession, f.start)
		return append(due, dir.Due(f.e.SessionID, warnings, remindAfter, f.start)...)
	}
	if f.asked == "" {
		ev.Once = f
	}
	if f.starter != nil {
		f.starter.Prepare(f.loaded.Hooks, f.e.Kind, f.environ, dir)
	}
	hooks := f.loaded.Hooks
	if f.e.FromClient && !f.dialect.Native() { // Qwen sends it between two batches of tools: not written by the user
		hooks = nil
	}
	r = policy.Engine{Hooks: hooks}.Trigger(ctx, ev)
	if f.e.Kind == event.PreToolUse && r.Verdict.Decision == wire.Silence && dir.Allows() {
		if by, ok := f.take(); ok && by.Client {
			r.Verdict.Decision, r.Verdict.Reason = wire.Allow, "the user allowed this call once"
			r.Answer = f.dialect.Translate(f.e.Kind, r.Verdict, f.http, f.raw)
		}
	}
	if ctx.Err() != nil {
		r = policy.Result{Allowed: true, Results: r.Results, Warnings: r.Warnings, Took: r.Took,
			Notes: append(r.Notes, "the client gave up waiting")}
	}
	return ev, r
}

// call identifies a refused call, so that the user can allow it, by all but its description.
func (f *invocation) call() string {
	p := gjson.ParseBytes(f.payload)
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
	return f.sources.State.Take(f.call(), gjson.GetBytes(f.payload, "tool_use_id").Str, f.start)
}

// Take reports whether the user allowed the call although the policy refused it.
func (f *invocation) Take() bool {
	by, ok := f.take()
	return ok && !by.Client
}

// code returns a new code for a refused call; empty if it cannot be stored.
func (f *invocation) code(r trust.Refused) string {
	r.Call, r.Tool, r.Subject = f.call(), gjson.GetBytes(f.payload, "tool_name").Str, policy.SubjectOf(f.payload)
	code, err := f.sources.State.Refuse(r, f.start)
	f.log(err)
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

// id identifies the invocation. It contains pid and time, so no two share one.
func (f *invocation) id() string {
	if f.asked != "" {
		return f.asked
	}
	h := sha256.New()
	h.Write(f.payload)
	h.Write(strconv.AppendInt(strconv.AppendInt(nil, f.start.UnixNano(), 10), int64(os.Getpid()), 10))
	return "evt_" + hex.EncodeToString(h.Sum(nil))[:24]
}

// after stores the decision in the trace, and what the policies cover.
func (f *invocation) after(ev policy.Event, r policy.Result) {
	dir := f.sources.State
	if r.Traceable() {
		f.log(dir.Trace(policy.EntryOf(ev, r)))
	}
	if f.asked != "" {
		return
	}
	covered := func() (map[string]trust.Needs, []byte) { return f.loaded.Events(), f.loaded.Flat() }
	if len(f.loaded.Notices()) > 0 {
		covered = nil
	}
	f.log(dir.Cover(f.covers, covered, f.start))
}
