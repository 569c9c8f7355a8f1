package config

import (
	"cmp"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/packs"
	"beckon/event/policy/rule"
	"beckon/event/policy/wire"
	"beckon/event/typed"
)

// Defaults of a policy server, from protocol 1.0.
const (
	serverTimeout    = 5 * time.Second
	serverRetries    = 3
	serverRetryDelay = time.Second
)

// serverEvents are the events of protocol 1.0, which a server gets by default.
var serverEvents = []event.Kind{
	event.PreToolUse,
	event.PostToolUse,
	event.UserPromptSubmit,
	event.Notification,
	event.Stop,
	event.SubagentStop,
	event.PreCompact,
}

// Decode parses a policy file. It is strict: every unknown key, wrong type, implausible value,
// and decision that the event cannot express is a Problem of the error, which is a Problems.
func Decode(file string, level Level, data []byte) (*Config, error) {
	return decode(file, level, data, false)
}

// DecodeAgain is Decode for a text that Decode has accepted before: it does not check the
// patterns of rules, which is most of the work.
func DecodeAgain(file string, level Level, data []byte) (*Config, error) {
	return decode(file, level, data, true)
}

func decode(name string, level Level, data []byte, again bool) (*Config, error) {
	d := &decoder{again: again, document: document{file: name}, level: level}
	d.read(data, &d.top)
	d.all()
	d.ids()
	if err := d.err(); err != nil {
		return nil, err
	}
	d.mark()
	return &Config{File: name, Level: level, Hooks: d.hooks}, nil
}

// mark tells hooks of their members that are gone, and the first hook of those of the file. A rule
// that allows would allow more without its condition, so it is off.
func (d *decoder) mark() {
	for _, at := range d.ignored {
		i := strings.LastIndexByte(at, '.')
		of := max(0, slices.IndexFunc(d.hooks, func(h *Hook) bool { return h.Path == at[:i] }))
		if len(d.hooks) > 0 {
			h := d.hooks[of]
			h.Gone = append(h.Gone, at[i+1:])
			h.Enabled = h.Enabled && (h.Path != at[:i] || h.Spec.Rule == nil || !h.Spec.Rule.Match.Allow)
		}
	}
}

// decoder is the state of Decode.
type decoder struct {
	document
	level Level
	again bool // the patterns of rules are known to be valid
	top   file
	hooks []*Hook
}

// all converts the whole file: its hooks and packs in the order of the file, then its servers.
func (d *decoder) all() {
	for name, groups := range d.top.Hooks {
		at := "$.hooks" + pathOf(name)
		if kind, ok := d.event(name, at); ok {
			for i, g := range groups {
				d.group(kind, g, fmt.Sprintf("%s[%d]", at, i))
			}
		}
	}
	d.list("deny", d.top.Deny)
	d.list("ask", d.top.Ask)
	d.list("allow", d.top.Allow)
	for i, name := range d.top.Packs {
		d.pack(name, fmt.Sprintf("$.packs[%d]", i))
	}
	slices.SortStableFunc(d.hooks, func(a, b *Hook) int { return d.places[a.Path] - d.places[b.Path] })
	for i, s := range d.top.Servers {
		d.server(s, fmt.Sprintf("$.servers[%d]", i))
	}
	for name := range fieldsOf(reflect.TypeFor[handler](), "file") {
		if d.has("$." + name) { // the file is itself one server
			d.server(d.top.handler, "$")
			break
		}
	}
}

// event parses an event's name. An event that the installer never registers is an error, since
// its hooks would never run.
func (d *decoder) event(name, at string) (event.Kind, bool) {
	k := event.Kind(name)
	if _, ok := event.Lookup(k); !ok {
		all := make([]string, len(event.Kinds))
		for i, info := range event.Kinds {
			all[i] = string(info.Kind)
		}
		d.fail(at, suggest(name, all), "unknown event %q", name)
		return k, false
	}
	if why := wire.RulesOf(k).Never; why != "" {
		d.fail(at, "beckon never registers this event", "no hook may answer %s: %s", name, why)
		return k, false
	}
	return k, true
}

// base returns a hook with the file's own settings.
func (d *decoder) base(k event.Kind, t Type, at string) *Hook {
	return &Hook{
		Event:   k,
		Type:    t,
		Enabled: true,
		Observe: d.top.Observe,
		Once:    d.top.AllowOnce,
		Level:   d.level,
		File:    d.file,
		Line:    d.line(at),
		Path:    at,
	}
}

// list adds the rules of a list in the client's own words: each is a hook of PreToolUse.
func (d *decoder) list(name string, entries []text) {
	decision := wire.Decision(name)
	if len(entries) > 0 && decision == wire.Allow {
		d.mayApprove("$.allow", event.PreToolUse, "")
	}
	verb := map[string]string{"deny": "denies", "ask": "asks about", "allow": "allows"}[name]
	for i, entry := range entries {
		h := d.base(event.PreToolUse, BuiltIn, fmt.Sprintf("$.%s[%d]", name, i))
		r, err := rule.OfClient(string(entry), decision == wire.Allow)
		if err != nil {
			d.fail(h.Path, "like Bash(git push *), Read(./.env), mcp__server__tool or WebFetch(domain:NAME)",
				"%q %v", entry, err)
		}
		reason := "The policy " + verb + " " + string(entry) + "."
		h.Spec.Rule = &Rule{Decision: decision, Reason: reason, Match: r}
		h.Grant = r.Allow
		d.hooks = append(d.hooks, h)
	}
}

