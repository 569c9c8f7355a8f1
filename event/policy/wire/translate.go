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

// Verdict is the combined answer of all handlers to one event, before it is written in the
// client's format.
type Verdict struct {
	// Decision is Silence, Allow, Ask or Deny. Rewrites and texts are separate.
	Decision Decision
	Reason   string
	// Input replaces the tool input; nil keeps it.
	Input   []byte
	Context []string // texts for the agent
	System  []string // texts for the user
	// Halt ends the agent's work after the event; HaltReason tells the user.
	Halt       bool
	HaltReason string
	Terminal   string                     // a terminal sequence, as the client checks it
	Extra      map[string]json.RawMessage // further members of hookSpecificOutput
	Request    Request                    // further members of a PermissionRequest's decision
}

// Request is what an answer to a PermissionRequest may contain besides its decision.
type Request struct {
	UpdatedPermissions json.RawMessage `json:"updatedPermissions,omitempty"` // of an approval
	Interrupt          json.RawMessage `json:"interrupt,omitempty"`          // of a refusal
}

// Answer is the hook process's answer to the client: one JSON object or nothing on stdout.
type Answer struct {
	Stdout   []byte
	Stderr   []byte
	ExitCode int
	// Dropped names the parts of the verdict that the event, or the client's version, cannot
	// express.
	Dropped []string
}

// output is the client's object, with its members in order.
type output struct {
	Decision         string    `json:"decision,omitempty"`
	Reason           string    `json:"reason,omitempty"`
	SystemMessage    string    `json:"systemMessage,omitempty"`
	Continue         *bool     `json:"continue,omitempty"`
	StopReason       string    `json:"stopReason,omitempty"`
	TerminalSequence string    `json:"terminalSequence,omitempty"`
	Specific         *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event      event.Kind      `json:"hookEventName"`
	Action     json.RawMessage `json:"action,omitempty"`
	Permission Decision        `json:"permissionDecision,omitempty"`
	Reason     string          `json:"permissionDecisionReason,omitempty"`
	Input      json.RawMessage `json:"updatedInput,omitempty"`
	Decision   *behavior       `json:"decision,omitempty"`
	Context    string          `json:"additionalContext,omitempty"`

	// Passed on as a handler wrote it, where the contract allows.
	ClassifierContext      json.RawMessage `json:"classifierContext,omitempty"`
	Content                json.RawMessage `json:"content,omitempty"`
	InitialUserMessage     json.RawMessage `json:"initialUserMessage,omitempty"`
	ReloadSkills           json.RawMessage `json:"reloadSkills,omitempty"`
	Retry                  json.RawMessage `json:"retry,omitempty"`
	SessionTitle           json.RawMessage `json:"sessionTitle,omitempty"`
	SuppressOriginalPrompt json.RawMessage `json:"suppressOriginalPrompt,omitempty"`
	UpdatedMCPToolOutput   json.RawMessage `json:"updatedMCPToolOutput,omitempty"`
	UpdatedToolOutput      json.RawMessage `json:"updatedToolOutput,omitempty"`
	WatchPaths             json.RawMessage `json:"watchPaths,omitempty"`
}

