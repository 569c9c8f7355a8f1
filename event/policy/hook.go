package policy

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/handler"
)

// Defaults of a policy server (seed 004, row D3).
const (
	serverTimeout    = 5 * time.Second
	serverRetries    = 3
	serverRetryDelay = time.Second
)

// serverEvents are the events of protocol 1.0 (row D1), which a server gets
// when it does not say which it wants.
var serverEvents = []event.Kind{event.PreToolUse, event.PostToolUse, event.UserPromptSubmit, event.Notification,
	event.Stop, event.SubagentStop, event.PreCompact}

var serverKeys = []string{"server_url", "timeout_ms", "retry_count", "retry_delay_ms", "fail_open", "events", "headers"}

// reading is one hook under reading.
type reading struct {
	*decoder
	h   *Hook
	n   node
	set map[string]node // the members that are there
}

// hook reads one handler of a group.
func (d *decoder) hook(base Hook, n node) {
	members, ok := n.object()
	if !ok {
		return
	}
	base.Path, base.Line = n.path, n.line()
	r := reading{decoder: d, h: &base, n: n, set: map[string]node{}}
	for _, m := range members {
		r.set[m.name] = m.value
	}
	if !r.kind() {
		return
	}
	readers := r.common()
	r.own(readers)
	n.fields(readers)
	r.check()
	d.hooks = append(d.hooks, r.h)
}

// observe reads "observe"; a file that observes has no hook that does not.
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
	s, ok = v.oneOf(string(TypeCommand), string(TypeServer), string(TypeHTTP), string(TypePrompt), string(TypeRule))
	r.h.Type = Type(s)
	return ok
}

// common are the keys of every type.
func (r *reading) common() map[string]func(node) {
	h := r.h
	return map[string]func(node){
		"type":          func(node) {},
		"statusMessage": func(v node) { v.text() },
		"id":            r.id,
		"enabled":       func(v node) { h.Enabled, _ = v.truth() },
		"observe":       r.observe,
		"if":            func(v node) { h.If = r.permission(h.Event, v) },
	}
}

// own adds the keys of the hook's type.
func (r *reading) own(keys map[string]func(node)) {
	h, s := r.h, &r.h.Spec
	if h.Type == TypeRule {
		s.Rule = &Rule{home: r.home}
		r.ruleKeys(keys, s.Rule)
		return
	}
	keys["timeout"], keys["timeout_ms"] = r.timeout, r.timeoutMS
	keys["fail"], keys["onFailure"] = r.fail, r.onFailure
	if rulesOf(h.Event).loops {
		keys["stop_blocks"] = func(v node) { h.StopBlocks, _ = v.count(0, 7) }
	}
	switch h.Type {
	case TypeCommand:
		s.Convention = r.convention
		keys["command"] = func(v node) { s.Command, _ = v.filled() }
		keys["args"] = func(v node) { s.Args = v.values() }
		keys["shell"] = func(v node) { s.Shell, _ = v.oneOf("bash", "powershell") }
	case TypeServer:
		r.serverDefaults()
		r.serverKeys(keys)
	case TypeHTTP:
		keys["url"] = r.url
		keys["headers"] = func(v node) { s.Headers = v.strings() }
		keys["allowedEnvVars"] = func(v node) { s.AllowedEnvVars = v.texts() }
	case TypePrompt:
		keys["prompt"] = func(v node) { s.Prompt, _ = v.filled() }
		keys["model"] = func(v node) { s.Model, _ = v.filled() }
		keys["grant"] = r.grant
	}
}

func (r *reading) serverDefaults() {
	r.h.Timeout, r.h.Spec.Retries, r.h.Spec.RetryDelay = serverTimeout, serverRetries, serverRetryDelay
}

// serverKeys are seed 004's, and what a server shares with the other types.
func (r *reading) serverKeys(keys map[string]func(node)) {
	s := &r.h.Spec
	keys["server_url"] = r.url
	keys["retry_count"] = func(v node) { s.Retries, _ = v.count(0, 20) }
	keys["retry_delay_ms"] = func(v node) {
		ms, _ := v.count(0, int(Deadline/time.Millisecond))
		s.RetryDelay = time.Duration(ms) * time.Millisecond
	}
	keys["fail_open"] = r.failOpen
	keys["headers"] = func(v node) { s.Headers = v.strings() }
	keys["grant"] = r.grant
}

func (r *reading) ruleKeys(keys map[string]func(node), rule *Rule) {
	keys["decision"] = func(v node) {
		s, _ := v.oneOf("allow", "deny", "ask")
		rule.Decision = handler.Decision(s)
		r.expressible(v, rule.Decision)
	}
	keys["reason"] = func(v node) { rule.Reason, _ = v.filled() }
	keys["tool"] = func(v node) {
		if !rulesOf(r.h.Event).tool {
			v.fail("", "%s is no tool event", r.h.Event)
			return
		}
		rule.Tools = r.matcher(r.h.Event, v)
	}
	keys["paths"] = func(v node) { rule.Paths = r.patterns(v) }
	keys["commands"] = func(v node) { rule.Commands = r.toolOnly(v) }
	keys["words"] = func(v node) { rule.Words = v.texts() }
}

