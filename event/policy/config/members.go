package config

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/duration"
	"beckon/event/policy/packs"
	"beckon/event/policy/wire"
)

// A member is a name that a policy file may contain: where, with what values, what it means,
// and what parses it. The decoder and the schema are both built from these tables, and know no
// other names.
type member struct {
	name   string
	types  []Type // of hooks that have it; nil: all
	schema string // JSON Schema of its value
	doc    string // for editors
	read   func(*reading, node)
}

// The kinds of values.
const (
	anyText = `{"type": "string"}`
	text    = `{"type": "string", "minLength": 1}`
	texts   = `{"oneOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string", "minLength": 1}}]}`
	truth   = `{"type": "boolean"}`
	address = `{"type": "string", "pattern": "^https?://"}`
	textsOf = `{"type": "object", "additionalProperties": {"type": "string"}}`
	millis  = `{"type": "number", "minimum": 20}`
	span    = `{"oneOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": "^[0-9.]+(ns|us|ms|s|m|h)([0-9.]+(ns|us|ms|s|m|h))*$"}]}`
)

// needs are the members that a hook of each type must have.
var needs = map[Type][]string{Command: {"command"}, Server: {"server_url"}, HTTP: {"url"}, Prompt: {"prompt"}, BuiltIn: {"decision"}}

// started are the types of hooks that start a process or request.
var started = []Type{Command, Server, HTTP, Prompt}

// hookMembers are those of one hook.
var hookMembers = slices.Concat([]member{
	{"type", nil, `{"enum": ["command", "server", "http", "prompt", "rule"]}`, "", func(*reading, node) {}},
	{"id", nil, `{"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"}`, "The hook's name; one is made when there is none.", (*reading).id},
	{"enabled", nil, truth, "", func(r *reading, v node) { r.h.Enabled, _ = v.truth() }},
	{"observe", nil, truth, "It runs beside the others, and is traced and not heard.", (*reading).observe},
	{"if", nil, text, "One permission rule, like Bash(git push *); tool events only.", func(r *reading, v node) { r.h.If = r.permission(r.h.Event, v) }},
	{"statusMessage", nil, anyText, "", func(_ *reading, v node) { v.text() }},
	{"timeout", started, span, "Seconds, or milliseconds in a file of the simple convention, or a text with its unit.", (*reading).timeout},
	{"timeout_ms", started, millis, "", func(r *reading, v node) { r.limit(v, time.Millisecond, "timeout_ms is in milliseconds") }},
	{"fail", started, `{"enum": ["open", "closed"]}`, "What becomes of the event when the hook does not work.", func(r *reading, v node) { r.failClosed(v, v.is("closed", "open")) }},
	{"onFailure", started, `{"enum": ["block", "allow"]}`, "As fail.", func(r *reading, v node) { r.failClosed(v, v.is("block", "allow")) }},
	{"stop_blocks", started, `{"type": "integer", "minimum": 0, "maximum": 7}`, "How often in a row it may keep an agent from stopping.", (*reading).stopBlocks},

	{"command", []Type{Command}, text, "A shell's line, or with args a program.", func(r *reading, v node) { r.h.Spec.Command, _ = v.filled() }},
	{"args", []Type{Command}, `{"type": "array", "items": {"type": "string"}}`, "No shell: the program's arguments.", func(r *reading, v node) { r.h.Spec.Args = v.values() }},
	{"shell", []Type{Command}, `{"enum": ["bash", "powershell"]}`, "", func(r *reading, v node) { r.h.Spec.Shell, _ = v.oneOf("bash", "powershell") }},
	{"server_url", []Type{Server}, address, "", (*reading).url},
	{"url", []Type{HTTP}, address, "", (*reading).url},
	{"retry_count", []Type{Server}, `{"type": "integer", "minimum": 0, "maximum": 20, "default": 3}`, "", func(r *reading, v node) { r.h.Spec.Retries, _ = v.count(0, 20) }},
	{"retry_delay_ms", []Type{Server}, `{"type": "integer", "minimum": 0, "maximum": 25000, "default": 1000}`, "", (*reading).retryDelay},
	{"fail_open", []Type{Server}, `{"type": "boolean", "default": true}`, "", func(r *reading, v node) { open, ok := v.truth(); r.failClosed(v, ok && !open) }},
	{"headers", []Type{Server, HTTP}, textsOf, "", func(r *reading, v node) { r.h.Spec.Headers = v.strings() }},
	{"allowedEnvVars", []Type{HTTP}, texts, "Variables that a header may name.", func(r *reading, v node) { r.h.Spec.AllowedEnvVars = v.texts() }},
	{"prompt", []Type{Prompt}, text, "The policy in words, for a model.", func(r *reading, v node) { r.h.Spec.Prompt, _ = v.filled() }},
	{"model", []Type{Prompt}, text, "", func(r *reading, v node) { r.h.Spec.Model, _ = v.filled() }},
	{"grant", []Type{Server, Prompt}, truth, "Its allow skips your own permission prompt.", (*reading).grant},

	{"decision", []Type{BuiltIn}, `{"enum": ["deny", "ask", "warn", "allow"]}`, "warn is a text for the agent; the call runs.", (*reading).decision},
	{"reason", []Type{BuiltIn}, text, "Who is refused reads it.", func(r *reading, v node) { r.h.Spec.Rule.Reason, _ = v.filled() }},
	{"tool", []Type{BuiltIn}, text, "A matcher on the tool's name, beside the group's.", (*reading).tool},
}, conditionMembers, []member{
	{"unless", []Type{BuiltIn}, `{"$ref": "#/$defs/unless"}`, "What the rule does not cover.", (*reading).unless},
	{"exact", []Type{BuiltIn}, truth, "Has no effect any more.", func(_ *reading, v node) { v.truth() }},
	{"unsure", []Type{BuiltIn}, `{"enum": ["ask", "deny", "pass"]}`, "What becomes of a call that the rule may or may not cover.", (*reading).unsure},
	{"branch", []Type{BuiltIn}, texts, "Only on these branches, patterns.", func(r *reading, v node) { r.h.Spec.Rule.Branches = v.texts() }},
	{"repository", []Type{BuiltIn}, texts, "Only in these repositories, patterns on their names.", func(r *reading, v node) { r.h.Spec.Rule.Repositories = v.texts() }},
	{"ci", []Type{BuiltIn}, truth, "Only where CI is set, or only where it is not.", func(r *reading, v node) { ci, _ := v.truth(); r.h.Spec.Rule.CI = &ci }},
})

