package config

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/packs"
	"beckon/event/policy/rule"
	"beckon/event/policy/wire"
)

// Defaults of a policy server, from protocol 1.0.
const (
	serverTimeout    = 5 * time.Second
	serverRetries    = 3
	serverRetryDelay = time.Second
)

// serverEvents are the events of protocol 1.0, which a server gets by default.
var serverEvents = []event.Kind{event.PreToolUse, event.PostToolUse, event.UserPromptSubmit, event.Notification,
	event.Stop, event.SubagentStop, event.PreCompact}

// reading is one hook being parsed.
type reading struct {
	*decoder
	h      *Hook
	n      node
	set    map[string]node // the members present
	unsaid bool            // a server for many events, each with its own rules
	except *rule.Rule      // the exception being parsed
}

// hook parses one handler of a group.
func (d *decoder) hook(base Hook, n node) {
	members, ok := n.object()
	if !ok {
		return
	}
	base.Path, base.Line = n.path, n.line()
	r := d.reading(&base, n, members)
	if !r.kind() {
		return
	}
	r.defaults()
	for _, m := range members {
		if read := find(base.Type, m.name); read != nil {
			read.read(r, m.value)
		} else {
			m.unknown(namesOf(hookMembers, base.Type))
		}
	}
	r.check()
	d.hooks = append(d.hooks, r.h)
}

func (d *decoder) reading(h *Hook, n node, members []field) *reading {
	r := &reading{decoder: d, h: h, n: n, set: map[string]node{}}
	for _, m := range members {
		r.set[m.name] = m.value
	}
	return r
}

// defaults returns a hook's default settings.
func (r *reading) defaults() {
	switch s := &r.h.Spec; r.h.Type {
	case Command:
		s.Convention = r.convention
	case Server:
		r.h.Timeout, s.Retries, s.RetryDelay = serverTimeout, serverRetries, serverRetryDelay
	case BuiltIn:
		s.Rule = &Rule{}
		if wire.RulesOf(r.h.Event).Tool { // the rule decides: a command that reads a file is a Read, too
			r.match().Tools = []rule.Matcher{r.h.Matcher}
		}
	}
}

// fileConvention parses the "convention" of a whole file.
func (r *reading) fileConvention(v node) {
	if s, ok := v.oneOf(Client, Simple); ok {
		r.convention = s
	}
}

// observe parses "observe"; in a file that observes every hook does.
func (r *reading) observe(v node) {
	yes, _ := v.truth()
	r.h.Observe = r.h.Observe || yes
}

// foreignTypes are the client's types that only the client can run.
var foreignTypes = map[string]string{
	"mcp_tool": "a command or a server can do the same",
	"agent":    "a prompt, or a command that runs an agent, can do the same",
}

func (r *reading) kind() bool {
	v, ok := r.set["type"]
	if !ok {
		r.n.fail("type is one of command, server, http, prompt, rule", "has no type")
		return false
	}
	s, ok := v.text()
	if !ok {
		return false
	}
	if hint := foreignTypes[s]; hint != "" {
		v.fail(hint, "type %q is the client's own", s)
		return false
	}
	s, ok = v.oneOf(string(Command), string(Server), string(HTTP), string(Prompt), string(BuiltIn))
	r.h.Type = Type(s)
	return ok
}

// match returns the rule being parsed, or its exception.
func (r *reading) match() *rule.Rule {
	if r.except != nil {
		return r.except
	}
	return &r.h.Spec.Rule.Match
}

func (r *reading) decision(v node) {
	s, _ := v.oneOf("deny", "ask", "warn", "allow")
	r.h.Spec.Rule.Decision = wire.Decision(s)
	r.match().Allow = s == "allow"
	c := wire.RulesOf(r.h.Event)
	switch wire.Decision(s) {
	case wire.Deny:
		if c.Refuse == wire.NoWay {
			v.fail("", "%s cannot be refused", r.h.Event)
		}
	case wire.Ask:
		if !c.Ask {
			v.fail("", "at %s the user cannot be asked", r.h.Event)
		}
	case wire.Warn:
		if !c.Context {
			v.fail("", "%s has no way to say anything to the agent", r.h.Event)
		}
	case wire.Allow:
		r.mayApprove(v, "to let it pass, say nothing")
	}
}

// mayApprove reports an error for an approval at an event that cannot be approved.
func (r *reading) mayApprove(v node, advice string) {
	switch {
	case !wire.RulesOf(r.h.Event).Allow && !r.unsaid:
		v.fail(advice, "%s needs no approval", r.h.Event)
	case r.level == Project:
		v.fail("a project may forbid and ask, not approve", "a project's policy cannot allow")
	}
}

func (r *reading) grant(v node) {
	if r.h.Grant, _ = v.truth(); r.h.Grant {
		r.mayApprove(v, "")
	}
}

func (r *reading) tool(v node) {
	if r.isTool(v) {
		r.match().Tools = append(r.match().Tools, r.matcher(r.h.Event, v))
	}
}

func (r *reading) isTool(v node) bool {
	if !wire.RulesOf(r.h.Event).Tool {
		v.fail("", "%s is not a tool event", r.h.Event)
		return false
	}
	return true
}

func (r *reading) toolOnly(v node) []string {
	if !r.isTool(v) {
		return nil
	}
	return v.texts()
}

