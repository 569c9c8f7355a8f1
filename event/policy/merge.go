package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// merge combines the hooks' answers: the strongest decision wins, with the reasons of all that made it.
func (r *run) merge() {
	r.recheck()
	for i := range r.Results {
		r.add(&r.Results[i])
	}
	r.stop()
	r.once()
	r.Verdict.Reason = strings.Join(r.reasons, "\n")
	if r.Verdict.Decision == wire.Deny {
		r.Verdict.Input = nil
	}
	if r.ev.Warn != nil && r.contract.System {
		r.Verdict.System = append(r.Verdict.System, r.ev.Warn(r.Warnings)...)
	}
	r.Answer = r.ev.Dialect.Translate(r.ev.Kind, r.sent(), r.ev.HTTP, r.ev.Given)
	for _, what := range r.Answer.Dropped {
		r.Notes = append(r.Notes, fmt.Sprintf("%s cannot be answered with: %s", r.ev.Kind, what))
	}
	r.Allowed = r.Verdict.Decision != wire.Deny || r.contract.Over(r.ev.HTTP).Refuse == wire.NoWay
	texts := len(r.Verdict.Context) > 0 && r.contract.Context
	r.Halts = r.Verdict.Halt && r.contract.Halt
	r.GoesOn = r.contract.Loops && !r.Verdict.Halt && (!r.Allowed || texts)
}

// recheck evaluates the rules for the final input, which they have not seen if it was rewritten. Their answers
// to the original call stand, unless they say more about the final one. Of the approvals those stand that are for
// the final input: of rules that match it, of the hook that produced it, and of later ones.
func (r *run) recheck() {
	last := -1
	for i, res := range r.Results {
		if res.Rewrote != nil {
			last = i
		}
	}
	if last < 0 {
		return
	}
	seen := r.seen(r.call)
	for i := range r.Results {
		res := &r.Results[i]
		h, is := res.Hook, res.Hook.Spec.Rule
		switch {
		case is == nil && i < last && res.Success() && !h.Observe && r.decision(res) == wire.Allow:
			r.Notes = append(r.Notes, h.Name()+" approved another input than the final one")
			res.Decision = wire.Silence
		case is != nil:
			if now := r.rule(h, seen); is.Decision == wire.Allow || now.exceeds(*res) {
				*res = now
			}
		}
	}
}

// add adds one hook's answer.
func (r *run) add(res *HookResult) {
	h := res.Hook
	if res.Skipped != "" || h.Observe {
		return
	}
	if res.Err == nil {
		res.Err = r.unfit(res)
	}
	if res.Err != nil {
		r.failed(res)
		return
	}
	o := res.Outcome
	if r.cannotAsk(o.Decision) {
		o.Reason = strings.TrimSpace(
			o.Reason + " You are to be asked about it, which " + r.ev.Dialect.Name() + " cannot do, so it is refused.",
		)
	}
	r.decide(h, r.decision(res), o.Reason)
	if res.Rewrote != nil {
		r.Verdict.Input = res.Rewrote
	}
	if o.Decision == wire.Warn {
		o.Context = tagged(h, o.Reason)
	}
	if o.Context != "" {
		r.Verdict.Context = append(r.Verdict.Context, o.Context)
	}
	if o.System != "" {
		r.Verdict.System = append(r.Verdict.System, o.System)
	}
	r.others(h, o.Raw)
}

// unfit returns an error for an answer that the event cannot express: such a hook failed.
func (r *run) unfit(res *HookResult) error {
	o, d := res.Outcome, r.ev.Dialect
	foreign := !d.Native() && o.UpdatedInput != nil && o.Decision != wire.Deny
	asked := r.contract.Ask || r.contract.Refuse == wire.ByRequest // there the user is asked already
	switch {
	case res.Rewrote == nil && (foreign || o.Decision == wire.Modify && o.Raw == nil):
		return fmt.Errorf("it rewrites the input, which %s cannot at %s", d.Name(), r.contract.Kind)
	case o.Decision == wire.Ask && !asked && !r.cannotAsk(o.Decision):
		return fmt.Errorf("it asks the user, which %s cannot at %s", d.Name(), r.contract.Kind)
	}
	return nil
}

// decision returns what a hook's answer counts as. An allow is "no objection" unless the user lets the
// hook approve, or it answers in the client's own format.
func (r *run) decision(res *HookResult) wire.Decision {
	o, h := res.Outcome, res.Hook
	switch {
	case r.cannotAsk(o.Decision):
		return wire.Deny
	case o.Decision != wire.Allow:
		return o.Decision
	case h.Level == config.Project, !r.contract.Allow, r.ev.Dialect.Types(r.ev.Given), len(r.seen(r.call)) > 1:
		return wire.Silence
	case h.Grant, o.Raw != nil:
		return wire.Allow
	}
	return wire.Silence
}

// decide lets d replace the strongest decision so far, or join it.
func (r *run) decide(h *config.Hook, d wire.Decision, reason string) {
	switch now := r.Verdict.Decision.Rank(); {
	case d.Rank() == 0 || d.Rank() < now:
		return
	case d.Rank() > now:
		r.Verdict.Decision, r.reasons = d, nil
	}
	r.reasons = append(r.reasons, tagged(h, reason))
}

// tagged returns a reason with the name of its hook.
func tagged(h *config.Hook, reason string) string {
	return strings.TrimSpace(reason + " (policy " + h.Name() + ")")
}

