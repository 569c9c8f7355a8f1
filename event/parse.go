package event

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"beckon/event/agents"
	"beckon/event/jsonenc"
	"beckon/event/redact"

	"github.com/cespare/xxhash/v2"
	"github.com/tidwall/gjson"
)

// Members are the members of a payload by Claude Code's names, in the payload's order.
type Members []named

type named struct {
	name  string
	value gjson.Result
}

// MembersOf returns the members of a payload of the named agent.
func MembersOf(agent string, payload gjson.Result) (p Members) {
	p.collect(wordsOf(agent), "", payload)
	return p
}

// collect adds the members of an object: at the top level all, in it those that a row of a, or of
// Claude Code's table, names. prefix is the object's path, "" or "a.b.".
func (p *Members) collect(a *agents.Agent, prefix string, object gjson.Result) {
	object.ForEach(func(key, v gjson.Result) bool {
		path, name, inside := prefix+key.Str, "", false
		if prefix == "" {
			name = path
		}
		for _, rows := range [...][]agents.Member{agents.Known[0].Fields, a.Fields} {
			for _, row := range rows {
				rest, ok := strings.CutPrefix(row.Path, path)
				if ok && rest == "" {
					name = row.Is
				}
				inside = inside || ok && strings.HasPrefix(rest, ".")
			}
		}
		if name != "" {
			*p = append(*p, named{name, v})
		}
		if inside && v.IsObject() {
			p.collect(a, path+".", v)
		}
		return true
	})
}

// last returns the last member of that name whose type fits. One of another type counts as absent.
func (p Members) last(name string, fits func(gjson.Result) bool) (v gjson.Result) {
	for _, m := range p {
		if m.name == name && fits(m.value) {
			v = m.value
		}
	}
	return v
}

// Text returns the member of that name that is a text.
func (p Members) Text(name string) gjson.Result {
	return p.last(name, func(v gjson.Result) bool { return v.Type == gjson.String })
}

// Input returns a call's input.
func (p Members) Input() gjson.Result {
	return p.last("tool_input", func(v gjson.Result) bool { return v.Type != gjson.Null })
}

// list returns the member of that name that is a list.
func (p Members) list(name string) gjson.Result { return p.last(name, gjson.Result.IsArray) }

// Parse parses one hook payload of the named agent ("" is Claude Code; see Agent). name is the
// event's name as the installed entry passed it, used if the payload has none. The caller sets
// At, Via and Origin.
//
// It is total. Every text that a person, an agent or a server chose is redacted, names of
// sessions, models, agents and tools among them. Members that are absent, unknown or of another
// type than CONTRACT.md 11 says leave their field zero; an unknown event has Kind Unknown and
// its Name. Where keys are unique and the text is UTF-8 every field is what encoding/json reads,
// cut to its limit. The error for a payload that is not a JSON object is a SyntaxError.
func Parse(agent, name string, payload []byte) (Event, error) {
	return parseDocument(agent, name, documentOf(payload))
}

// ParseReader is Parse on the first object from r. It does not wait for more: a client may keep
// its end of the pipe open.
func ParseReader(agent, name string, r io.Reader) (Event, error) {
	d, err := read(r)
	if err != nil {
		return Event{}, err
	}
	return parseDocument(agent, name, d)
}

func parseDocument(agent, name string, d document) (Event, error) {
	v, err := d.object()
	switch err {
	case nil:
		return parse(agent, name, v), nil
	case cutShort:
		return parseCut(agent, name, d, err)
	}
	return Event{}, err
}

// parseCut parses a payload whose end is missing, as err says. One that is too large keeps the
// members before the one that is, and says so. Any other counts only if it is about a turn or a
// session that ended, since without it the session would seem to work on: it names them before
// anything long. Other events are refused, since a policy may need what is missing.
func parseCut(agent, name string, d document, err error) (Event, error) {
	large := d.large
	d = d.whole()
	v, bad := d.object()
	if bad != nil {
		return Event{}, err
	}
	e := parse(agent, name, v)
	switch e.Kind {
	case Stop, StopFailure, SubagentStop, SessionEnd:
	default:
		if !large {
			return Event{}, err
		}
	}
	if e.SessionID == "" {
		return Event{}, err
	}
	if !large {
		return e, nil
	}
	if e.Details = overLarge; e.Tool.Name != "" {
		e.Tool.Summary = OneLine(e.Tool.Name+": "+overLarge, MaxSummary)
	}
	return e, nil
}

