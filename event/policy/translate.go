package policy

import (
	"bytes"
	"encoding/json"
	"strings"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/policy/handler"
)

// Verdict is what all handlers together want of one event, before it is put in
// the client's words.
type Verdict struct {
	// Decision is Silence, Allow, Ask or Deny. Rewriting and adding text go
	// beside it.
	Decision handler.Decision
	Reason   string
	// Input replaces the tool input; nil leaves it.
	Input   []byte
	Context []string // texts for the agent
	System  []string // texts for the user
	// Halt ends the agent's work after the event; HaltReason tells the user.
	Halt       bool
	HaltReason string
	Terminal   string                     // a terminal sequence, as the client checks it
	Extra      map[string]json.RawMessage // further members of hookSpecificOutput
	Request    map[string]json.RawMessage // further members of a PermissionRequest's decision
}

// Answer is what the hook process gives the client: one JSON object or
// nothing on stdout.
type Answer struct {
	Stdout   []byte
	Stderr   []byte
	ExitCode int
	// Dropped names what of the verdict the event, or the client's version,
	// cannot express.
	Dropped []string
}

// Translate puts v into the words that a client of the given version ("" is
// not known) accepts for events of kind k. What cannot be said is left out and
// named in Dropped; a refusal or question that cannot be said is shown to the
// user where the event has a way to.
func Translate(k event.Kind, v Verdict, version string) Answer {
	return translate(k, v, version, false)
}

// translate is Translate; over HTTP there is no exit code.
func translate(k event.Kind, v Verdict, version string, http bool) Answer {
	t := translation{rules: rulesOf(k).heard(version, http), version: version}
	t.decision(&v)
	t.texts(v)
	t.extras(v.Extra)
	return t.answer()
}

// translation is one Translate under way: the members of the answer and of its
// hookSpecificOutput, in the order they are written.
type translation struct {
	rules    rules
	version  string
	top, hso []pair
	stderr   string
	exit     int
	dropped  []string
}

type pair struct {
	name  string
	value []byte
}

func (t *translation) drop(what string) { t.dropped = append(t.dropped, what) }

func (t *translation) decision(v *Verdict) {
	switch v.Decision {
	case handler.Deny:
		t.refuse(v)
		return
	case handler.Ask:
		if t.rules.ask {
			t.permission("ask", v.Reason)
			break
		}
		t.cannot(v, "ask")
	case handler.Allow:
		if t.rules.allow {
			t.allow(v)
			return
		}
		t.drop("allow")
	}
	t.input(v)
}

// refuse says no, in the form that the event has for it. A refused call is not
// rewritten.
func (t *translation) refuse(v *Verdict) {
	switch t.rules.refuse {
	case byPermission:
		t.permission("deny", v.Reason)
	case byRequest:
		t.request("deny", pair{"message", text(v.Reason)}, v)
	case byBlock:
		t.top = append(t.top, pair{"decision", text("block")}, pair{"reason", text(v.Reason)})
	case byAction:
		t.hso = append(t.hso, pair{"action", text("decline")})
		v.Extra = nil // its action and content would be another answer
	case byExit:
		t.exit, t.stderr = 2, v.Reason
	default:
		t.cannot(v, "deny")
	}
}

// cannot tells the user what the event has no way to do.
func (t *translation) cannot(v *Verdict, what string) {
	t.drop(what)
	if v.Reason != "" {
		v.System = append(v.System, v.Reason)
	}
}

func (t *translation) permission(decision, reason string) {
	t.hso = append(t.hso, pair{"permissionDecision", text(decision)})
	if reason != "" {
		t.hso = append(t.hso, pair{"permissionDecisionReason", text(reason)})
	}
}

func (t *translation) allow(v *Verdict) {
	if t.rules.refuse != byRequest {
		t.permission("allow", v.Reason)
		t.input(v)
		return
	}
	input := pair{"updatedInput", v.Input}
	if v.Input == nil {
		input.value = nil
	}
	t.request("allow", input, v)
}

// input replaces the tool input. A PermissionRequest can only do so together
// with an approval, which is not the handlers' to give unasked.
func (t *translation) input(v *Verdict) {
	switch {
	case v.Input == nil:
	case t.rules.rewrite && t.rules.refuse == byPermission:
		t.hso = append(t.hso, pair{"updatedInput", v.Input})
	default:
		t.drop("modify")
	}
}

// request writes a PermissionRequest's decision.
func (t *translation) request(behavior string, more pair, v *Verdict) {
	o := []pair{{"behavior", text(behavior)}}
	if more.value != nil {
		o = append(o, more)
	}
	for _, name := range []string{"updatedPermissions", "interrupt"} {
		fits := name == "updatedPermissions" == (behavior == "allow")
		if raw := v.Request[name]; raw != nil && fits {
			o = append(o, pair{name, raw})
		}
	}
	t.hso = append(t.hso, pair{"decision", object(o)})
}

func (t *translation) texts(v Verdict) {
	if c := strings.Join(v.Context, "\n\n"); c != "" {
		if t.rules.context {
			t.hso = append(t.hso, pair{"additionalContext", text(c)})
		} else {
			t.drop("context")
		}
	}
	if s := strings.Join(v.System, "\n"); s != "" {
		if t.rules.system {
			t.top = append(t.top, pair{"systemMessage", text(s)})
		} else {
			t.drop("system message")
		}
	}
	if v.Halt {
		t.halt(v.HaltReason)
	}
	if v.Terminal != "" {
		if t.rules.terminal {
			t.top = append(t.top, pair{"terminalSequence", text(v.Terminal)})
		} else {
			t.drop("terminalSequence")
		}
	}
}

func (t *translation) halt(reason string) {
	if !t.rules.halt {
		t.drop("continue: false")
		return
	}
	t.top = append(t.top, pair{"continue", []byte("false")})
	if reason != "" {
		t.top = append(t.top, pair{"stopReason", text(reason)})
	}
}

func (t *translation) extras(values map[string]json.RawMessage) {
	for _, name := range names(values) {
		if x, ok := t.rules.takes(name); ok && has(t.version, x.since) && (x.only == "" || x.only == string(values[name])) {
			t.hso = append(t.hso, pair{name, values[name]})
		} else {
			t.drop(name)
		}
	}
}

// takes returns the row of an extra member that the event knows.
func (r rules) takes(name string) (extra, bool) {
	for _, x := range r.extra {
		if x.name == name {
			return x, true
		}
	}
	return extra{}, false
}

func (t *translation) answer() Answer {
	a := Answer{ExitCode: t.exit, Dropped: t.dropped}
	if t.stderr != "" {
		a.Stderr = []byte(t.stderr + "\n")
	}
	if len(t.hso) > 0 {
		t.hso = append([]pair{{"hookEventName", text(string(t.rules.kind))}}, t.hso...)
		t.top = append(t.top, pair{"hookSpecificOutput", object(t.hso)})
	}
	if len(t.top) > 0 {
		a.Stdout = append(object(t.top), '\n')
	}
	return a
}

// object writes an object whose members keep their order.
func object(pairs []pair) []byte {
	out := []byte{'{'}
	for i, p := range pairs {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonenc.AppendString(out, p.name), ':')
		out = append(out, p.value...)
	}
	return append(out, '}')
}

func text(s string) []byte { return jsonenc.AppendString(nil, s) }

// compact returns JSON without white space, nil when it is no object.
func compact(raw []byte) []byte {
	var out bytes.Buffer
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' || json.Compact(&out, raw) != nil {
		return nil
	}
	return out.Bytes()
}
