package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"beckon/event/policy/config"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// merge combines the hooks' answers: the strongest decision wins, with the reasons of all that made it.
func (r *run) merge() Result {
	m := merging{run: r}
	m.recheck()
	for i := range r.results {
		m.add(&r.results[i])
	}
	m.stop()
	m.once()
	m.v.Reason = strings.Join(m.reasons, "\n")
	if m.v.Decision == wire.Deny {
		m.v.Input = nil
	}
	if r.ev.Warn != nil && m.contract.System {
		m.v.System = append(m.v.System, r.ev.Warn(m.warnings)...)
	}
	a := r.ev.Dialect.Translate(r.ev.Kind, m.sent(), r.ev.HTTP, r.ev.Given)
	for _, what := range a.Dropped {
		r.notes = append(r.notes, fmt.Sprintf("%s cannot be answered with: %s", r.ev.Kind, what))
	}
	refused := m.v.Decision == wire.Deny && m.contract.Over(r.ev.HTTP).Refuse != wire.NoWay
	texts := len(m.v.Context) > 0 && m.contract.Context
	return Result{Allowed: !refused, Verdict: m.v, Answer: a, Results: r.results, Notes: r.notes, Warnings: m.warnings,
		Halts: m.v.Halt && m.contract.Halt, GoesOn: m.contract.Loops && !m.v.Halt && (refused || texts)}
}

// merging is the state of merge.
type merging struct {
	*run
	v       wire.Verdict
	reasons []string // of the strongest decision so far
	// warnings name the handlers that failed.
	warnings []string
	declined bool // a hook declines what an MCP server asks
}

// recheck evaluates the rules for the final input, which they have not seen if it was rewritten. Their answers
// to the original call stand, unless they say more about the final one. Of the approvals those stand that are for
// the final input: of rules that match it, of the hook that produced it, and of later ones.
func (m *merging) recheck() {
	last := -1
	for i, res := range m.results {
		if res.Rewrote != nil {
			last = i
		}
	}
	if last < 0 {
		return
	}
	seen := m.seen(m.call)
	for i := range m.results {
		res := &m.results[i]
		h, is := res.Hook, res.Hook.Spec.Rule
		switch {
		case is == nil && i < last && res.Success() && !h.Observe && m.decision(res) == wire.Allow:
			m.notes = append(m.notes, h.Name()+" approved another input than the final one")
			res.Outcome.Decision = wire.Silence
		case is != nil && h.Enabled:
			if now := m.rule(h, seen); is.Decision == wire.Allow || now.exceeds(*res) {
				*res = now
			}
		}
	}
}

// add adds one hook's answer.
func (m *merging) add(res *HookResult) {
	h := res.Hook
	if res.Skipped != "" || h.Observe {
		return
	}
	if res.Failed == nil {
		res.Failed = m.unfit(res)
	}
	if res.Failed != nil {
		m.failed(res)
		return
	}
	o := res.Outcome
	if m.cannotAsk(o.Decision) {
		o.Reason = strings.TrimSpace(
			o.Reason + " You are to be asked about it, which " + m.ev.Dialect.Name() + " cannot do, so it is refused.",
		)
	}
	m.decide(h, m.decision(res), o.Reason)
	if res.Rewrote != nil {
		m.v.Input = res.Rewrote
	}
	if o.Decision == wire.Warn {
		o.Context = tagged(h, o.Reason)
	}
	if o.Context != "" {
		m.v.Context = append(m.v.Context, o.Context)
	}
	if o.System != "" {
		m.v.System = append(m.v.System, o.System)
	}
	m.others(h, o.Raw)
}

// unfit returns an error for an answer that the event cannot express: such a hook failed.
func (m *merging) unfit(res *HookResult) error {
	o := res.Outcome
	if d := m.ev.Dialect; !d.Native() && o.UpdatedInput != nil && res.Rewrote == nil && !o.Decision.Refuses() {
		return fmt.Errorf("it rewrites the input, which %s cannot at %s", d.Name(), m.contract.Kind)
	}
	switch o.Decision {
	case wire.Ask:
		if !m.contract.Ask && m.contract.Refuse != wire.ByRequest && !m.cannotAsk(o.Decision) { // the user is asked already
			return fmt.Errorf("it asks the user, which %s cannot", m.contract.Kind)
		}
	case wire.Modify:
		if res.Rewrote == nil && o.Raw == nil {
			return fmt.Errorf("it rewrites the input, which %s cannot", m.contract.Kind)
		}
	case wire.Silence, wire.Continue, wire.Allow, wire.Warn, wire.Deny, wire.Block:
	default:
		return fmt.Errorf("no such decision %q", o.Decision)
	}
	return nil
}

// decision returns what a hook's answer counts as. An allow is "no objection" unless the user lets the
// hook approve, or it answers in the client's own format.
func (m *merging) decision(res *HookResult) wire.Decision {
	o, h := res.Outcome, res.Hook
	switch {
	case o.Decision == wire.Block, m.cannotAsk(o.Decision):
		return wire.Deny
	case o.Decision != wire.Allow:
		return o.Decision
	case h.Level == config.Project, !m.contract.Allow, m.ev.Dialect.Types(m.ev.Given), len(m.seen(m.call)) > 1:
		return wire.Silence
	case h.Grant, o.Raw != nil:
		return wire.Allow
	}
	return wire.Silence
}

// decide lets d replace the strongest decision so far, or join it.
func (m *merging) decide(h *config.Hook, d wire.Decision, reason string) {
	switch now := m.v.Decision.Rank(); {
	case d.Rank() == 0 || d.Rank() < now:
		return
	case d.Rank() > now:
		m.v.Decision, m.reasons = d, nil
	}
	m.reasons = append(m.reasons, tagged(h, reason))
}

