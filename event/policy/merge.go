package policy

import (
	"encoding/json"
	"fmt"
	"strings"

	"beckon/event/policy/handler"

	"github.com/tidwall/gjson"
)

// rank orders decisions: the higher one wins (DESIGN.md section 6: silence is
// no objection).
func rank(d handler.Decision) int {
	switch d {
	case handler.Deny, handler.Block:
		return 3
	case handler.Ask:
		return 2
	case handler.Allow:
		return 1
	}
	return 0
}

// merge makes one verdict of what the hooks said, in their order.
func (r *run) merge() Result {
	m := merging{run: r, rules: rulesOf(r.ev.Kind)}
	for i := range r.results {
		m.add(&r.results[i])
	}
	m.recheck()
	m.stop()
	m.v.Reason = strings.Join(m.reasons, "\n")
	if m.v.Decision == handler.Deny {
		m.v.Input = nil
	}
	if r.ev.Warn != nil && m.rules.system {
		m.v.System = append(m.v.System, r.ev.Warn(m.warnings)...)
	}
	a := translate(r.ev.Kind, m.v, r.ev.Version, r.ev.HTTP)
	for _, what := range a.Dropped {
		r.notes = append(r.notes, fmt.Sprintf("%s cannot be told: %s", r.ev.Kind, what))
	}
	heard := m.rules.heard(r.ev.Version, r.ev.HTTP)
	refused := m.v.Decision == handler.Deny && heard.refuse != noRefusal
	texts := len(m.v.Context) > 0 && heard.context
	return Result{Allowed: !refused, Verdict: m.v, Answer: a, Results: r.results, Notes: r.notes, Warnings: m.warnings,
		halts: m.v.Halt && m.rules.halt, goesOn: m.rules.loops && !m.v.Halt && (refused || texts)}
}

// merging is one merge under way.
type merging struct {
	*run
	rules   rules
	v       Verdict
	reasons []string // of the decision that is ahead
	// warnings are what the user must be told of handlers that did not work.
	warnings []string
	declined bool // a hook declines what an MCP server asks
}

