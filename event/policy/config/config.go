// Package config parses a policy file: its hooks with their events, and every error with its place and what
// to do about it. A decision that an event cannot express is one.
package config

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/rule"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// Level is where a hook comes from.
type Level string

// The levels, in the order in which their hooks run.
const (
	Project Level = "project" // <project>/.beckon/policy.json, once trusted
	Global  Level = "global"  // policy.json in beckon's configuration directory
	Own     Level = "beckon"  // built-in rules, which any policy has
)

// Type is what a hook is.
type Type string

// The types of hooks.
const (
	Command Type = "command"
	Server  Type = "server"
	HTTP    Type = "http"
	Prompt  Type = "prompt"
	BuiltIn Type = "rule"
)

// Conventions of commands.
const (
	Client = "client" // exit code 2 blocks; timeout is in seconds
	Simple = "simple" // any exit code but 0 blocks; timeout is in milliseconds
)

// Hook is one handler with what it is for.
type Hook struct {
	ID      string // as written, else derived from the hook
	Event   event.Kind
	Matcher rule.Matcher
	If      *rule.Permission
	Type    Type

	Timeout    time.Duration // 0: the rest of the event's time
	FailClosed bool          // if the handler fails, the event is refused
	Observe    bool          // runs concurrently with the others; its answer does not count
	Grant      bool          // its "allow" skips the user's own decision
	Once       bool          // the user may let a refused call pass once

	Spec Spec

	Level Level
	File  string
	Line  int
	Path  string   // JSON path
	Gone  []string // members of the file that have no effect any more

	Fault  error  // why it cannot be run
	hashed string // caches key, which every tool call needs several times for each hook
}

// Start runs what a hook names and returns its answer, when there is one or ctx ends. It is safe for concurrent use.
type Start func(ctx context.Context, h *Hook, c wire.Call) wire.Outcome

// Name returns a name that is unique across levels: "global/no-force-push".
func (h *Hook) Name() string { return string(h.Level) + "/" + h.ID }

// Runs reports whether the hook starts a process or a request.
func (h *Hook) Runs() bool { return h.Type != BuiltIn }

// Texts returns the words of the hook that may name files to run.
func (h *Hook) Texts() []string { return append([]string{h.Spec.Command}, h.Spec.Args...) }

// Takes reports whether the hook's matcher accepts an event.
func (h *Hook) Takes(payload []byte) bool {
	asksItself := h.Spec.Rule != nil && wire.RulesOf(h.Event).Tool
	return asksItself || h.Matcher.All() || h.Matcher.Match(subject(h.Event, payload)) ||
		slices.ContainsFunc(gjson.GetBytes(payload, wire.ToolNames).Array(), func(v gjson.Result) bool {
			return wire.RulesOf(h.Event).Tool && h.Matcher.Match(v.Str)
		})
}

// Applies reports whether the call matches the hook's "if", all of it for a rule that approves.
func (h *Hook) Applies(c *rule.Call) bool {
	switch {
	case h.If == nil:
		return true
	case h.Spec.Rule != nil && h.Spec.Rule.Decision == wire.Allow:
		return rule.Allows([]*rule.Rule{{Says: h.If}}, c) != nil
	}
	return h.If.Match(c)
}

// Spec is what a hook runs; its type says which members count.
type Spec struct {
	Command    string
	Args       []string // not nil: no shell
	Shell      string
	Convention string

	URL            string
	Retries        int           `json:"-"`
	RetryDelay     time.Duration `json:"-"`
	Headers        map[string]string
	AllowedEnvVars []string

	Prompt string
	Model  string

	Rule *Rule
}

// Rule is a built-in hook: it compares the call with its conditions and starts no process.
type Rule struct {
	Decision wire.Decision // Deny, Ask, Warn or Allow
	Reason   string
	Match    rule.Rule `json:"-"`
	Examples []string  `json:"-"` // those that it covers first
}

// key returns what makes two hooks identical: everything but timeout, fail mode and name.
func (h *Hook) key() string {
	if h.hashed != "" {
		return h.hashed
	}
	is := []any{h.Event, h.Matcher.Text, h.Type, h.Observe, h.Spec}
	if h.If != nil {
		is = append(is, "if", h.If.Text)
	}
	if r := h.Spec.Rule; r != nil {
		is = append(is, string(rule.Flatten([]rule.Rule{r.Match})))
	}
	b, _ := json.Marshal(is) // texts and lists
	h.hashed = trust.Sum(b)
	return h.hashed
}

// Merge returns the hooks of several files in the order in which they run, identical ones once at their first
// place. There the later file's settings count: a project cannot weaken a global hook by repeating it.
func Merge(files ...[]*Hook) []*Hook {
	out := []*Hook{}
	at := map[string]int{}
	for _, hooks := range files {
		for _, h := range hooks {
			key := h.key()
			i, twice := at[key]
			switch {
			case !twice:
				at[key] = len(out)
				out = append(out, h)
			case h.Level != out[i].Level:
				out[i] = h
			}
		}
	}
	return out
}

// subject returns the text of a payload that its event's matchers examine.
func subject(k event.Kind, payload []byte) string {
	info, _ := event.Lookup(k)
	if info.Matcher == "" {
		return ""
	}
	v := gjson.GetBytes(payload, info.Matcher).String()
	if k == event.FileChanged {
		return path.Base(strings.ReplaceAll(v, `\`, "/"))
	}
	return v
}