// pack adds the rules of a pack: each is a hook of PreToolUse.
func (d *decoder) pack(name, at string) {
	rules, ok := packs.Load(name)
	if !ok {
		d.fail(at, suggest(name, packs.Names()), "no pack %q", name)
		return
	}
	for _, p := range rules {
		h := d.base(event.PreToolUse, BuiltIn, at)
		reason := strings.TrimSpace(p.Reason + " " + p.Instead)
		h.ID, h.hashed = p.ID, fmt.Sprint(p.ID, h.Observe)
		h.Spec.Rule = &Rule{Decision: wire.Decision(p.Decision), Reason: reason, Match: p.Match()}
		if h.Grant = h.Spec.Rule.Decision == wire.Allow; h.Grant && d.level == Project {
			d.fail(at, "", "a project's policy cannot allow, so it has no use for the pack %q", name)
			return
		}
		d.hooks = append(d.hooks, h)
	}
}

func (d *decoder) group(k event.Kind, g group, at string) {
	matcher := d.matcher(k, g.Matcher, at+".matcher")
	permission := d.permission(k, g.If, at+".if")
	if !d.has(at+".hooks") && !d.failed(at) {
		d.fail(at, "", "has no hooks")
	}
	for i, x := range g.Hooks {
		at := fmt.Sprintf("%s.hooks[%d]", at, i)
		h := d.base(k, Type(x.Type), at)
		h.Matcher, h.If = matcher, permission
		if !d.failed(at) {
			d.hook(h, x)
			d.hooks = append(d.hooks, h)
		}
	}
}

// server adds one entry of "servers", or a file that is itself one server: a hook for each of its
// events.
func (d *decoder) server(x handler, at string) {
	if d.failed(at) {
		return
	}
	kinds := serverEvents
	if d.has(at + ".events") {
		kinds = nil
		for i, name := range x.Events {
			if k, ok := d.event(name, fmt.Sprintf("%s.events[%d]", at, i)); ok {
				kinds = append(kinds, k)
			}
		}
		slices.Sort(kinds)
	}
	base := d.base(event.PreToolUse, Server, at)
	d.hook(base, x)
	for _, k := range slices.Compact(slices.Clone(kinds)) {
		h, can := *base, wire.RulesOf(k)
		h.Event = k
		h.FailClosed = base.FailClosed && can.Closable()
		h.Grant = base.Grant && can.Allow
		if can.Tool {
			h.Matcher = d.matcher(k, x.Matcher, at+".matcher")
		}
		d.hooks = append(d.hooks, &h)
	}
}

func (d *decoder) matcher(k event.Kind, s, at string) rule.Matcher {
	m, err := rule.NewMatcher(k, s)
	info, _ := event.Lookup(k)
	switch {
	case err != nil && info.Matcher == "":
		d.fail(at, "leave the matcher out", "%s has nothing to match; the client would ignore %q", k, s)
	case err != nil:
		d.fail(at, "matchers are lists of names, or regular expressions without lookahead and back references",
			"no expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	case m.Names() != nil && len(m.Names()) == 0:
		d.fail(at, "", "matches nothing")
	}
	return m
}

func (d *decoder) permission(k event.Kind, s text, at string) *rule.Permission {
	if s == "" {
		return nil
	}
	p, err := rule.NewPermission(string(s))
	switch {
	case !wire.RulesOf(k).Tool:
		d.fail(at, "the client never runs such a hook", "%s is not a tool event, so \"if\" cannot hold", k)
	case err != nil:
		d.fail(at, "like Bash(git push *) or Edit(src/**)", "%q %v", s, err)
	}
	return p
}

// idBytes are what an id is made of.
const idBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// hook converts what was written into h.
func (d *decoder) hook(h *Hook, x handler) {
	at := h.Path
	if name := needs[h.Type]; !d.has(at + "." + name) {
		d.fail(at, "", "a %s needs %q", h.Type, name)
	}
	if h.ID = string(x.ID); strings.Trim(h.ID, idBytes) != "" || len(h.ID) > 64 {
		d.fail(at+".id", "letters, digits, - _ and . ; at most 64", "no id: %q", h.ID)
	}
	h.Observe = h.Observe || x.Observe
	h.Enabled = x.Enabled == nil || *x.Enabled
	if x.If != "" {
		h.If = d.permission(h.Event, x.If, at+".if")
	}
	if h.Type == BuiltIn {
		d.rule(h, x)
		return
	}
	can := wire.RulesOf(h.Event)
	if h.Type == Prompt && can.Refuse == wire.NoWay && !h.Observe {
		d.fail(at, "", "%s cannot be refused, so a model has nothing to judge", h.Event)
	}
	if h.Grant = x.Grant; h.Grant {
		d.mayApprove(at+".grant", h.Event, "")
	}
	h.Timeout = d.timeout(x, at)
	d.failClosed(h, ".fail", x.Fail == "closed")
	d.failClosed(h, ".onFailure", x.OnFailure == "block")
	d.failClosed(h, ".fail_open", x.FailOpen != nil && !*x.FailOpen)
	h.Spec = Spec{
		Command:        string(x.Command),
		Args:           x.Args,
		Shell:          x.Shell,
		URL:            d.url(x.URL, at+".url") + d.url(x.ServerURL, at+".server_url"),
		Headers:        x.Headers,
		AllowedEnvVars: x.AllowedEnvVars,
		Prompt:         string(x.Prompt),
		Model:          string(x.Model),
	}
	switch h.Type {
	case Command:
		h.Spec.Convention = cmp.Or(d.top.Convention, Client)
	case Server:
		h.Timeout = cmp.Or(h.Timeout, serverTimeout)
		h.Spec.Retries, h.Spec.RetryDelay = serverRetries, serverRetryDelay
		if x.Retries != nil {
			h.Spec.Retries = int(*x.Retries)
		}
		if x.RetryDelay != nil {
			h.Spec.RetryDelay = time.Duration(*x.RetryDelay) * time.Millisecond
		}
	}
}

func (d *decoder) failClosed(h *Hook, name string, closed bool) {
	h.FailClosed = h.FailClosed || closed
	if closed && !wire.RulesOf(h.Event).Closable() {
		d.fail(h.Path+name, "", "%s cannot be refused for a handler's failure", h.Event)
	}
}

func (d *decoder) url(s text, at string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(string(s))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		d.fail(at, "like http://localhost:8080/hook", "no address: %q", s)
	}
	return string(s)
}

