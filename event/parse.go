package event

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"beckon/event/agents"
	"beckon/event/jsonenc"

	"github.com/tidwall/gjson"
)

// fits reports whether v has the type of field f. A member of another type
// counts as absent.
func fits(f agents.Field, v gjson.Result) bool {
	switch f {
	case agents.StopHook, agents.Interrupt:
		return v.IsBool()
	case agents.Background, agents.Crons, agents.Roots, agents.Suggestions, agents.Questions:
		return v.IsArray()
	case agents.Schema:
		return v.IsObject()
	case agents.Input:
		return v.Type != gjson.Null
	case agents.Ms:
		return v.Type == gjson.Number
	}
	return v.Type == gjson.String
}

// values are the raw texts of the fields found in one payload.
type values [agents.NumFields]string

// Parse parses one hook payload of the named agent ("" is Claude Code; see Agent). name is the
// event's name as the installed entry passed it, used if the payload has none. The caller sets
// At, Via and Origin.
//
// It is total. Members that are absent, unknown or of another type than CONTRACT.md 11 says
// leave their field zero; an unknown event has Kind Unknown and its Name. Where keys are
// unique and the text is UTF-8 every field is what encoding/json reads, cut to its limit. The
// error for a payload that is not a JSON object is a *SyntaxError.
func Parse(agent, name string, payload []byte) (Event, error) {
	b, at, err := elideBytes(payload)
	if err != nil {
		return parseCut(agent, name, b, err)
	}
	return parse(agent, name, b, at)
}

// ParseReader is Parse on the first object from r, read as Read does. It does not wait for
// more: a client may keep its end of the pipe open.
func ParseReader(agent, name string, r io.Reader) (Event, error) {
	b, at, err := elide(r, roomy, true)
	if err != nil {
		return parseCut(agent, name, b, err)
	}
	return parse(agent, name, b, at)
}

// cutShort is what a SyntaxError says of a payload whose end is missing.
const cutShort = "unexpected end"

// parseCut parses a payload whose end is missing, as err says, if it is about a turn or a
// session that ended: it names them before anything long, and without it the session would
// seem to work on. Any other event is refused, since a policy may need what is missing.
func parseCut(agent, name string, b []byte, err error) (Event, error) {
	given := func(key string) string {
		if raw := gjson.GetBytes(b, key).Raw; jsonenc.IsString(raw) {
			return raw
		}
		return `""`
	}
	event := given("hook_event_name")
	if named := jsonenc.Unquote(event, MaxID); named != "" {
		name = named
	}
	switch KindOf(agent, name) {
	case Stop, StopFailure, SubagentStop, SessionEnd:
	default:
		return Event{}, err
	}
	if given("session_id") == `""` {
		return Event{}, err
	}
	whole := "{"
	for _, key := range [...]string{"hook_event_name", "session_id", "agent_id", "transcript_path", "cwd"} {
		whole += `"` + key + `":` + given(key) + ","
	}
	e, _ := parse(agent, name, []byte(strings.TrimSuffix(whole, ",")+"}"), 0)
	return e, nil
}

// parse parses valid JSON whose first byte was at offset at of the input.
func parse(agentName, name string, payload []byte, at int64) (Event, error) {
	// Not a copy: nobody writes to payload any more, and no field of the Event shares memory
	// with it.
	v := gjson.Parse(unsafe.String(unsafe.SliceData(payload), len(payload)))
	if !v.IsObject() {
		return Event{}, &SyntaxError{"payload is not an object", at}
	}
	a := wordsOf(agentName)
	var p values
	p.collect(a, "", v)
	e := Event{Agent: Agent(agentName), Name: p.text(agents.EventName, MaxID)}
	if e.Name == "" {
		e.Name = Cut(strings.ToValidUTF8(name, "\ufffd"), MaxID)
	}
	e.Kind, e.Says = means(a, e.Name, v)
	if e.Says == agents.Client {
		e.Says, e.FromClient = "", true
	}
	p.session(&e)
	p.said(&e, a)
	p.background(&e)
	p.tool(&e)
	e.Ask = p.ask(&e, slices.Contains(a.Forms, e.Tool.Name))
	e.Answer = p.answer(&e)
	return e, nil
}

// collect stores the raw text of every member that a row of a names; the last of several
// counts.
func (p *values) collect(a *agents.Agent, prefix string, object gjson.Result) {
	object.ForEach(func(key, v gjson.Result) bool {
		f, inside := match(a, prefix, key.Str)
		if f != agents.None && fits(f, v) {
			p[f] = v.Raw
		}
		if inside != "" && v.IsObject() {
			p.collect(a, inside, v)
		}
		return true
	})
}

// parts returns the JSON text of a string token: the whole as head, or the two parts that an
// elision left.
func parts(raw string) (head, tail string, elided bool) {
	if !jsonenc.IsString(raw) {
		return "", "", false
	}
	return cutMark(raw[1 : len(raw)-1])
}

// text returns the head of a string field.
func (p *values) text(f agents.Field, max int) string {
	head, _, _ := parts(p[f])
	return jsonenc.Unescape(head, max)
}

// name returns the head of a string field that people, agents or servers choose, redacted
// before it is cut.
func (p *values) name(f agents.Field) string { return Cut(clean(p[f]), MaxID) }

// mainAgent is how agents without a table name the main conversation.
const mainAgent = "main"

