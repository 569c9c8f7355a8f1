// Package packs holds the rules that ship with beckon. A policy enables them by the name of
// their pack.
package packs

import (
	"embed"
	"encoding/json"

	"beckon/event"
	"beckon/event/policy/rule"
)

// Rule is one rule of a pack.
type Rule struct {
	ID       string // "git/force-push"
	Decision string // "deny", "ask" or "allow"
	Reason   string // what is wrong with the call, a sentence
	Instead  string // what to do instead, a sentence; may be empty
	// Fits and Passes are calls that the rule covers, and that it does not, which the tests
	// run: a command of Bash; or "read FILE", "write FILE" of those tools.
	Fits, Passes []string

	rule.Conditions
	Unless *rule.Conditions
	Tools  string // a matcher
}

//go:embed *.json
var files embed.FS

// Names returns the names of all packs, sorted.
func Names() []string {
	return []string{"cloud", "containers", "database", "filesystem", "git", "packages", "read-only", "secrets"}
}

// Load returns a pack's rules in their order; ok is false if there is no pack of that name.
func Load(name string) (rules []Rule, ok bool) {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, false
	}
	pack := struct{ Rules []Rule }{}
	_ = json.Unmarshal(text, &pack) // a test reads them all
	for i := range pack.Rules {
		pack.Rules[i].ID = name + "/" + pack.Rules[i].ID
	}
	return pack.Rules, true
}

// Match returns what the rule covers.
func (r Rule) Match() rule.Rule {
	m := rule.Rule{Conditions: r.Conditions, Unless: r.Unless, Allow: r.Decision == "allow"}
	if tools, err := rule.NewMatcher(event.PreToolUse, r.Tools); err == nil && !tools.All() { // a test reads them all
		m.Tools = []rule.Matcher{tools}
	}
	return m
}