// conditionMembers are the conditions that a rule and its exception have.
var conditionMembers = []member{
	{"paths", []Type{BuiltIn}, texts, "Patterns of files: a name in any directory, ./x below the project, ~/x, /x.", func(r *reading, v node) { r.match().Paths = r.toolOnly(v) }},
	{"commands", []Type{BuiltIn}, texts, "Commands by their words: a program, its subcommands and flags.", func(r *reading, v node) { r.match().Commands = r.toolOnly(v) }},
	{"regex", []Type{BuiltIn}, texts, "Expressions on a command's words.", func(r *reading, v node) { r.match().Regex = r.toolOnly(v) }},
	{"words", []Type{BuiltIn}, texts, "Texts in the prompt or the tool's input.", func(r *reading, v node) { r.match().Words = v.texts() }},
}

// serverMembers are those of an entry of "servers" in addition to a hook's own; loneMembers
// those of a file that is itself one server.
var (
	serverMembers = []string{"id", "enabled", "observe", "grant", "matcher", "events", "server_url", "timeout_ms", "retry_count", "retry_delay_ms", "fail_open", "headers"}
	loneMembers   = serverMembers[5:]
)

// fileMembers are those at the top of a file.
var fileMembers = []member{
	{"$schema", nil, anyText, "", nil},
	{"convention", nil, `{"enum": ["client", "simple"], "default": "client"}`, "simple: timeouts in milliseconds, and any exit code but 0 refuses.", (*reading).fileConvention},
	{"observe", nil, truth, "Every hook of the file observes: what they say is traced and not heard.", func(r *reading, v node) { r.observes, _ = v.truth() }},
	{"strict", nil, truth, "Has no effect any more.", func(_ *reading, v node) { v.truth() }},
	{"allow_once", nil, truth, "A refusal gives a code by which the user can let the call pass once.", func(r *reading, v node) { r.once, _ = v.truth() }},
	{"trace", nil, `{"enum": ["said", "all"], "default": "said"}`, "all: calls that concern no hook are traced, too.", func(r *reading, v node) { r.traceAll = v.is("all", "said") }},
	{"packs", nil, `{"type": "array", "items": {"$ref": "#/$defs/pack"}}`, "Rules that ship with beckon.", nil},
	{"hooks", nil, `{"$ref": "#/$defs/hooks"}`, "", nil},
	{"servers", nil, `{"type": "array", "items": {"$ref": "#/$defs/server_entry"}}`, "Policy servers, each asked of all its events.", nil},
}

// has reports whether hooks of a type have the member.
func (m member) has(t Type) bool { return m.types == nil || slices.Contains(m.types, t) }

func (m member) value() map[string]any {
	var v map[string]any
	if err := json.Unmarshal([]byte(m.schema), &v); err != nil {
		panic(m.name + ": " + err.Error()) // an error in this package's tables
	}
	if m.doc != "" {
		v["description"] = m.doc
	}
	return v
}

