package config

import (
	"fmt"
	"slices"
	"strings"

	"beckon/event/policy/rule"
	"beckon/event/policy/wire"

	"github.com/bmatcuk/doublestar/v4"
)

// Rule is a built-in hook: it compares the call with its conditions and starts no process. All
// conditions that are set must hold.
type Rule struct {
	Decision wire.Decision // Deny, Ask, Warn or Allow
	Reason   string
	Match    rule.Rule
	// Unsure is the decision for a call if it is unclear whether the rule covers it: Ask, Deny
	// or Continue.
	Unsure wire.Decision
	// Branches and Repositories are patterns; CI is nil for both.
	Branches, Repositories []string
	CI                     *bool
	Examples               []string // that it covers, and that it does not
}

// Place is where an event happens, for the conditions of rules.
type Place struct {
	Branch     string // the branch that is checked out; empty if none
	Repository string // its name; empty outside of one
	CI         bool   // no human is at the terminal: CI is set
}

// settle completes a rule: one that refuses or asks lets the user decide when it is not sure.
func (r *Rule) settle(asks bool) {
	if r.Unsure == "" {
		if r.Unsure = wire.Continue; asks && (r.Decision == wire.Deny || r.Decision == wire.Ask) {
			r.Unsure = wire.Ask
		}
	}
}

// NewRule returns a rule that is not from a file.
func NewRule(d wire.Decision, reason string, m rule.Rule) *Rule {
	r := &Rule{Decision: d, Reason: reason, Match: m}
	r.settle(true)
	return r
}

// Decide returns the rule's decision on c, and why if it is not certain. It calls place only
// if the rule has a condition on it.
func (r *Rule) Decide(c *rule.Call, place func() Place) (d wire.Decision, why string) {
	v := r.Match.Evaluate(c)
	switch {
	case v.Result == rule.No, !r.holdsAt(place):
		return wire.Silence, ""
	case v.Result == rule.Yes:
		return r.Decision, ""
	case r.Decision == wire.Allow || r.Unsure == wire.Continue:
		return wire.Silence, v.Why
	}
	return r.Unsure, v.Why
}

// Approval returns the rule as Allows takes it; nil if it approves nothing, or nothing here.
func (r *Rule) Approval(place func() Place) *rule.Rule {
	if r.Decision != wire.Allow || !r.holdsAt(place) {
		return nil
	}
	return &r.Match
}

func (r *Rule) holdsAt(place func() Place) bool {
	if len(r.Branches)+len(r.Repositories) == 0 && r.CI == nil {
		return true
	}
	var at Place
	if place != nil {
		at = place()
	}
	return oneFits(r.Branches, at.Branch) && oneFits(r.Repositories, at.Repository) && (r.CI == nil || *r.CI == at.CI)
}

// oneFits reports whether one of the patterns matches a name; without patterns, any name does.
func oneFits(patterns []string, name string) bool {
	fits := func(p string) bool { return doublestar.MatchUnvalidated(p, name) }
	return len(patterns) == 0 || slices.ContainsFunc(patterns, fits)
}

// rule converts the conditions and the decision of a rule.
func (d *decoder) rule(h *Hook, x handler) {
	can, at := wire.RulesOf(h.Event), h.Path
	d.decision(h, x, can)
	if !d.has(at+".reason") && x.Decision != "allow" {
		d.fail(at, "", "a rule needs %q", "reason")
	}
	const ofTools = "tool commands regex paths unless.commands unless.regex unless.paths"
	for _, name := range strings.Fields(ofTools) {
		if !can.Tool && d.has(at+"."+name) {
			d.fail(at+"."+name, "", "%s is not a tool event", h.Event)
		}
	}
	m := rule.Rule{Conditions: x.parsed(), Allow: x.Decision == "allow"}
	if can.Tool { // the rule decides: a command that reads a file is a Read, too
		m.Tools = []rule.Matcher{h.Matcher}
		if x.Tool != "" {
			m.Tools = append(m.Tools, d.matcher(h.Event, x.Tool, at+".tool"))
		}
	}
	if x.Unless != nil {
		unless := x.Unless.parsed()
		m.Unless = &unless
	}
	r := &Rule{
		Decision:     wire.Decision(x.Decision),
		Reason:       string(x.Reason),
		Match:        m,
		Unsure:       wire.Decision(x.Unsure),
		Branches:     x.Branch,
		Repositories: x.Repository,
		CI:           x.CI,
		Examples:     slices.Concat(x.Match, x.NotMatch),
	}
	if x.Unsure == "pass" {
		r.Unsure = wire.Continue
	}
	r.settle(can.Ask || can.Refuse == wire.ByRequest)
	h.Grant, h.Spec.Rule = m.Allow, r
	if d.again {
		return
	}
	for _, p := range m.Check() {
		if where := at + "." + p.Field; !p.Doubt && d.has(where) {
			d.fail(where, "", "%s", p.What)
		} else if !p.Doubt {
			d.fail(at, "", "%s: %s", p.Field, p.What)
		}
	}
	d.examples(h, x.Match, ".match", true)
	d.examples(h, x.NotMatch, ".not_match", false)
}

// examples reports those that a rule does not treat as written.
func (d *decoder) examples(h *Hook, list texts, name string, covered bool) {
	for i, text := range list {
		at := fmt.Sprintf("%s%s[%d]", h.Path, name, i)
		if !d.has(at) {
			at = h.Path + name
		}
		c := rule.Example(text, wire.RulesOf(h.Event).Tool)
		if covers := h.Applies(c) && h.Spec.Rule.Match.Evaluate(c).Result > rule.No; covers != covered {
			word := map[bool]string{true: "covers", false: "does not cover"}
			d.fail(at, "beckon help policy says what an entry covers", "the rule %s %q", word[covers], text)
		}
	}
}

// decision reports a decision that the event cannot express.
func (d *decoder) decision(h *Hook, x handler, can wire.Rules) {
	at := h.Path + ".decision"
	switch wire.Decision(x.Decision) {
	case wire.Deny:
		if can.Refuse == wire.NoWay {
			d.fail(at, "", "%s cannot be refused", h.Event)
		}
	case wire.Ask:
		if !can.Ask {
			d.fail(at, "", "at %s the user cannot be asked", h.Event)
		}
	case wire.Warn:
		if !can.Context {
			d.fail(at, "", "%s has no way to say anything to the agent", h.Event)
		}
	case wire.Allow:
		d.mayApprove(at, h.Event, "to let it pass, say nothing")
	}
	if x.Unsure == "ask" && !can.Ask {
		d.fail(h.Path+".unsure", "", "at %s the user cannot be asked", h.Event)
	}
}