// tagged returns a reason with the name of its hook.
func tagged(h *config.Hook, reason string) string {
	return strings.TrimSpace(reason + " (policy " + h.Name() + ")")
}

// failed applies the fail mode for a hook that failed.
func (m *merging) failed(res *HookResult) {
	h, mode := res.Hook, wire.Silence
	if rule := h.Spec.Rule; rule != nil && !res.says() { // a rule that could not be evaluated applies
		if d := rule.Decision; d.Refuses() || m.cannotAsk(d) {
			mode = wire.Deny
		} else if d == wire.Ask && m.contract.Ask {
			mode = d
		}
	}
	if h.FailClosed {
		mode = wire.Deny
	}
	switch mode {
	case wire.Silence:
		m.warnings = append(m.warnings, "policy "+h.Name()+" did not work and let it pass: "+res.Failed.Error())
	case wire.Ask:
		m.decide(h, mode, "the policy could not be asked, so you are: "+res.Failed.Error())
	default:
		m.decide(h, mode, "the policy could not be asked, and without it this is refused: "+res.Failed.Error())
	}
}

// sent returns the verdict for the client, which tells the agent and the user of a rewritten call.
func (m *merging) sent() wire.Verdict {
	v := m.v
	if v.Input == nil {
		return v
	}
	var who []string
	for _, res := range m.results {
		if res.Rewrote != nil {
			text := "policy " + res.Hook.Name()
			if res.Outcome.Reason != "" {
				text += ": " + res.Outcome.Reason
			}
			who = append(who, text)
		}
	}
	text := "This call was changed before it ran (" + strings.Join(who, "; ") + "). " +
		changes(gjson.GetBytes(m.ev.Payload, "tool_input"), gjson.ParseBytes(m.v.Input))
	if m.contract.Context {
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
	show := func(v gjson.Result) string { return cmp.Or(wire.Printable(v.Raw, maxShown), "nothing") }
	var all []string
	for _, name := range slices.Sorted(maps.Keys(union)) {
		if old[name].Raw != now[name].Raw {
			all = append(all, wire.Printable(name, 40)+" was "+show(old[name])+" and is "+show(now[name]))
		}
	}
	return strings.Join(all, "; ")
}

// stop lets the agent stop eventually. A refusal keeps it going, as does a text for it: once in a row.
func (m *merging) stop() {
	kept := m.v.Decision == wire.Deny || len(m.v.Context) > 0
	if !m.contract.Loops || !kept || !gjson.GetBytes(m.ev.Payload, "stop_hook_active").Bool() {
		return
	}
	m.notes = append(m.notes, "it was kept from stopping already, and may stop")
	m.v.System = append(m.v.System, m.reasons...)
	m.v.Decision, m.reasons, m.v.Context = wire.Silence, nil, nil
}

// once lets a refused call pass that the user allowed, but for hooks that ask; for others it says how.
func (m *merging) once() {
	switch {
	case m.v.Decision != wire.Deny || !m.leftToUser():
	case m.allowedOnce():
		m.notes = append(m.notes, "refused, and allowed once by the user")
		m.v.Decision, m.reasons = wire.Silence, nil
		for _, res := range m.results {
			if res.Success() && !res.Hook.Observe && res.Outcome.Decision == wire.Ask && !m.cannotAsk(wire.Ask) {
				m.decide(res.Hook, wire.Ask, res.Outcome.Reason)
			}
		}
	default:
		if how := m.ev.Once.WithCode(strings.Join(m.reasons, "\n")); how != "" {
			m.reasons = append(m.reasons, how)
		}
	}
}

// others copies the members of the client's own JSON that need no decision. The last hook's count.
func (m *merging) others(h *config.Hook, raw []byte) {
	if raw == nil {
		return
	}
	v := gjson.ParseBytes(raw)
	if v.Get("continue").Type == gjson.False {
		reason := cmp.Or(v.Get("stopReason").String(), "the work is ended without a reason (policy "+h.Name()+")")
		m.v.Halt, m.v.HaltReason = true, strings.TrimSpace(m.v.HaltReason+"\n"+reason)
	}
	m.v.Terminal += v.Get("terminalSequence").String()
	v.Get("hookSpecificOutput").ForEach(func(key, value gjson.Result) bool {
		name := key.Str
		switch {
		case m.contract.Refuse == wire.ByAction && !m.mayReply(h, name, value.Str):
		case name == "permissionDecision" && value.Str == "defer":
			m.notes = append(m.notes, h.Name()+" defers, which counts as silence")
		case slices.Contains(decided, name):
		case name == "decision":
			m.v.Interrupt, m.v.UpdatedPermissions = json.RawMessage(value.Get("interrupt").Raw), nil
			if h.Level != config.Project {
				m.v.UpdatedPermissions = json.RawMessage(value.Get("updatedPermissions").Raw)
			}
		default:
			if m.v.Extra == nil {
				m.v.Extra = map[string]json.RawMessage{}
			}
			m.v.Extra[name] = json.RawMessage(value.Raw)
		}
		return true
	})
}

// decided are the members of hookSpecificOutput that are written from the decision.
var decided = strings.Fields("hookEventName permissionDecision permissionDecisionReason updatedInput additionalContext")

// mayReply reports whether a hook may give that answer to an MCP server's request. A decline wins; an
// accept answers in the user's place, which a project may not.
func (m *merging) mayReply(h *config.Hook, name, value string) bool {
	switch {
	case name == "content" || name == "action" && value == "accept":
		return h.Level != config.Project && !m.declined
	case name == "action":
		m.declined = true
		delete(m.v.Extra, "content")
	}
	return true
}
