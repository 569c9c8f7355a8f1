package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"beckon/event"
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

// Translate writes v in the format that a client of the given version ("" if unknown) accepts
// for events of kind k; over HTTP there is no exit code. What cannot be expressed is left out
// and named in Dropped; a refusal or question that cannot be expressed is shown to the user if
// the event can show texts.
func Translate(k event.Kind, v Verdict, version string, http bool) Answer {
	t := translation{wording: wording{rules: RulesOf(k).Heard(version, http), v: v}, version: version}
	t.extras()
	t.decision()
	t.texts()
	return t.answer()
}

// wording is a verdict being written in an agent's format.
type wording struct {
	rules   Rules
	v       Verdict
	answers Answer
}

func (t *wording) drop(what string) { t.answers.Dropped = append(t.answers.Dropped, what) }

// cannot tells the user what the event cannot do.
func (t *wording) cannot(d Decision) {
	t.drop(string(d))
	t.showReason()
}

// showReason shows the user the reason.
func (t *wording) showReason() {
	if t.v.Reason != "" {
		t.v.System = append(slices.Clip(t.v.System), t.v.Reason)
	}
}

// translation is the state of Translate.
type translation struct {
	wording
	version string
	top     output
	hso     specific
	said    bool // hso has more than the event's name
}

// specific returns the event's own part of the answer, to add to.
func (t *translation) specific() *specific {
	t.said = true
	return &t.hso
}

func (t *translation) decision() {
	v := &t.v
	switch {
	case v.Decision == Deny:
		t.refuse()
		return
	case v.Decision == Ask && t.rules.Ask, v.Decision == Allow && t.rules.Allow && t.rules.Refuse != ByRequest:
		t.permission(v.Decision)
	case v.Decision == Ask && t.rules.Refuse == ByRequest: // without an answer the dialog is the user's
		t.showReason()
	case v.Decision == Ask:
		t.cannot(Ask)
	case v.Decision == Allow && t.rules.Allow:
		t.specific().Decision = &behavior{Behavior: Allow, Input: v.Input, Request: Request{UpdatedPermissions: v.Request.UpdatedPermissions}}
		return
	case v.Decision == Allow:
		t.drop("allow")
	}
	switch {
	case v.Input == nil:
	case t.rules.Rewrite && t.rules.Refuse == ByPermission:
		t.specific().Input = v.Input
	default: // a PermissionRequest is rewritten only with its approval
		t.drop("modify")
	}
}

// refuse refuses in the event's form. A refused call is not rewritten.
func (t *translation) refuse() {
	switch v := &t.v; t.rules.Refuse {
	case ByPermission:
		t.permission(Deny)
	case ByRequest:
		t.specific().Decision = &behavior{Behavior: Deny, Message: v.Reason, Request: Request{Interrupt: v.Request.Interrupt}}
	case ByBlock:
		t.top.Decision, t.top.Reason = "block", v.Reason
	case ByAction: // another hook's action and content would be a different answer
		t.hso = specific{Action: must("decline")}
		t.said = true
	case ByExit:
		t.answers.ExitCode, t.answers.Stderr = 2, []byte(v.Reason+"\n")
	default:
		t.cannot(Deny)
	}
}

func (t *translation) permission(d Decision) {
	t.specific().Permission, t.hso.Reason = d, t.v.Reason
}

func (t *translation) texts() {
	v := t.v
	say := func(can bool, what, text string, to *string) {
		switch {
		case text == "":
		case can:
			*to = text
		default:
			t.drop(what)
		}
	}
	say(t.rules.Context, "context", strings.Join(v.Context, "\n\n"), &t.hso.Context)
	t.said = t.said || t.hso.Context != ""
	say(t.rules.System, "system message", strings.Join(v.System, "\n"), &t.top.SystemMessage)
	say(t.rules.Terminal, "terminalSequence", v.Terminal, &t.top.TerminalSequence)
	if v.Halt && !t.rules.Halt {
		t.drop("continue: false")
	} else if v.Halt {
		t.top.Continue, t.top.StopReason = new(bool), v.HaltReason
	}
}

// extras adds the further members that the event and the version know.
func (t *translation) extras() {
	known := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(t.v.Extra)) {
		if t.takes(name) {
			known[name] = t.v.Extra[name]
		} else {
			t.drop(name)
		}
	}
	if len(known) > 0 && json.Unmarshal(must(known), &t.hso) == nil {
		t.said = true
	}
}

func (t *translation) takes(name string) bool {
	return slices.ContainsFunc(t.rules.Extra, func(x Extra) bool {
		return x.Name == name && has(t.version, x.Since) && (x.Only == "" || x.Only == string(t.v.Extra[name]))
	})
}

func (t *translation) answer() Answer {
	if t.said {
		t.hso.Event = t.rules.Kind
		t.top.Specific = &t.hso
	}
	if t.top != (output{}) {
		t.answers.Stdout = append(must(t.top), '\n')
	}
	return t.answers
}