type behavior struct {
	Behavior Decision        `json:"behavior"`
	Message  string          `json:"message,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Request
}

// Translate writes v in the agent's format, as its client of the given version ("" if unknown)
// accepts it for events of kind k; over HTTP there is no exit code. payload is the event as the
// agent sent it. What cannot be expressed is left out and named in Dropped; a refusal or
// question that cannot be expressed is shown to the user if the event can show texts.
func (d Dialect) Translate(k event.Kind, v Verdict, version string, http bool, payload []byte) Answer {
	w := &wording{rules: d.RulesOf(k).For(version, http), v: v}
	if d.Native() {
		return w.in(&native{wording: w, version: version})
	}
	if v.Input != nil && v.Decision != Deny {
		input, err := d.input(payload, v.Input)
		if w.v.Input = input; err != nil {
			w.drop("modify: " + err.Error())
		}
	}
	return w.in(&foreign{row: d.agent.AnswerTo(string(k)), out: map[string]any{}})
}

// format is an answer being written in an agent's format.
type format interface {
	// say adds a part of the verdict: its text, or the input. It is false if the event cannot
	// express that part.
	say(part agents.When, text string) bool
	// add adds a further member of Claude Code's format; false for one that does not exist.
	add(name string, value json.RawMessage) bool
	// object returns the whole answer, nil if nothing was added.
	object() any
}

// wording is a verdict being written.
type wording struct {
	rules   Rules
	v       Verdict
	answers Answer
}

// in writes the verdict in a format.
func (w *wording) in(f format) Answer {
	for _, name := range slices.Sorted(maps.Keys(w.v.Extra)) {
		if name == terminalSequence || !f.add(name, w.v.Extra[name]) { // that is a member of the answer itself
			w.drop(name)
		}
	}
	w.decision(f)
	w.texts(f)
	if o := f.object(); o != nil {
		w.answers.Stdout = append(must(o), '\n')
	}
	return w.answers
}

func (w *wording) drop(what string) { w.answers.Dropped = append(w.answers.Dropped, what) }

// cannot tells the user what the event cannot do.
func (w *wording) cannot(d Decision) {
	w.drop(string(d))
	w.showReason()
}

// showReason shows the user the reason.
func (w *wording) showReason() {
	if w.v.Reason != "" {
		w.v.System = append(slices.Clip(w.v.System), w.v.Reason)
	}
}

func (w *wording) decision(f format) {
	v := w.v
	switch v.Decision {
	case Deny: // a refused call is not rewritten
		switch {
		case w.rules.Refuse == ByExit:
			w.answers.ExitCode, w.answers.Stderr = 2, []byte(v.Reason+"\n")
		case w.rules.Refuse == NoWay || !f.say(agents.Deny, v.Reason):
			w.cannot(Deny)
		}
		return
	case Ask:
		switch {
		case f.say(agents.Ask, v.Reason):
		case w.rules.Refuse == ByRequest: // without an answer the dialog is the user's
			w.showReason()
		default:
			w.cannot(Ask)
		}
	case Allow:
		if !f.say(agents.Allow, v.Reason) {
			w.drop("allow")
		}
	}
	approves := v.Decision == Allow || w.rules.Kind != event.PermissionRequest // which is rewritten only with its approval
	if v.Input != nil && !(approves && f.say(agents.Rewrite, string(v.Input))) {
		w.drop("modify")
	}
}

func (w *wording) texts(f format) {
	v := w.v
	if text := strings.Join(v.Context, "\n\n"); text != "" && !f.say(agents.Context, text) {
		w.drop("context")
	}
	if text := strings.Join(v.System, "\n"); text != "" && !f.say(agents.System, text) {
		w.drop("system message")
	}
	if v.Terminal != "" && !f.add(terminalSequence, must(v.Terminal)) {
		w.drop(terminalSequence)
	}
	if v.Halt && !f.say(agents.Halt, v.HaltReason) {
		w.drop("continue: false")
	}
}

const terminalSequence = "terminalSequence"

// native is Claude Code's format.
type native struct {
	*wording
	version string
	top     output
	hso     specific
	said    bool // hso has more than the event's name
}

func (n *native) say(part agents.When, text string) bool {
	r, refuse, hso := n.rules, n.rules.Refuse, &n.hso
	can := [...]bool{agents.Deny: refuse != NoWay, agents.Ask: r.Ask, agents.Allow: r.Allow, agents.Rewrite: r.Rewrite,
		agents.Context: r.Context, agents.System: r.System, agents.Halt: r.Halt}
	switch {
	case !can[part]:
		return false
	case part == agents.System:
		n.top.SystemMessage = text
		return true
	case part == agents.Halt:
		n.top.Continue, n.top.StopReason = new(bool), text
		return true
	case part == agents.Deny && refuse == ByBlock:
		n.top.Decision, n.top.Reason = "block", text
		return true
	case part == agents.Deny && refuse == ByAction: // another hook's action and content would be a different answer
		*hso = specific{Action: must("decline")}
	case part == agents.Deny && refuse == ByRequest:
		hso.Decision = &behavior{Behavior: Deny, Message: text, Request: Request{Interrupt: n.v.Request.Interrupt}}
	case part == agents.Allow && refuse == ByRequest:
		hso.Decision = &behavior{Behavior: Allow, Request: Request{UpdatedPermissions: n.v.Request.UpdatedPermissions}}
	case part == agents.Rewrite && refuse == ByRequest:
		hso.Decision.Input = json.RawMessage(text)
	case part == agents.Rewrite:
		hso.Input = json.RawMessage(text)
	case part == agents.Context:
		hso.Context = text
	default:
		hso.Permission, hso.Reason = n.v.Decision, text
	}
	n.said = true
	return true
}

func (n *native) add(name string, value json.RawMessage) bool {
	if name == terminalSequence {
		return n.rules.Terminal && json.Unmarshal(value, &n.top.TerminalSequence) == nil
	}
	known := slices.ContainsFunc(n.rules.Extra, func(x Extra) bool {
		return x.Name == name && has(n.version, x.Since) && (x.Only == "" || x.Only == string(value))
	})
	if known && json.Unmarshal(must(map[string]json.RawMessage{name: value}), &n.hso) == nil {
		n.said = true
	}
	return known
}

func (n *native) object() any {
	if n.said {
		n.hso.Event = n.rules.Kind
		n.top.Specific = &n.hso
	}
	if n.top == (output{}) {
		return nil
	}
	return n.top
}

// foreign is the format of another agent.
type foreign struct {
	row *agents.Answer
	out map[string]any
}

func (f *foreign) say(part agents.When, text string) bool {
	if f.row == nil || !f.row.Hears(part) {
		return false
	}
	said := json.RawMessage(text)
	if part != agents.Rewrite {
		said = must(text)
	}
	for _, m := range f.row.Says {
		if m.When != part {
			continue
		}
		value := json.RawMessage(m.Value)
		if m.Value == agents.Text {
			value = said
		}
		put(f.out, m.Path, value)
		if m.Reason != "" {
			put(f.out, m.Reason, said)
		}
	}
	return true
}

func (f *foreign) add(string, json.RawMessage) bool { return false }

func (f *foreign) object() any {
	if len(f.out) == 0 {
		return nil
	}
	for _, m := range f.row.Says {
		if parent, _, nested := strings.Cut(m.Path, "."); m.When == agents.Always && (!nested || f.out[parent] != nil) {
			put(f.out, m.Path, json.RawMessage(m.Value))
		}
	}
	return f.out
}

// put sets a member of an object, creating the objects on its path. An existing text is kept,
// and the other follows it.
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
