// Package packs holds the rules that ship with beckon. A policy enables them by the name of
// their pack.
package packs

import (
	"embed"

	"beckon/event"
	"beckon/event/policy/match"

	"github.com/tidwall/gjson"
)

// Rule is one rule of a pack.
type Rule struct {
	ID       string // "git/force-push"
	Decision string // "deny" or "ask"
	Reason   string // what is wrong with the call, a sentence
	Instead  string // what to do instead, a sentence; may be empty
	Match    match.Rule
	// Cases are calls with the rule's expected answer, which the tests run.
	Cases []Case
}

// Case is a call and whether the rule covers it.
type Case struct {
	Call string // a command of Bash; or "read FILE", "write FILE" of those tools
	Fits bool
}

//go:embed *.json
var files embed.FS

// Names returns the names of all packs, sorted.
func Names() []string {
	return []string{"cloud", "containers", "database", "filesystem", "git", "packages", "secrets"}
}

// Load returns a pack's rules in their order; ok is false if there is no pack of that name.
func Load(name string) (rules []Rule, ok bool) {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, false
	}
	for _, v := range gjson.GetBytes(text, "rules").Array() {
		r := Rule{ID: name + "/" + v.Get("id").Str, Decision: v.Get("decision").Str,
			Reason: v.Get("reason").Str, Instead: v.Get("instead").Str}
		r.Match.Conditions = conditions(v)
		if u := v.Get("unless"); u.Exists() {
			c := conditions(u)
			r.Match.Unless = &c
		}
		if tools := v.Get("tools").Str; tools != "" {
			m, err := match.NewMatcher(event.PreToolUse, tools)
			if err == nil { // a test reads them all
				r.Match.Tools = []match.Matcher{m}
			}
		}
		r.Cases = append(cases(v.Get("fits"), true), cases(v.Get("passes"), false)...)
		rules = append(rules, r)
	}
	return rules, true
}

func conditions(v gjson.Result) match.Conditions {
	return match.Conditions{Commands: texts(v.Get("commands")), Regex: texts(v.Get("regex")), Paths: texts(v.Get("paths")), Words: texts(v.Get("words"))}
}

func texts(v gjson.Result) (list []string) {
	for _, item := range v.Array() {
		list = append(list, item.Str)
	}
	return list
}

func cases(v gjson.Result, fits bool) (list []Case) {
	for _, text := range texts(v) {
		list = append(list, Case{Call: text, Fits: fits})
	}
	return list
}