// expressible refuses a decision that the event has no words for.
func (r *reading) expressible(v node, want handler.Decision) {
	c := rulesOf(r.h.Event)
	switch {
	case want == handler.Deny && c.refuse == noRefusal:
		v.fail("", "%s cannot be refused", r.h.Event)
	case want == handler.Ask && !c.ask:
		v.fail("", "at %s the user cannot be asked", r.h.Event)
	case want == handler.Allow && !c.allow:
		v.fail("to let it pass, say nothing", "%s needs no approval", r.h.Event)
	case want == handler.Allow && r.level == Project:
		v.fail("a project may forbid and ask, not approve", "a project's policy cannot allow")
	}
}

func (r *reading) patterns(v node) []string {
	list := r.toolOnly(v)
	for _, p := range list {
		if _, err := newGlob(p, "/", "/"); err != nil {
			v.fail("", "no pattern: %q", p)
		}
	}
	return list
}

func (r *reading) toolOnly(v node) []string {
	if !rulesOf(r.h.Event).tool {
		v.fail("", "%s is no tool event", r.h.Event)
		return nil
	}
	return v.texts()
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

func (r *reading) grant(v node) {
	yes, _ := v.truth()
	switch {
	case !yes:
	case !rulesOf(r.h.Event).allow:
		v.fail("", "%s needs no approval", r.h.Event)
	case r.level == Project:
		v.fail("a project may forbid and ask, not approve", "a project's policy cannot allow")
	}
	r.h.Grant = yes
}

// fail reads "fail": what becomes of the event when the handler does not work.
func (r *reading) fail(v node) {
	s, _ := v.oneOf("open", "closed")
	r.failClosed(v, s == "closed")
}

func (r *reading) onFailure(v node) {
	s, _ := v.oneOf("block", "allow")
	r.failClosed(v, s == "block")
}

func (r *reading) failOpen(v node) {
	open, ok := v.truth()
	r.failClosed(v, ok && !open)
}

func (r *reading) failClosed(v node, closed bool) {
	if closed && !closable(r.h.Event) {
		v.fail("", "%s cannot be refused for a handler's failure", r.h.Event)
		return
	}
	r.h.FailClosed = r.h.FailClosed || closed
}

// closable reports whether a handler's failure may refuse an event of kind k.
// At the end of a turn it would keep the agent going for ever (CONTRACT 1.15).
func closable(k event.Kind) bool {
	c := rulesOf(k)
	return c.refuse != noRefusal && !c.loops && k != event.TaskCompleted && k != event.TeammateIdle
}

// check holds what a hook of its type must have.
func (r *reading) check() {
	h, s := r.h, &r.h.Spec
	need := func(ok bool, key string) {
		if _, there := r.set[key]; !ok && !there {
			r.n.fail("", "a %s needs %q", h.Type, key)
		}
	}
	switch h.Type {
	case TypeCommand:
		need(s.Command != "", "command")
	case TypeServer:
		need(s.URL != "", "server_url")
	case TypeHTTP:
		need(s.URL != "", "url")
	case TypePrompt:
		need(s.Prompt != "", "prompt")
		if rulesOf(h.Event).refuse == noRefusal && !h.Observe {
			r.n.fail("", "%s cannot be refused, so a model has nothing to judge", h.Event)
		}
	case TypeRule:
		need(s.Rule.Decision != "", "decision")
		need(s.Rule.Reason != "" || s.Rule.Decision == handler.Allow, "reason")
		h.Grant = s.Rule.Decision == handler.Allow
	}
}

// server reads one entry of "servers": a hook for each of its events.
func (d *decoder) server(n node) {
	members, ok := n.object()
	if !ok {
		return
	}
	d.expand(n, members, append([]string{"id", "enabled", "observe", "matcher", "grant"}, serverKeys...))
}

// loneServer reads a file that is itself one server (seed 004).
func (d *decoder) loneServer(n node, members []member) {
	members = slices.DeleteFunc(slices.Clone(members), func(m member) bool { return !slices.Contains(serverKeys, m.name) })
	d.expand(n, members, serverKeys)
}

func (d *decoder) expand(n node, members []member, known []string) {
	base := Hook{Type: TypeServer, Enabled: true, StopBlocks: 1, Observe: d.observes, Level: d.level, File: d.file, Path: n.path, Line: n.line(), Event: event.PreToolUse}
	r := reading{decoder: d, h: &base, n: n, set: map[string]node{}}
	events := serverEvents
	var matcher *node
	closed := false
	r.serverDefaults()
	keys := map[string]func(node){
		"id": r.id, "timeout_ms": r.timeoutMS,
		"enabled": func(v node) { base.Enabled, _ = v.truth() },
		"observe": r.observe,
		"events":  func(v node) { events = d.eventList(v) },
		"matcher": func(v node) { matcher = &v },
	}
	r.serverKeys(keys)
	keys["fail_open"] = func(v node) {
		open, ok := v.truth()
		closed = ok && !open
	}
	for _, m := range members {
		r.set[m.name] = m.value
		if read := keys[m.name]; read != nil && slices.Contains(known, m.name) {
			read(m.value)
		} else {
			m.value.fail(suggest(m.name, known), "unknown key %q", m.name)
		}
	}
	r.check()
	for _, kind := range events {
		h := base
		h.Event = kind
		h.FailClosed = closed && closable(kind)
		h.Grant = base.Grant && rulesOf(kind).allow
		if matcher != nil && rulesOf(kind).tool {
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
	slices.SortFunc(out, func(a, b event.Kind) int { return cmp.Compare(a, b) })
	return out
}