// overLarge is said of an event whose payload has more than MaxPayload bytes.
const overLarge = "payload of more than 64 MiB, cut"

// parse parses an object. No field of the Event shares memory with it.
func parse(agentName, name string, v gjson.Result) Event {
	a, p := wordsOf(agentName), MembersOf(agentName, v)
	e := Event{Agent: Agent(agentName), Name: p.text("hook_event_name", MaxID)}
	if e.Name == "" {
		e.Name = Cut(strings.ToValidUTF8(name, "\ufffd"), MaxID)
	}
	e.Kind, e.Says = means(a, e.Name, v)
	if e.Says == agents.Client {
		e.Says, e.FromClient = "", true
	}
	p.session(&e)
	p.said(&e, a)
	background := p.list("background_tasks")
	if e.HasBackground = background.Exists(); e.HasBackground {
		e.Background = tasks(background)
	}
	e.Crons = int(p.list("session_crons").Get("#").Int())
	p.tool(&e)
	e.Ask = p.ask(&e, slices.Contains(a.Forms, e.Tool.Name))
	e.Answer = p.answer(&e)
	return e
}

// text returns the head of a text.
func (p Members) text(name string, max int) string { return jsonenc.Unquote(p.Text(name).Raw, max) }

// clean returns the head of a text, redacted before it is cut.
func (p Members) clean(name string, max int) string { return Cut(clean(p.Text(name).Raw), max) }

// mainAgent is how agents without a table name the main conversation.
const mainAgent = "main"

func (p Members) session(e *Event) {
	e.SessionID = p.text("session_id", MaxID)
	if e.SessionID == "" && (e.Kind == SessionStart || e.Kind == SessionEnd) {
		e.SessionID = p.text(agents.NewSession, MaxID)
	}
	e.PromptID = p.text("prompt_id", MaxID)
	e.TranscriptPath = p.text("transcript_path", MaxPath)
	e.Cwd = p.text("cwd", MaxPath)
	e.PermissionMode = p.text("permission_mode", MaxID)
	e.Model = p.clean("model", MaxID)
	e.Title = p.clean("session_title", MaxID)
	switch e.Kind {
	case CwdChanged:
		e.Cwd = cmp.Or(p.text("new_cwd", MaxPath), e.Cwd)
	case PostModelSwitch:
		e.Model = cmp.Or(p.clean("to_model", MaxID), e.Model)
	}
	e.AgentID = p.text("agent_id", MaxID)
	if e.AgentID == mainAgent && AgentOf(e.Agent) == nil {
		e.AgentID = ""
	}
	e.AgentType = p.clean("agent_type", MaxID)
	p.child(e)
}

// child assigns the events of a subagent with a session of its own to the session that started
// it.
func (p Members) child(e *Event) {
	parent := p.text(agents.Parent, MaxID)
	if parent == "" || parent == e.SessionID {
		return
	}
	if e.AgentID == "" {
		e.AgentID = e.SessionID
	}
	e.SessionID = parent
	switch e.Kind {
	case SessionStart:
		e.Kind = SubagentStart
	case SessionEnd:
		e.Kind = SubagentStop
	}
}

func (p Members) said(e *Event, a *agents.Agent) {
	e.Source = p.text("source", MaxID)
	e.Reason = p.clean("reason", MaxText)
	e.Details = p.clean("error_details", MaxText)
	switch e.Kind {
	case StopFailure:
		e.Reason = p.clean("error", MaxText)
	case PostToolUseFailure:
		first, _, _ := strings.Cut(p.clean("error", MaxText), "\n")
		e.Details, _, _ = strings.Cut(first, "\r")
	}
	if e.Kind == UserPromptSubmit || e.Kind == UserPromptExpansion {
		e.Prompt = Cut(strings.TrimSpace(clean(p.Text("prompt").Raw)), MaxPrompt)
		e.FromClient = e.FromClient || FromClient(e.Prompt)
	}
	// The tail of the agent's last words, else the head of a notification's text.
	if e.Message = p.clean("message", MaxText); p.Text("last_assistant_message").Exists() {
		e.Message = CutTail(cleanTail(p.text("last_assistant_message", -1)), MaxMessage)
	}
	if e.Notification = p.text("notification_type", MaxID); a.Dialog != "" && e.Notification == a.Dialog {
		e.Notification = agents.Shown
	}
}