// unless parses the exception of a rule.
func (r *reading) unless(v node) {
	members, ok := v.object()
	if !ok {
		return
	}
	r.except = &rule.Rule{}
	for _, m := range members {
		if i := slices.IndexFunc(conditionMembers, func(c member) bool { return c.name == m.name }); i >= 0 {
			conditionMembers[i].read(r, m.value)
		} else {
			m.unknown(namesOf(conditionMembers, BuiltIn))
		}
	}
	except := &r.except.Conditions
	r.except = nil
	r.match().Unless = except
}

func (r *reading) unsure(v node) {
	s, _ := v.oneOf("ask", "deny", "pass")
	switch r.h.Spec.Rule.Unsure = wire.Decision(s); {
	case s == "pass":
		r.h.Spec.Rule.Unsure = wire.Continue
	case s == "ask" && !wire.RulesOf(r.h.Event).Ask:
		v.fail("", "at %s the user cannot be asked", r.h.Event)
	}
}

func (r *reading) id(v node) {
	s, ok := v.filled()
	if !ok {
		return
	}
	bad := strings.IndexFunc(s, func(c rune) bool {
		return c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
	if bad >= 0 || len(s) > 64 {
		v.fail("letters, digits, - _ and . ; at most 64", "no id: %q", s)
		return
	}
	if line, ok := r.named[s]; ok {
		v.fail("", "id %q is already on line %d", s, line)
		return
	}
	if r.named == nil {
		r.named = map[string]int{}
	}
	r.named[s] = v.line()
	r.h.ID = s
}

func (r *reading) url(v node) {
	s, ok := v.filled()
	if !ok {
		return
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		v.fail("like http://localhost:8080/hook", "no address: %q", s)
		return
	}
	r.h.Spec.URL = s
}

func (r *reading) failClosed(v node, closed bool) {
	if closed && !wire.RulesOf(r.h.Event).Closable() && !r.unsaid {
		v.fail("", "%s cannot be refused for a handler's failure", r.h.Event)
		return
	}
	r.h.FailClosed = r.h.FailClosed || closed
}

// check checks that the members of a hook fit together and its type has all it needs.
func (r *reading) check() {
	h := r.h
	for _, key := range needs[h.Type] {
		if _, there := r.set[key]; !there {
			r.n.fail("", "a %s needs %q", h.Type, key)
		}
	}
	switch h.Type {
	case Prompt:
		if wire.RulesOf(h.Event).Refuse == wire.NoWay && !h.Observe {
			r.n.fail("", "%s cannot be refused, so a model has nothing to judge", h.Event)
		}
	case BuiltIn:
		rule := h.Spec.Rule
		if _, there := r.set["reason"]; !there && rule.Decision != wire.Allow {
			r.n.fail("", "a rule needs %q", "reason")
		}
		h.Grant = rule.Decision == wire.Allow
		asks := wire.RulesOf(h.Event)
		rule.settle(asks.Ask || asks.Refuse == wire.ByRequest)
		if r.again {
			return
		}
		for _, p := range rule.Match.Check() {
			if at, there := r.set[strings.TrimPrefix(p.Field, "unless.")]; !p.Doubt && there {
				at.fail("", "%s", p.What)
			} else if !p.Doubt {
				r.n.fail("", "%s: %s", p.Field, p.What)
			}
		}
	}
}

// server parses one entry of "servers", or a file that is itself one server: a hook for each
// of its events.
func (d *decoder) server(n node, members []field, known []string) {
	base := d.base()
	base.Type, base.Event, base.Path, base.Line = Server, event.PreToolUse, n.path, n.line()
	r := d.reading(&base, n, members)
	r.unsaid = true
	r.defaults()
	events := serverEvents
	var matcher *node
	for _, m := range members {
		switch read := find(Server, m.name); {
		case !slices.Contains(known, m.name):
			m.unknown(known)
		case m.name == "events":
			events = d.eventList(m.value)
		case m.name == "matcher":
			matcher = &m.value
		default:
			read.read(r, m.value)
		}
	}
	r.check()
	for _, kind := range events {
		h, c := base, wire.RulesOf(kind)
		h.Event = kind
		h.FailClosed = base.FailClosed && c.Closable()
		h.Grant = base.Grant && c.Allow
		if matcher != nil && c.Tool {
			h.Matcher = d.matcher(kind, *matcher)
		}
		d.hooks = append(d.hooks, &h)
	}
}

func (d *decoder) eventList(n node) []event.Kind {
	out := []event.Kind{}
	for _, item := range n.items() {
		name, ok := item.text()
		if !ok {
			continue
		}
		if k, ok := d.event(item, name); ok && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// packs parses the names of packs: each rule of one is a hook of PreToolUse.
func (d *decoder) packs(n node) {
	for _, item := range n.items() {
		name, ok := item.text()
		if !ok {
			continue
		}
		rules, ok := packs.Load(name)
		if !ok {
			item.fail(suggest(name, packs.Names()), "no pack %q", name)
			continue
		}
		for _, p := range rules {
			rule := &Rule{Decision: wire.Decision(p.Decision), Reason: strings.TrimSpace(p.Reason + " " + p.Instead), Match: p.Match()}
			rule.settle(true)
			if rule.Decision == wire.Allow && d.level == Project {
				item.fail("", "a project's policy cannot allow, so it has no use for the pack %q", name)
				break
			}
			h := d.base()
			h.Grant = rule.Decision == wire.Allow
			h.ID, h.Event, h.Type, h.Path, h.Line, h.Spec.Rule = p.ID, event.PreToolUse, BuiltIn, item.path, item.line(), rule
			d.hooks = append(d.hooks, &h)
		}
	}
}