// mayApprove reports an error for an approval at an event that cannot be approved.
func (d *decoder) mayApprove(at string, k event.Kind, advice string) {
	switch {
	case !wire.RulesOf(k).Allow:
		d.fail(at, advice, "%s needs no approval", k)
	case d.level == Project:
		d.fail(at, "a project may forbid and ask, not approve", "a project's policy cannot allow")
	}
}

// Limits on timeouts.
const (
	// suspiciousSeconds: this many seconds are probably meant as milliseconds. The client's
	// own default is 600.
	suspiciousSeconds = 1000
	// suspiciousMillis: no process starts in so few milliseconds, so seconds are meant.
	suspiciousMillis = 20
)

// timeout converts "timeout" and "timeout_ms": seconds, as in the client; milliseconds in a file
// of the simple convention; or a text with its unit, "500ms".
func (d *decoder) timeout(x handler, at string) time.Duration {
	written, unit, name := x.Timeout, time.Second, ".timeout"
	advice := `timeout is in seconds; write "timeout_ms", or "convention": "simple" at the top of the file`
	switch {
	case x.Timeout != nil && x.TimeoutMS != nil:
		d.fail(at+".timeout", "", "timeout and timeout_ms are both set")
		return 0
	case x.TimeoutMS != nil:
		written, unit, name = *x.TimeoutMS, time.Millisecond, ".timeout_ms"
		advice = "timeout_ms is in milliseconds"
	case d.top.Convention == Simple:
		unit = time.Millisecond
		advice = `in a file of the simple convention timeout is in milliseconds; "timeout": "5s" has its unit`
	}
	switch v := written.(type) {
	case string:
		t, err := typed.Duration(v)
		if err != nil || t <= 0 {
			d.fail(at+name, `like "5s" or "500ms"`, "no time: %q", v)
		}
		return t
	case float64:
		switch {
		case v <= 0:
			d.fail(at+name, "leave it out for the time that the event has", "is %v", v)
		case unit == time.Second && v >= suspiciousSeconds:
			d.fail(at+name, advice, "%v seconds can only be meant as milliseconds", v)
		case unit == time.Millisecond && v < suspiciousMillis:
			d.fail(at+name, advice, "%v milliseconds are too few for any handler", v)
		}
		return time.Duration(v * float64(unit))
	}
	return 0
}

// ids gives the hooks without an id one that is the same every time, and makes identical hooks
// one. No two may have the same id, except for those of one server.
func (d *decoder) ids() {
	named := map[string]string{}
	seen := map[string]*Hook{}
	d.hooks = slices.DeleteFunc(d.hooks, func(h *Hook) bool {
		if h.ID == "" {
			h.ID = string(h.Type) + "-" + h.key()[:8]
		} else if first := named[h.ID]; first == "" {
			named[h.ID] = h.Path
		} else if first != h.Path && d.has(h.Path+".id") {
			d.fail(h.Path+".id", "", "id %q is already on line %d", h.ID, d.line(first+".id"))
		}
		first := seen[h.key()]
		if first == nil {
			seen[h.key()] = h
			return false
		}
		if !first.Enabled {
			*first = *h
		}
		return true
	})
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
	h.Grant, h.Spec.Rule = m.Allow, &Rule{
		Decision: wire.Decision(x.Decision),
		Reason:   string(x.Reason),
		Match:    m,
		Examples: slices.Concat(x.Match, x.NotMatch),
	}
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
}