// add takes one hook's word.
func (m *merging) add(res *HookResult) {
	h := res.Hook
	if !res.Ran || h.Observe {
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
	m.decide(h, m.decision(res), o.Reason)
	if res.Rewrote != nil {
		m.v.Input = res.Rewrote
	}
	if o.Context != "" {
		m.v.Context = append(m.v.Context, o.Context)
	}
	if o.System != "" {
		m.v.System = append(m.v.System, o.System)
	}
	m.others(h, o.Raw)
}

// unfit reports an answer that the event has no words for: such a hook did not
// work.
func (m *merging) unfit(res *HookResult) error {
	o := res.Outcome
	switch d := o.Decision; {
	case d == handler.Ask && !m.rules.ask:
		return fmt.Errorf("it asks the user, which %s cannot", m.rules.kind)
	case d == handler.Modify && res.Rewrote == nil && o.Raw == nil:
		return fmt.Errorf("it rewrites the input, which %s cannot", m.rules.kind)
	case rank(d) == 0 && d != handler.Silence && d != handler.Modify && d != handler.Continue:
		return fmt.Errorf("no such decision %q", d)
	}
	return nil
}

// decision is what a hook's word counts as. An allow is "no objection" unless
// the hook may approve: the user gave it that right, or it speaks the client's
// own language and says so in as many words.
func (m *merging) decision(res *HookResult) handler.Decision {
	o, h := res.Outcome, res.Hook
	if o.Decision != handler.Allow {
		return o.Decision
	}
	switch {
	case h.Level == Project, !m.rules.allow:
		return handler.Silence
	case h.Grant, o.Raw != nil:
		return handler.Allow
	}
	return handler.Silence
}

// decide lets d win over what is ahead, or join it.
func (m *merging) decide(h *Hook, d handler.Decision, reason string) {
	if d == handler.Block {
		d = handler.Deny
	}
	switch now := rank(m.v.Decision); {
	case rank(d) == 0 || rank(d) < now:
		return
	case rank(d) > now:
		m.v.Decision, m.reasons = d, nil
	}
	m.reasons = append(m.reasons, tagged(h, reason))
}

// tagged is a reason with the hook that gave it.
func tagged(h *Hook, reason string) string {
	reason = strings.TrimSpace(reason)
	if h.ID == "other-copy" {
		return reason // it has its tag
	}
	if reason == "" {
		reason = "refused without a reason"
		if h.Grant {
			reason = "approved"
		}
	}
	return reason + " (policy " + h.Name() + ")"
}

// failed lets the fail mode speak for a hook that did not work.
func (m *merging) failed(res *HookResult) {
	h := res.Hook
	if h.FailClosed {
		m.decide(h, handler.Deny, fmt.Sprintf("the policy could not be asked, and without it this is refused: %v", res.Failed))
		return
	}
	m.warnings = append(m.warnings, fmt.Sprintf("policy %s did not work and let it pass: %v", h.Name(), res.Failed))
}

// recheck puts the final input to the rules that refuse or ask: one that came
// before a rewrite has not seen what it made.
func (m *merging) recheck() {
	if m.v.Input == nil {
		return
	}
	for i := range m.results {
		res := &m.results[i]
		h, rule := res.Hook, res.Hook.Spec.Rule
		if rule == nil || !h.Enabled || h.Observe || rule.Decision == handler.Allow || rank(res.Outcome.Decision) > 0 {
			continue
		}
		if m.holdsNow(h) {
			res.Ran, res.Skipped = true, ""
			res.Outcome.Decision, res.Outcome.Reason = rule.Decision, rule.Reason
			m.notes = append(m.notes, h.Name()+" holds for the rewritten input")
			m.decide(h, rule.Decision, rule.Reason)
		}
	}
	if m.v.Decision == handler.Allow {
		m.approvals()
	}
}

// approvals lets only those approvals count that are for the final input:
// of the hook that made it and of later ones, and of rules that hold for it.
func (m *merging) approvals() {
	last := 0
	for i, res := range m.results {
		if res.Rewrote != nil {
			last = i
		}
	}
	m.v.Decision, m.reasons = handler.Silence, nil
	for i := range m.results {
		res := &m.results[i]
		if !res.Success() || res.Hook.Observe || m.decision(res) != handler.Allow {
			continue
		}
		if i >= last || m.holdsNow(res.Hook) {
			m.decide(res.Hook, handler.Allow, res.Outcome.Reason)
		} else {
			m.notes = append(m.notes, res.Hook.Name()+" approved another input than the final one")
		}
	}
}

// holdsNow reports whether h is a rule that holds for the final input.
func (m *merging) holdsNow(h *Hook) bool {
	rule := h.Spec.Rule
	return rule != nil && h.applies(m.call) && rule.holds(m.call)
}

// stop lets the agent stop in the end. A refusal keeps it going, and so does a
// text for it; each hook may do so only as often in a row as it was given, and
// the client's own count, 8, is left for others (CONTRACT 1.11, 18).
func (m *merging) stop() {
	if !m.rules.loops || m.v.Decision != handler.Deny && len(m.v.Context) == 0 {
		return
	}
	budget := 0
	for _, res := range m.results {
		if o := res.Outcome; res.Success() && !res.Hook.Observe && (rank(o.Decision) == 3 || o.Context != "") {
			budget = max(budget, res.Hook.StopBlocks)
		}
	}
	used := m.ev.StopBlocks
	if gjson.GetBytes(m.ev.Payload, "stop_hook_active").Bool() {
		used = max(used, 1)
	}
	if used < budget {
		return
	}
	m.notes = append(m.notes, "it was kept from stopping often enough, and may stop")
	m.v.System = append(m.v.System, m.reasons...)
	m.v.Decision, m.reasons, m.v.Context = handler.Silence, nil, nil
}

// others takes the members of the client's own JSON that need no judgement.
func (m *merging) others(h *Hook, raw []byte) {
	if raw == nil {
		return
	}
	v := gjson.ParseBytes(raw)
	if c := v.Get("continue"); c.Type == gjson.False {
		m.v.Halt = true
		m.v.HaltReason = join(m.v.HaltReason, v.Get("stopReason").String())
	}
	m.v.Terminal += v.Get("terminalSequence").String()
	v.Get("hookSpecificOutput").ForEach(func(key, value gjson.Result) bool {
		m.specific(h, key.Str, value)
		return true
	})
}

// specific takes one member of hookSpecificOutput. Of several hooks the last
// one's counts, in their order.
func (m *merging) specific(h *Hook, name string, value gjson.Result) {
	if m.rules.refuse == byAction && !m.mayReply(h, name, value.Str) {
		return
	}
	switch name {
	case "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext":
		if name == "permissionDecision" && value.Str == "defer" {
			m.notes = append(m.notes, h.Name()+" defers, which counts as silence")
		}
		return
	case "decision":
		m.v.Request = map[string]json.RawMessage{}
		value.ForEach(func(k, x gjson.Result) bool {
			if k.Str != "updatedPermissions" || h.Level != Project {
				m.v.Request[k.Str] = json.RawMessage(x.Raw)
			}
			return true
		})
		return
	}
	if m.v.Extra == nil {
		m.v.Extra = map[string]json.RawMessage{}
	}
	m.v.Extra[name] = json.RawMessage(value.Raw)
}

// mayReply reports whether a hook may say that to what an MCP server asks the
// user. Who declines wins, as elsewhere; who accepts answers in the user's
// place, which a project may not.
func (m *merging) mayReply(h *Hook, name, value string) bool {
	switch {
	case name == "content" || name == "action" && value == "accept":
		return h.Level != Project && !m.declined
	case name == "action":
		m.declined = true
		delete(m.v.Extra, "content")
	}
	return true
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