func (p *values) session(e *Event) {
	e.SessionID = p.text(agents.Session, MaxID)
	if e.SessionID == "" && (e.Kind == SessionStart || e.Kind == SessionEnd) {
		e.SessionID = p.text(agents.NewSession, MaxID)
	}
	e.PromptID = p.text(agents.PromptID, MaxID)
	e.TranscriptPath = p.text(agents.Transcript, MaxPath)
	e.Cwd = p.cwd(e.Kind)
	e.PermissionMode = p.text(agents.Mode, MaxID)
	e.Model = p.name(agents.Model)
	e.Title = p.name(agents.Title)
	if e.Kind == PostModelSwitch && p[agents.NewModel] != "" {
		e.Model = p.name(agents.NewModel)
	}
	e.Effort = p.text(agents.Effort, MaxID)
	e.AgentID = p.text(agents.AgentID, MaxID)
	if e.AgentID == mainAgent && AgentOf(e.Agent) == nil {
		e.AgentID = ""
	}
	e.AgentType = p.name(agents.AgentType)
	p.child(e)
}

// child assigns the events of a subagent with a session of its own to the session that started
// it.
func (p *values) child(e *Event) {
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

func (p *values) cwd(k Kind) string {
	if k == CwdChanged && p[agents.NewCwd] != "" {
		return p.text(agents.NewCwd, MaxPath)
	}
	if p[agents.Cwd] == "" && p[agents.Roots] != "" {
		return jsonenc.Unquote(gjson.Get(p[agents.Roots], "0").Raw, MaxPath)
	}
	return p.text(agents.Cwd, MaxPath)
}

func (p *values) said(e *Event, a *agents.Agent) {
	e.Source = p.text(agents.Source, MaxID)
	e.Reason = Cut(clean(p[agents.Reason]), MaxText)
	e.Details = Cut(clean(p[agents.Details]), MaxText)
	switch e.Kind {
	case StopFailure:
		e.Reason = Cut(clean(p[agents.Error]), MaxText)
	case PostToolUseFailure:
		first, _, _ := strings.Cut(Cut(clean(p[agents.Error]), MaxText), "\n")
		e.Details, _, _ = strings.Cut(first, "\r")
	}
	if e.Kind == UserPromptSubmit || e.Kind == UserPromptExpansion {
		e.Prompt = Cut(strings.TrimSpace(clean(p[agents.Prompt])), MaxPrompt)
		e.FromClient = e.FromClient || fromClient(e.Prompt)
	}
	e.Message = p.message()
	e.Notification = notice(a, p.text(agents.Notification, MaxID))
	e.StopHook = p[agents.StopHook] == "true"
	e.IsInterrupt = p[agents.Interrupt] == "true"
	e.TaskN = Todo{ID: p.text(agents.TaskID, MaxID), Subject: Cut(clean(p[agents.TaskSubject]), MaxText)}
}

// fromClient reports whether the client wrote the prompt itself (CASE 9).
func fromClient(prompt string) bool {
	return strings.HasPrefix(prompt, "<task-notification>") ||
		strings.HasPrefix(prompt, "<system-reminder>") ||
		strings.HasPrefix(prompt, "[Request interrupted by user")
}

// message returns the tail of the agent's last words, else the head of a notification's text.
func (p *values) message() string {
	if p[agents.Message] == "" {
		return Cut(clean(p[agents.NoticeText]), MaxText)
	}
	text, tail, elided := parts(p[agents.Message])
	if elided {
		return CutTail(cleanTail(jsonenc.Unescape(tail, -1)), MaxMessage)
	}
	return CutTail(cleanHead(jsonenc.Unescape(text, -1), false), MaxMessage)
}

func (p *values) background(e *Event) {
	e.HasBackground = p[agents.Background] != ""
	if e.HasBackground {
		e.Background = tasks(gjson.Parse(p[agents.Background]))
	}
	e.Crons = int(gjson.Get(p[agents.Crons], "#").Int())
}

// tasks reads a background_tasks snapshot. Of more than MaxTasks it keeps the running ones
// first.
func tasks(list gjson.Result) []Task {
	var all []Task
	running := func(t Task) bool { return t.Status == "running" }
	others := MaxTasks // that are kept beside the running ones
	list.ForEach(func(_, v gjson.Result) bool {
		if v.IsObject() {
			t := Task{member(v, "id", MaxID), member(v, "type", MaxID), member(v, "status", MaxID), Cut(clean(v.Get("description").Raw), MaxSummary)}
			if running(t) {
				others--
			}
			all = append(all, t)
		}
		return true
	})
	runs := MaxTasks
	return slices.DeleteFunc(all, func(t Task) bool {
		left := &others
		if running(t) {
			left = &runs
		}
		*left--
		return *left < 0
	})
}

func (p *values) tool(e *Event) {
	e.Tool.Name = p.name(agents.Tool)
	if e.Tool.Name == "" {
		e.Tool.Name = p.name(agents.Server)
	}
	e.Tool.UseID = p.text(agents.UseID, MaxID)
	if e.Kind == Elicitation || e.Kind == ElicitationResult {
		e.Tool.UseID = p.text(agents.FormID, MaxID)
	}
	if p[agents.Input] != "" {
		e.Tool.Hash = hashOf(p[agents.Input])
	}
	if p[agents.Tool] != "" {
		e.Tool.Summary = summary(e.Tool.Name, gjson.Parse(p[agents.Input]), e.Cwd)
	}
	e.Tool.Ms = millis(p[agents.Ms])
}

// millis reads a duration: a whole number, or the whole part of another one.
func millis(raw string) int64 {
	n, err := strconv.ParseInt(raw, 10, 64)
	if err == nil {
		return max(n, 0)
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || f < 0 || f > 1<<53 {
		return 0
	}
	return int64(f)
}
