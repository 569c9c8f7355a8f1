package config

import (
	"slices"
	"sync"

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

	compiled func() *rule.Compiled
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
	r.compiled = sync.OnceValue(r.Match.Compile)
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
	v := r.compiled().Judge(c)
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
func (r *Rule) Approval(place func() Place) *rule.Compiled {
	if r.Decision != wire.Allow || !r.holdsAt(place) {
		return nil
	}
	return r.compiled()
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
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return doublestar.MatchUnvalidated(p, name) })
}

// always reports whether a rule has no conditions.
func (r *Rule) always() bool {
	c := r.Match.Conditions
	tools := slices.ContainsFunc(r.Match.Tools, func(m rule.Matcher) bool { return !m.All() })
	return !tools && r.Match.Says == nil && len(c.Commands)+len(c.Regex)+len(c.Paths)+len(c.Words)+len(r.Branches)+len(r.Repositories) == 0 && r.CI == nil && r.Match.Unless == nil
}