// Schema returns the JSON Schema of a policy file without its comments, for editors. Decode
// checks more: decisions that an event cannot express, and implausible values.
func Schema() ([]byte, error) {
	of := func(names []string, list []member) map[string]any {
		out := map[string]any{}
		for _, m := range list {
			if names == nil || slices.Contains(names, m.name) {
				out[m.name] = m.value()
			}
		}
		return out
	}
	object := func(properties map[string]any, required ...string) map[string]any {
		o := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
		if len(required) > 0 {
			o["required"] = required
		}
		return o
	}
	ref := func(name string) map[string]any { return map[string]any{"$ref": "#/$defs/" + name} }
	var kinds []event.Kind
	groups := map[string]any{}
	for _, info := range event.Kinds {
		if wire.RulesOf(info.Kind).Never == "" {
			kinds = append(kinds, info.Kind)
			groups[string(info.Kind)] = map[string]any{"type": "array", "items": ref("group")}
		}
	}
	more := map[string]any{"matcher": map[string]any{"type": "string"}, "events": map[string]any{"type": "array", "items": map[string]any{"enum": kinds}}}
	servers := of(serverMembers, hookMembers)
	top := of(nil, fileMembers)
	maps.Copy(top, of(loneMembers, hookMembers))
	servers["matcher"], servers["events"], top["events"] = more["matcher"], more["events"], more["events"]
	defs := map[string]any{"hooks": object(groups), "server_entry": object(servers, "server_url"),
		"pack": map[string]any{"enum": append([]string{}, packs.Names()...)}, "unless": object(of(nil, conditionMembers))}
	var oneOf []any
	for _, t := range append(slices.Clone(started), BuiltIn) {
		properties := of(namesOf(hookMembers, t), hookMembers)
		properties["type"] = map[string]any{"const": t}
		defs[string(t)] = object(properties, append([]string{"type"}, needs[t]...)...)
		oneOf = append(oneOf, ref(string(t)))
	}
	defs["group"] = object(map[string]any{"matcher": more["matcher"], "if": map[string]any{"type": "string", "minLength": 1},
		"hooks": map[string]any{"type": "array", "items": map[string]any{"oneOf": oneOf}}}, "hooks")
	schema := object(top)
	schema["$schema"], schema["$defs"] = "https://json-schema.org/draft/2020-12/schema", defs
	schema["title"], schema["description"] = "beckon policy", "What answers Claude Code's hooks. Comments and trailing commas are read too."
	b, err := json.MarshalIndent(schema, "", "  ")
	return append(b, '\n'), err
}

// Limits on timeouts.
const (
	// suspiciousSeconds: this many seconds are probably meant as milliseconds. The client's
	// own default is 600.
	suspiciousSeconds = 1000
	// suspiciousMillis: no process starts in so few milliseconds, so seconds are meant.
	suspiciousMillis = 20
)

// timeout parses "timeout": seconds, as in the client; milliseconds in a file of the simple
// convention; or a text with its unit, "500ms".
func (r *reading) timeout(v node) {
	switch _, both := r.set["timeout_ms"]; {
	case both:
		v.fail("", "timeout and timeout_ms are both set")
	case v.kind() == "a text":
		s, _ := v.text()
		d, err := duration.Parse(s)
		if err != nil || d <= 0 {
			v.fail(`like "5s" or "500ms"`, "no time: %q", s)
			return
		}
		r.h.Timeout = d
	case r.convention == Simple:
		r.limit(v, time.Millisecond, `in a file of the simple convention timeout is in milliseconds; "timeout": "5s" has its unit`)
	default:
		r.limit(v, time.Second, `timeout is in seconds; write "timeout_ms", or "convention": "simple" at the top of the file`)
	}
}

// limit parses a timeout in seconds or milliseconds; advice is for a value that is only
// plausible in the other unit.
func (r *reading) limit(v node, unit time.Duration, advice string) {
	f, ok := v.number()
	switch {
	case !ok:
	case f <= 0:
		v.fail("leave it out for the time that the event has", "is %v", f)
	case unit == time.Second && f >= suspiciousSeconds:
		v.fail(advice, "%v seconds can only be meant as milliseconds", f)
	case unit == time.Millisecond && f < suspiciousMillis:
		v.fail(advice, "%v milliseconds are too few for any handler", f)
	default:
		r.h.Timeout = time.Duration(f * float64(unit))
	}
}

func (r *reading) retryDelay(v node) {
	ms, _ := v.count(0, int(wire.Deadline/time.Millisecond))
	r.h.Spec.RetryDelay = time.Duration(ms) * time.Millisecond
}

func (r *reading) stopBlocks(v node) {
	if !wire.RulesOf(r.h.Event).Loops {
		v.fail("", "%s keeps no agent going", r.h.Event)
		return
	}
	r.h.StopBlocks, _ = v.count(0, 7)
}

// namesOf returns the names of the members that hooks of a type have.
func namesOf(list []member, t Type) (names []string) {
	for _, m := range list {
		if m.has(t) {
			names = append(names, m.name)
		}
	}
	return names
}

// find returns the member called name of a hook of type t.
func find(t Type, name string) *member {
	if i := slices.IndexFunc(hookMembers, func(m member) bool { return m.name == name && m.has(t) }); i >= 0 {
		return &hookMembers[i]
	}
	return nil
}

// is parses one of two words and reports whether it is the first.
func (n node) is(yes, no string) bool {
	s, _ := n.oneOf(strings.Fields(no + " " + yes)...)
	return s == yes
}