// FromClient reports whether a prompt only records what the client did by itself: a command it ran, a
// shell line, the end of background work.
func FromClient(prompt string) bool {
	return slices.ContainsFunc([]string{
		"<command-name>", "<local-command-", "<bash-", "<task-notification>", "<system-reminder>",
		"[Request interrupted", "Caveat: The messages below were generated by the user while running local commands",
	}, func(begin string) bool { return strings.HasPrefix(prompt, begin) })
}

// tasks reads a background_tasks snapshot. Of more than MaxTasks it keeps the running ones
// first.
func tasks(list gjson.Result) (all []Task) {
	list.ForEach(func(_, v gjson.Result) bool {
		if v.IsObject() {
			all = append(all, Task{
				ID:          member(v, "id", MaxID),
				Type:        member(v, "type", MaxID),
				Status:      member(v, "status", MaxID),
				Description: Cut(clean(v.Get("description").Raw), MaxSummary),
			})
		}
		return true
	})
	for i := len(all) - 1; i >= 0 && len(all) > MaxTasks; i-- {
		if all[i].Status != "running" {
			all = slices.Delete(all, i, i+1)
		}
	}
	return all[:min(len(all), MaxTasks)]
}

func (p Members) tool(e *Event) {
	e.Tool.Name = cmp.Or(p.clean("tool_name", MaxID), p.clean("mcp_server_name", MaxID))
	e.Tool.UseID = p.text("tool_use_id", MaxID)
	if e.Kind == Elicitation || e.Kind == ElicitationResult {
		e.Tool.UseID = p.text("elicitation_id", MaxID)
	}
	input := p.Input()
	if input.Exists() {
		e.Tool.Hash = Hash(input.Raw)
	}
	if p.Text("tool_name").Exists() {
		e.Tool.Summary = summary(e.Tool.Name, input, e.Cwd)
	}
	ms := p.last("duration_ms", func(v gjson.Result) bool { return v.Type == gjson.Number })
	e.Tool.Ms = max(ms.Int(), 0)
}

// Hash returns a 64-bit hash of s as 16 hexadecimal digits: the same on every machine, and in
// every version, since session files and history contain it. It distinguishes the inputs of
// calls; it resists chance, not malice.
func Hash(s string) string {
	hex := strconv.FormatUint(xxhash.Sum64String(s), 16)
	return strings.Repeat("0", 16-len(hex)) + hex
}

const (
	// maxClean is how much of a text is redacted, in bytes: more than an event stores of any.
	maxClean = 16 << 10
	// longWord is the length in bytes from which half of a word may be a secret.
	longWord = 16
)

const white = " \t\r\n"

// clean returns the head of a string token, redacted. A cut may have gone through a secret, so
// half of a long last word is removed, too.
func clean(raw string) string {
	s := jsonenc.Unquote(raw, maxClean+utf8.UTFMax)
	if len(s) <= maxClean {
		return redact.Text(s)
	}
	s = redact.Text(Cut(s, maxClean))
	if i := strings.LastIndexAny(s, white) + 1; len(s)-i >= longWord {
		return s[:i] + "…"
	}
	return s
}

// cleanTail returns the tail of a text, redacted, without the rest of a word that the cut went
// through.
func cleanTail(s string) string {
	if len(s) <= maxClean {
		return redact.Text(s)
	}
	const longest = 512 // of the rest of a secret
	s = redact.Text(CutTail(s, maxClean))
	i := 0
	for i < len(s) && i < longest && ' ' < s[i] && s[i] < utf8.RuneSelf {
		i++
	}
	if i >= longWord {
		return "…" + s[i:]
	}
	return s
}