// failed applies the fail mode for a hook that failed.
func (r *run) failed(res *HookResult) {
	h, mode := res.Hook, wire.Silence
	if rule := h.Spec.Rule; rule != nil && !res.says() { // a rule that could not be evaluated applies
		if d := rule.Decision; d == wire.Deny || r.cannotAsk(d) {
			mode = wire.Deny
		} else if d == wire.Ask && r.contract.Ask {
			mode = d
		}
	}
	if h.FailClosed {
		mode = wire.Deny
	}
	switch mode {
	case wire.Silence:
		r.Warnings = append(r.Warnings, "policy "+h.Name()+" did not work and let it pass: "+res.Err.Error())
	case wire.Ask:
		r.decide(h, mode, "the policy could not be asked, so you are: "+res.Err.Error())
	default:
		r.decide(h, mode, "the policy could not be asked, and without it this is refused: "+res.Err.Error())
	}
}

// sent returns the verdict for the client, which tells the agent and the user of a rewritten call.
func (r *run) sent() wire.Verdict {
	v := r.Verdict
	if v.Input == nil {
		return v
	}
	var who []string
	for _, res := range r.Results {
		if res.Rewrote != nil {
			text := "policy " + res.Hook.Name()
			if res.Reason != "" {
				text += ": " + res.Reason
			}
			who = append(who, text)
		}
	}
	text := "This call was changed before it ran (" + strings.Join(who, "; ") + "). " +
		changes(gjson.GetBytes(r.ev.Payload, "tool_input"), gjson.ParseBytes(r.Verdict.Input))
	if r.contract.Context {
		v.Context = append(slices.Clip(v.Context), text)
	}
	v.System = append(slices.Clip(v.System), text)
	return v
}

// maxShown is how much of a value a text about a change shows, in bytes.
const maxShown = 400

// changes describes the changed members of an input.
func changes(before, after gjson.Result) string {
	old, now := before.Map(), after.Map()
	union := maps.Clone(now)
	maps.Copy(union, old)
	show := func(v gjson.Result) string { return cmp.Or(event.OneLine(v.Raw, maxShown), "nothing") }
	var all []string
	for _, name := range slices.Sorted(maps.Keys(union)) {
		if old[name].Raw != now[name].Raw {
			all = append(all, event.OneLine(name, 40)+" was "+show(old[name])+" and is "+show(now[name]))
		}
	}
	return strings.Join(all, "; ")
}

// stop lets the agent stop eventually. A refusal keeps it going, as does a text for it: once in a row.
func (r *run) stop() {
	kept := r.Verdict.Decision == wire.Deny || len(r.Verdict.Context) > 0
	if !r.contract.Loops || !kept || !gjson.GetBytes(r.ev.Payload, "stop_hook_active").Bool() {
		return
	}
	r.Notes = append(r.Notes, "it was kept from stopping already, and may stop")
	r.Verdict.System = append(r.Verdict.System, r.reasons...)
	r.Verdict.Decision, r.reasons, r.Verdict.Context = wire.Silence, nil, nil
}

// once lets a refused call pass that the user allowed, but for hooks that ask; for others it says how.
func (r *run) once() {
	switch {
	case r.Verdict.Decision != wire.Deny || !r.leftToUser():
	case r.allowedOnce():
		r.Notes = append(r.Notes, "refused, and allowed once by the user")
		r.Verdict.Decision, r.reasons = wire.Silence, nil
		for _, res := range r.Results {
			if res.Success() && !res.Hook.Observe && res.Decision == wire.Ask && !r.cannotAsk(wire.Ask) {
				r.decide(res.Hook, wire.Ask, res.Reason)
			}
		}
	default:
		if how := r.ev.Once.WithCode(strings.Join(r.reasons, "\n")); how != "" {
			r.reasons = append(r.reasons, how)
		}
	}
}

// others copies the members of the client's own JSON that need no decision. The last hook's count.
func (r *run) others(h *config.Hook, raw []byte) {
	if raw == nil {
		return
	}
	v := gjson.ParseBytes(raw)
	if v.Get("continue").Type == gjson.False {
		reason := cmp.Or(v.Get("stopReason").String(), "the work is ended without a reason (policy "+h.Name()+")")
		r.Verdict.Halt, r.Verdict.HaltReason = true, strings.TrimSpace(r.Verdict.HaltReason+"\n"+reason)
	}
	r.Verdict.Terminal += v.Get("terminalSequence").String()
	v.Get("hookSpecificOutput").ForEach(func(key, value gjson.Result) bool {
		name := key.Str
		switch {
		case r.contract.Refuse == wire.ByAction && !r.mayReply(h, name, value.Str):
		case name == "permissionDecision" && value.Str == "defer":
			r.Notes = append(r.Notes, h.Name()+" defers, which counts as silence")
		case slices.Contains(decided, name):
		case name == "decision":
			r.Verdict.Interrupt, r.Verdict.UpdatedPermissions = json.RawMessage(value.Get("interrupt").Raw), nil
			if h.Level != config.Project {
				r.Verdict.UpdatedPermissions = json.RawMessage(value.Get("updatedPermissions").Raw)
			}
		default:
			if r.Verdict.Extra == nil {
				r.Verdict.Extra = map[string]json.RawMessage{}
			}
			r.Verdict.Extra[name] = json.RawMessage(value.Raw)
		}
		return true
	})
}

// decided are the members of hookSpecificOutput that are written from the decision.
var decided = strings.Fields("hookEventName permissionDecision permissionDecisionReason updatedInput additionalContext")

// mayReply reports whether a hook may give that answer to an MCP server's request. A decline wins; an
// accept answers in the user's place, which a project may not.
func (r *run) mayReply(h *config.Hook, name, value string) bool {
	switch {
	case name == "content" || name == "action" && value == "accept":
		return h.Level != config.Project && !r.declined
	case name == "action":
		r.declined = true
		delete(r.Verdict.Extra, "content")
	}
	return true
}
