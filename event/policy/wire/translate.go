package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/agents"

	"github.com/tidwall/gjson"
)

// Verdict is the combined answer of all handlers to one event.
type Verdict struct {
	Decision   Decision // Silence, Allow, Ask or Deny
	Reason     string
	Input      []byte                     // replaces the tool input; nil keeps it
	Context    []string                   // texts for the agent
	System     []string                   // texts for the user
	Halt       bool                       // the agent's work ends after the event
	HaltReason string                     // for the user
	Terminal   string                     // a terminal sequence, as the client checks it
	Extra      map[string]json.RawMessage // further members of hookSpecificOutput

	// Further members of the decision on a PermissionRequest: of an approval, and of a refusal.
	UpdatedPermissions, Interrupt json.RawMessage
}

// Answer is the hook process's answer to the client: one JSON object or nothing on stdout.
type Answer struct {
	Stdout   []byte
	Stderr   []byte
	ExitCode int
	Dropped  []string // the parts of the verdict that the event cannot express
}

const specific = "hookSpecificOutput"

// ways are the members by which Claude Code hears of each kind of decision.
var ways = [ByAction + 1][]agents.Say{
	ByPermission: {
		{When: agents.Deny, Path: permission, Value: `"deny"`, Reason: permission + "Reason"},
		{When: agents.Ask, Path: permission, Value: `"ask"`, Reason: permission + "Reason"},
		{When: agents.Allow, Path: permission, Value: `"allow"`, Reason: permission + "Reason"},
		{When: agents.Rewrite, Path: specific + ".updatedInput", Value: agents.Text},
	},
	ByRequest: agents.DecisionSays,
	ByBlock:   agents.BlockSays[:1],
	ByAction:  {{When: agents.Deny, Path: specific + ".action", Value: `"decline"`}},
}

const permission = specific + ".permissionDecision"

// says returns the members of Claude Code's answer to an event.
func (r Rules) says() []agents.Say {
	can := [...]bool{
		agents.Deny:    r.Refuse != NoWay,
		agents.Ask:     r.Ask,
		agents.Allow:   r.Allow,
		agents.Rewrite: r.Rewrite,
		agents.Context: r.Context,
		agents.System:  r.System,
		agents.Halt:    r.Halt,
	}
	list := append(slices.Clip(ways[r.Refuse]),
		agents.Say{When: agents.Context, Path: specific + ".additionalContext", Value: agents.Text},
		agents.Say{When: agents.System, Path: "systemMessage", Value: agents.Text},
		agents.Say{When: agents.Halt, Path: "continue", Value: "false", Reason: "stopReason"})
	return slices.DeleteFunc(list, func(s agents.Say) bool { return !can[s.When] })
}

// Translate writes v in the agent's format for events of kind k; over HTTP there is no exit code.
// payload is the event as the agent sent it. What cannot be expressed is named in Dropped; a refusal or
// question is then shown to the user if the event can show texts.
func (d Dialect) Translate(k event.Kind, v Verdict, http bool, payload []byte) Answer {
	w := &writing{rules: d.RulesOf(k).Over(http), v: v, out: map[string]any{}}
	if d.Native() {
		w.says = w.rules.says()
	} else {
		w.v.UpdatedPermissions, w.v.Interrupt = nil, nil
		if row := d.agent.AnswerTo(string(k)); row != nil {
			w.says = row.Says
		}
		if v.Input != nil && v.Decision != Deny {
			input, err := d.input(payload, v.Input)
			if w.v.Input = input; err != nil {
				w.drop("modify: " + err.Error())
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.Extra)) {
		if slices.Contains(w.rules.Extra, name) {
			put(w.out, specific+"."+name, v.Extra[name])
		} else {
			w.drop(name)
		}
	}
	w.decision()
	w.texts()
	if len(w.out) == 0 {
		return w.answer
	}
	named := d.Native() || slices.Contains(d.agent.Install.Events, string(k)) // by Claude Code's names
	if named && w.out[specific] != nil {
		put(w.out, specific+".hookEventName", must(k))
	}
	w.answer.Stdout = append(must(w.out), '\n')
	return w.answer
}

// writing is a verdict being written.
type writing struct {
	rules  Rules
	v      Verdict
	says   []agents.Say
	out    map[string]any
	answer Answer
}

func (w *writing) drop(what string) { w.answer.Dropped = append(w.answer.Dropped, what) }

// say adds a part of the verdict: its text, or the input. It is false if the event cannot express it.
func (w *writing) say(part agents.When, text string) (can bool) {
	said := json.RawMessage(text)
	if part != agents.Rewrite {
		said = must(text)
	}
	for _, s := range w.says {
		if s.When != part {
			continue
		}
		can = true
		value := json.RawMessage(s.Value)
		if s.Value == agents.Text {
			value = said
		}
		put(w.out, s.Path, value)
		if s.Reason != "" && text != "" {
			put(w.out, s.Reason, said)
		}
	}
	return can
}

func (w *writing) showReason() {
	if w.v.Reason != "" {
		w.v.System = append(slices.Clip(w.v.System), w.v.Reason)
	}
}

func (w *writing) decision() {
	v, refuse := w.v, w.rules.Refuse
	switch v.Decision {
	case Deny: // a refused call is not rewritten
		if refuse == ByAction { // another hook's action and content would be a different answer
			delete(w.out, specific)
		}
		switch {
		case refuse == ByExit:
			w.answer.ExitCode, w.answer.Stderr = 2, []byte(v.Reason+"\n")
		case refuse == NoWay || !w.say(agents.Deny, v.Reason):
			w.drop(string(Deny))
			w.showReason()
		case refuse == ByRequest && len(v.Interrupt) > 0:
			put(w.out, specific+".decision.interrupt", v.Interrupt)
		}
		return
	case Ask:
		if w.say(agents.Ask, v.Reason) {
			break
		}
		if refuse != ByRequest { // without an answer the dialog is the user's
			w.drop(string(Ask))
		}
		w.showReason()
	case Allow:
		if !w.say(agents.Allow, v.Reason) {
			w.drop(string(Allow))
		} else if refuse == ByRequest && len(v.UpdatedPermissions) > 0 {
			put(w.out, specific+".decision.updatedPermissions", v.UpdatedPermissions)
		}
	}
	approves := v.Decision == Allow || w.rules.Kind != event.PermissionRequest // which is rewritten only with its approval
	if v.Input != nil && !(approves && w.say(agents.Rewrite, string(v.Input))) {
		w.drop("modify")
	}
}

func (w *writing) texts() {
	v := w.v
	if text := strings.Join(v.Context, "\n\n"); text != "" && !w.say(agents.Context, text) {
		w.drop("context")
	}
	if text := strings.Join(v.System, "\n"); text != "" && !w.say(agents.System, text) {
		w.drop("system message")
	}
	switch {
	case v.Terminal == "":
	case w.rules.Terminal:
		put(w.out, "terminalSequence", must(v.Terminal))
	default:
		w.drop("terminalSequence")
	}
	if v.Halt && !w.say(agents.Halt, v.HaltReason) {
		w.drop("continue: false")
	}
}

// put sets a member of an object, creating those on its path. A text follows one that is already there.
func put(object map[string]any, path string, value json.RawMessage) {
	name, rest, nested := strings.Cut(path, ".")
	if nested {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		put(inner, rest, value)
		return
	}
	if old, ok := object[name].(json.RawMessage); ok && old[0] == '"' && value[0] == '"' {
		value = must(gjson.ParseBytes(old).Str + "\n" + gjson.ParseBytes(value).Str)
	}
	object[name] = value
}
