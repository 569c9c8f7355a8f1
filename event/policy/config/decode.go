package config

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/rule"
	"beckon/event/policy/wire"
	"beckon/event/typed"

	"github.com/tailscale/hujson"
	"github.com/tidwall/gjson"
)

// Defaults of a policy server, from protocol 1.0.
const (
	serverTimeout    = 5 * time.Second
	serverRetries    = 3
	serverRetryDelay = 1000 // ms
)

// Decode parses a policy file strictly into its hooks, servers after the others; nil for one with an error, which is a
// Problems. The patterns and examples of a text that was accepted before are not checked again.
func Decode(file string, level Level, data []byte, accepted bool) ([]*Hook, error) {
	d := &decoder{accepted: accepted, document: document{file: file}, ids: map[string]int{}}
	d.shared.File, d.shared.Level = file, level
	if top := d.read(data); top != nil {
		d.all(top)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	for i, h := range d.hooks {
		if h.ID == "" {
			h.ID = string(h.Type) + "-" + h.key()[:8]
		}
		if i == 0 {
			h.Gone = append(h.Gone, d.ignored...)
		}
	}
	return Merge(d.hooks), nil
}

// decoder is the state of Decode.
type decoder struct {
	document
	shared     Hook // what all hooks of the file have
	accepted   bool // the patterns of rules are known to be valid
	convention string
	hooks      []*Hook
	ids        map[string]int // those that are written, with their lines
	ignored    []string       // members in gone that are no hook's
}

// end ends an object that is no hook.
func (d *decoder) end(o *object) { d.ignored = append(d.ignored, o.end()...) }

// all converts the whole file: its hooks and packs in the order of the file, then its servers.
func (d *decoder) all(top *object) {
	top.word("$schema")
	d.convention = cmp.Or(top.text("convention", Client, Simple), Client)
	d.shared.Observe, d.shared.Once = top.flag("observe", false), top.flag("allow_once", false)
	for _, name := range top.names {
		switch name {
		case "hooks":
			if m, ok := top.get(name, "{"); ok {
				events := d.object(m)
				for _, name := range events.names {
					k, known := d.event(name, events.at(name))
					for _, g := range events.objects(name) {
						if known {
							d.group(k, g)
						}
					}
				}
			}
		case "deny", "ask", "allow":
			d.list(name, top)
		case "packs":
			for _, m := range top.list(name, "[", `"`) {
				d.pack(m.text(), m.place)
			}
		}
	}
	for _, o := range top.objects("servers") {
		d.server(o)
	}
	if top.has("server_url") { // the file is itself one server
		d.server(top)
		return
	}
	top.known = append(top.known, "hooks", "deny", "ask", "allow", "packs")
	d.end(top)
}

// event parses the name of an event that the installer registers.
func (d *decoder) event(name string, at place) (k event.Kind, ok bool) {
	var all []string
	for _, info := range event.Kinds {
		all = append(all, string(info.Kind))
	}
	k = event.Kind(name)
	why := wire.RulesOf(k).Never
	switch {
	case !slices.Contains(all, name):
		d.fail(at, suggest(name, all), "unknown event %q", name)
	case why != "":
		d.fail(at, "beckon never registers this event", "no hook may answer %s: %s", name, why)
	default:
		ok = true
	}
	return k, ok
}

// base returns a hook with the file's own settings.
func (d *decoder) base(k event.Kind, t Type, at place) *Hook {
	h := d.shared
	h.Event, h.Type, h.Line, h.Path = k, t, d.line(at), at.path
	return &h
}

// list adds the rules of a list in the client's own words: each is a hook of PreToolUse.
func (d *decoder) list(name string, top *object) {
	decision := wire.Decision(name)
	if decision == wire.Allow {
		d.mayApprove(top.at(name), event.PreToolUse, "")
	}
	verb := map[string]string{"deny": "denies", "ask": "asks about", "allow": "allows"}[name]
	for _, m := range top.list(name, "[", `"`) {
		entry := m.text()
		h := d.base(event.PreToolUse, BuiltIn, m.place)
		r, err := rule.OfClient(entry, decision == wire.Allow)
		if err != nil {
			d.fail(m.place, "like Bash(git push *), Read(./.env), mcp__server__tool or WebFetch(domain:NAME)",
				"%q %v", entry, err)
		}
		h.Spec.Rule = &Rule{Decision: decision, Reason: "The policy " + verb + " " + entry + ".", Match: r}
		h.Grant = r.Allow
		d.hooks = append(d.hooks, h)
	}
}

//go:embed packs/*.json
var packs embed.FS // policies that ship with beckon

// Packs returns the names of all packs, sorted.
func Packs() []string {
	return []string{"cloud", "containers", "database", "filesystem", "git", "packages", "read-only", "secrets"}
}

// pack adds the rules of a pack: each is a hook of PreToolUse.
func (d *decoder) pack(name string, at place) {
	text, err := packs.ReadFile("packs/" + name + ".json")
	if err != nil {
		d.fail(at, suggest(name, Packs()), "no pack %q", name)
		return
	}
	var rules []struct {
		ID, Reason, Tool string
		Decision         wire.Decision
		Match            []string
		rule.Conditions
		Unless *rule.Conditions
	}
	// In half the time of Decode, which a test calls.
	_ = json.Unmarshal([]byte(gjson.GetBytes(text, "hooks.PreToolUse.0.hooks").Raw), &rules)
	for _, r := range rules {
		h := d.base(event.PreToolUse, BuiltIn, at)
		h.ID = name + "/" + r.ID
		h.hashed = fmt.Sprint(h.ID, h.Observe)
		tool, _ := rule.NewMatcher(h.Event, r.Tool)
		m := rule.Rule{Conditions: r.Conditions, Unless: r.Unless, Allow: r.Decision == wire.Allow}
		m.Tools = slices.DeleteFunc([]rule.Matcher{tool}, rule.Matcher.All)
		h.Grant, h.Spec.Rule = m.Allow, &Rule{r.Decision, r.Reason, m, r.Match}
		if h.Grant && d.shared.Level == Project {
			d.fail(at, "", "a project's policy cannot allow, so it has no use for the pack %q", name)
			return
		}
		d.hooks = append(d.hooks, h)
	}
}

func (d *decoder) group(k event.Kind, g *object) {
	matcher, permission := d.matcher(k, g, "matcher"), d.permission(k, g)
	if !g.has("hooks") {
		d.fail(g.place, "", "has no hooks")
	}
	for _, o := range g.objects("hooks") {
		t := o.word("type")
		h := d.base(k, Type(t), o.place)
		if h.Matcher, h.If = matcher, d.permission(k, o); h.If == nil {
			h.If = permission
		}
		o.word("statusMessage")
		switch {
		case needs[h.Type] != "":
			if d.hook(h, o) {
				d.hooks = append(d.hooks, h)
			}
		case foreignTypes[t] != "":
			d.fail(o.at("type"), foreignTypes[t], "type %q is the client's own", t)
		default:
			d.fail(o.at("type"), "type is one of command, server, http, prompt, rule", "has no type, or no such value %q", t)
		}
	}
	d.end(g)
}

// server adds one entry of "servers", or a file that is itself one server: a hook for each of its events.
func (d *decoder) server(o *object) {
	var kinds []event.Kind
	for _, m := range o.list("events", "[", `"`) {
		k, _ := d.event(m.text(), m.place)
		kinds = append(kinds, k)
	}
	if slices.Sort(kinds); !o.has("events") {
		kinds = slices.Sorted(maps.Keys(wire.Promised))
	}
	base := d.base(event.PreToolUse, Server, o.place)
	matcher := d.matcher(base.Event, o, "matcher")
	if !d.hook(base, o) {
		return
	}
	for _, k := range slices.Compact(kinds) {
		h, can := *base, wire.RulesOf(k)
		h.Event = k
		h.FailClosed = base.FailClosed && can.Closable()
		h.Grant = base.Grant && can.Allow
		if can.Tool {
			h.Matcher = matcher
		}
		d.hooks = append(d.hooks, &h)
	}
}

func (d *decoder) matcher(k event.Kind, o *object, name string) rule.Matcher {
	s, at := o.word(name), o.at(name)
	m, err := rule.NewMatcher(k, s)
	info, _ := event.Lookup(k)
	switch {
	case err != nil && info.Matcher == "":
		d.fail(at, "leave the matcher out", "%s has nothing to match; the client would ignore %q", k, s)
	case err != nil:
		d.fail(at, "matchers are lists of names, or regular expressions without lookahead and back references",
			"no expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	case m.Names != nil && len(m.Names) == 0:
		d.fail(at, "", "matches nothing")
	}
	return m
}

func (d *decoder) permission(k event.Kind, o *object) *rule.Permission {
	s, at := o.text("if"), o.at("if")
	if s == "" {
		return nil
	}
	p, err := rule.NewPermission(s)
	switch {
	case !wire.RulesOf(k).Tool:
		d.fail(at, "the client never runs such a hook", "%s is not a tool event, so \"if\" cannot hold", k)
	case err != nil:
		d.fail(at, "like Bash(git push *) or Edit(src/**)", "%q %v", s, err)
	}
	return p
}

// needs is the member that a hook of each type must have.
var needs = map[Type]string{
	Command: "command",
	Server:  "server_url",
	HTTP:    "url",
	Prompt:  "prompt",
	BuiltIn: "decision",
}

// foreignTypes are the client's types that only the client can run.
var foreignTypes = map[string]string{
	"mcp_tool": "a command or a server can do the same",
	"agent":    "a prompt, or a command that runs an agent, can do the same",
}

// wordBytes are what a word is made of: an id has also - and dots.
const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// hook reads what was written into h, and reports whether it is on.
func (d *decoder) hook(h *Hook, o *object) (on bool) {
	if name := needs[h.Type]; !o.has(name) {
		d.fail(o.place, "", "a %s needs %q", h.Type, name)
	}
	d.id(h, o)
	h.Observe, on = o.flag("observe", false) || h.Observe, o.flag("enabled", true)
	if h.Type == BuiltIn {
		d.rule(h, o)
	} else {
		d.started(h, o)
	}
	h.Gone = o.end()
	if len(h.Gone) > 0 && h.Spec.Rule != nil && h.Spec.Rule.Match.Allow {
		h.Observe = true // it would allow more without its condition
	}
	return on
}

// id reads the name of a hook, which no two may have.
func (d *decoder) id(h *Hook, o *object) {
	h.ID = o.text("id")
	if strings.Trim(h.ID, wordBytes+"-.") != "" || len(h.ID) > 64 {
		d.fail(o.at("id"), "letters, digits, - _ and . ; at most 64", "no id: %q", h.ID)
	}
	if line := d.ids[h.ID]; line > 0 {
		d.fail(o.at("id"), "", "id %q is already on line %d", h.ID, line)
	} else if h.ID != "" {
		d.ids[h.ID] = d.line(o.at("id"))
	}
}

// started reads a hook that starts something.
func (d *decoder) started(h *Hook, o *object) {
	h.Timeout = d.timeout(o)
	d.failClosed(h, o, "fail", o.text("fail", "open", "closed") == "closed")
	d.failClosed(h, o, "onFailure", o.text("onFailure", "block", "allow") == "block")
	s := &h.Spec
	if h.Type == Server || h.Type == Prompt {
		if h.Grant = o.flag("grant", false); h.Grant {
			d.mayApprove(o.at("grant"), h.Event, "")
		}
	}
	switch h.Type {
	case Command:
		s.Convention = d.convention
		s.Command, s.Args, s.Shell = o.text("command"), o.texts("args", "["), o.text("shell", "bash", "powershell")
	case HTTP:
		s.URL, s.Headers, s.AllowedEnvVars = d.url(o, "url"), d.headers(o), o.texts("allowedEnvVars", `"[`)
	case Server:
		h.Timeout = cmp.Or(h.Timeout, serverTimeout)
		d.failClosed(h, o, "fail_open", !o.flag("fail_open", true))
		s.URL, s.Headers = d.url(o, "server_url"), d.headers(o)
		s.Retries = int(o.whole("retry_count", 20, serverRetries))
		s.RetryDelay = time.Duration(o.whole("retry_delay_ms", 25_000, serverRetryDelay)) * time.Millisecond
	case Prompt:
		s.Prompt, s.Model = o.text("prompt"), o.text("model")
		if wire.RulesOf(h.Event).Refuse == wire.NoWay && !h.Observe {
			d.fail(o.place, "", "%s cannot be refused, so a model has nothing to judge", h.Event)
		}
	}
}

func (d *decoder) failClosed(h *Hook, o *object, name string, closed bool) {
	h.FailClosed = h.FailClosed || closed
	if closed && !wire.RulesOf(h.Event).Closable() {
		d.fail(o.at(name), "", "%s cannot be refused for a handler's failure", h.Event)
	}
}

func (d *decoder) headers(o *object) map[string]string {
	m, ok := o.get("headers", "{")
	if !ok {
		return nil
	}
	all, list := map[string]string{}, d.object(m)
	for _, name := range list.names {
		all[name] = list.word(name)
	}
	return all
}

func (d *decoder) url(o *object, name string) string {
	s := o.text(name)
	u, err := url.Parse(s)
	if s != "" && (err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https") {
		d.fail(o.at(name), "like http://localhost:8080/hook", "no address: %q", s)
	}
	return s
}

// mayApprove reports an error for an approval at an event that cannot be approved.
func (d *decoder) mayApprove(at place, k event.Kind, advice string) {
	switch {
	case !wire.RulesOf(k).Allow:
		d.fail(at, advice, "%s needs no approval", k)
	case d.shared.Level == Project:
		d.fail(at, "a project may forbid and ask, not approve", "a project's policy cannot allow")
	}
}

// Limits on timeouts.
const (
	suspiciousSeconds = 1000 // are probably meant as milliseconds; the client's own default is 600
	suspiciousMillis  = 20   // no process starts in so few: seconds are meant
	longest           = 1e9  // of either: more does not fit
)

// timeout reads "timeout" or "timeout_ms": seconds, as in the client; milliseconds in a file of the
// simple convention; or a text with its unit, "500ms".
func (d *decoder) timeout(o *object) time.Duration {
	m, ok := o.get("timeout", `"0`)
	ms, inMS := o.get("timeout_ms", "0")
	unit := time.Second
	advice := `timeout is in seconds; write "timeout_ms", or "convention": "simple" at the top of the file`
	switch {
	case ok && inMS:
		d.fail(m.place, "", "timeout and timeout_ms are both set")
	case inMS:
		m, unit, advice = ms, time.Millisecond, "timeout_ms is in milliseconds"
	case !ok:
		return 0
	case d.convention == Simple:
		unit, advice = time.Millisecond, "in a file of the simple convention timeout is in milliseconds"
	}
	if m.v.Kind() == '"' {
		t, err := typed.Duration(m.text())
		if err != nil || t <= 0 {
			d.fail(m.place, `like "5s" or "500ms"`, "no time: %q", m.text())
		}
		return t
	}
	n := m.v.(hujson.Literal).Float()
	switch {
	case n <= 0:
		d.fail(m.place, "leave it out for the time that the event has", "is %v", n)
	case unit == time.Second && n >= suspiciousSeconds:
		d.fail(m.place, advice, "%v seconds can only be meant as milliseconds", n)
	case unit == time.Millisecond && n < suspiciousMillis:
		d.fail(m.place, advice, "%v milliseconds are too few for any handler", n)
	}
	return time.Duration(min(n, longest) * float64(unit))
}

// rule reads the conditions and the decision of a rule.
func (d *decoder) rule(h *Hook, o *object) {
	can := wire.RulesOf(h.Event)
	said, reason := o.text("decision", "deny", "ask", "warn", "allow"), o.text("reason")
	at := o.at("decision")
	switch {
	case said == "deny" && can.Refuse == wire.NoWay:
		d.fail(at, "", "%s cannot be refused", h.Event)
	case said == "ask" && !can.Ask:
		d.fail(at, "", "at %s the user cannot be asked", h.Event)
	case said == "warn" && !can.Context:
		d.fail(at, "", "%s has no way to say anything to the agent", h.Event)
	case said == "allow":
		d.mayApprove(at, h.Event, "to let it pass, say nothing")
	case !o.has("reason"):
		d.fail(o.place, "", "a rule needs %q", "reason")
	}
	m := rule.Rule{Conditions: d.conditions(h, o), Allow: said == "allow"}
	if tool := d.matcher(h.Event, o, "tool"); can.Tool { // the rule decides: a command that reads a file is a Read, too
		m.Tools = slices.DeleteFunc([]rule.Matcher{h.Matcher, tool}, rule.Matcher.All)
	}
	if v, ok := o.get("unless", "{"); ok {
		unless := d.object(v)
		u := d.conditions(h, unless)
		m.Unless = &u
		d.end(unless)
	}
	h.Grant, h.Spec.Rule = m.Allow, &Rule{Decision: wire.Decision(said), Reason: reason, Match: m}
	if o.known = append(o.known, "match", "not_match"); d.accepted {
		return
	}
	d.examples(h, o.list("match", `"[`, `"`), true)
	d.examples(h, o.list("not_match", `"[`, `"`), false)
}

// conditions reads those of a rule, or of its exception.
func (d *decoder) conditions(h *Hook, o *object) rule.Conditions {
	for _, name := range []string{"tool", "commands", "regex", "paths"} {
		if !wire.RulesOf(h.Event).Tool && o.has(name) {
			d.fail(o.at(name), "", "%s is not a tool event", h.Event)
		}
	}
	const want = `"[`
	c := rule.Conditions{
		Commands: o.texts("commands", want),
		Regex:    o.texts("regex", want),
		Paths:    o.texts("paths", want),
		Words:    o.texts("words", want),
	}
	if !d.accepted {
		for _, p := range c.Check() {
			d.fail(o.at(p.Field), "", "%s", p.What)
		}
	}
	return c
}

// examples reports those that a rule does not treat as written.
func (d *decoder) examples(h *Hook, list []member, covered bool) {
	for _, m := range list {
		text := m.text()
		h.Spec.Rule.Examples = append(h.Spec.Rule.Examples, text)
		c := rule.Example(text, wire.RulesOf(h.Event).Tool)
		if covers := h.Applies(c) && h.Spec.Rule.Match.Evaluate(c).Result > rule.No; covers != covered {
			word := map[bool]string{true: "covers", false: "does not cover"}
			d.fail(m.place, "beckon help policy says what an entry covers", "the rule %s %q", word[covers], text)
		}
	}
}
