package event

import (
	"io"
	"strconv"
	"strings"
	"unsafe"

	"beckon/event/jsonenc"

	"github.com/tidwall/gjson"
)

// field is one thing an Event takes from a payload.
type field uint8

const (
	fNone field = iota
	fName
	fSession
	fNewSession // the session's id where the same member is another id in other events
	fPromptID
	fTranscript
	fCwd
	fNewCwd
	fRoots // a list of directories, the first is the cwd
	fMode
	fModel
	fTitle // the session's name
	fNewModel
	fEffort
	fAgentID
	fAgentType
	fSource
	fReason
	fError
	fDetails
	fPrompt
	fMessage
	fNotice
	fNotification
	fStopHook
	fInterrupt
	fBackground
	fCrons
	fTool
	fUseID
	fFormID
	fInput
	fMs
	fTaskID
	fTaskSubject
	fServer
	fSchema
	fSuggestions
	numFields
)

// fits reports whether v has the type of field f. A member of another type
// counts as absent.
func (f field) fits(v gjson.Result) bool {
	switch f {
	case fStopHook, fInterrupt:
		return v.IsBool()
	case fBackground, fCrons, fRoots, fSuggestions:
		return v.IsArray()
	case fSchema:
		return v.IsObject()
	case fInput:
		return v.Type != gjson.Null
	case fMs:
		return v.Type == gjson.Number
	}
	return v.Type == gjson.String
}

// values holds the raw text of every field found in one payload.
type values [numFields]string

// Parse reads one hook payload of the named agent ("" is Claude Code; see
// Agent). name is the event's name as the installed entry passed it, used when
// the payload has none. At, Via and Origin are left to the caller.
//
// It is total. Members that are absent, unknown or of another type than
// CONTRACT.md 11 says leave their field zero; an unknown event has
// Kind Unknown and its Name. Where keys are unique and the text is UTF-8 every
// field is what encoding/json reads, cut to its limit. The error of a payload
// that is not a JSON object is a *SyntaxError.
func Parse(agent, name string, payload []byte) (Event, error) {
	b, at, err := elideBytes(payload)
	if err != nil {
		return Event{}, err
	}
	return parse(agent, name, b, at)
}

// ParseReader is Parse on the first object that r gives, read as Read does. What
// follows it is not waited for: a client may keep its end of the pipe open.
func ParseReader(agent, name string, r io.Reader) (Event, error) {
	b, at, err := elideFirst(r)
	if err != nil {
		return Event{}, err
	}
	return parse(agent, name, b, at)
}

// parse reads valid JSON whose first byte stood at offset at of the input.
func parse(agentName, name string, payload []byte, at int64) (Event, error) {
	// Not a copy: nobody writes to payload any more, and no field of the Event
	// shares memory with it.
	v := gjson.Parse(unsafe.String(unsafe.SliceData(payload), len(payload)))
	if !v.IsObject() {
		return Event{}, &SyntaxError{"payload is no object", at}
	}
	a := agentByName(agentName)
	var p values
	p.collect(a, "", v)
	e := Event{Agent: Agent(agentName), Name: p.text(fName, MaxID)}
	if e.Name == "" {
		e.Name = Cut(strings.ToValidUTF8(name, "\ufffd"), MaxID)
	}
	e.Kind, e.FromClient = a.kind(e.Name)
	p.session(&e)
	p.said(&e, a)
	p.background(&e)
	p.tool(&e)
	e.Ask = p.ask(&e)
	e.Answer = p.answer(&e)
	return e, nil
}

// collect notes the raw text of every member that a row of a names; the last
// of several counts.
func (p *values) collect(a *agent, prefix string, object gjson.Result) {
	object.ForEach(func(key, v gjson.Result) bool {
		f, inside := a.match(prefix, key.Str)
		if f != fNone && f.fits(v) {
			p[f] = v.Raw
		}
		if inside != "" && v.IsObject() {
			p.collect(a, inside, v)
		}
		return true
	})
}

// parts returns the JSON text of a string field: the whole as head, or what an
// elision left of it.
func (p *values) parts(f field) (head, tail string, elided bool) {
	raw := p[f]
	if !jsonenc.IsString(raw) {
		return "", "", false
	}
	return cutMark(raw[1 : len(raw)-1])
}

// text returns the head of a string field.
func (p *values) text(f field, max int) string {
	head, _, _ := p.parts(f)
	return jsonenc.Unescape(head, max)
}

func (p *values) session(e *Event) {
	e.SessionID = p.text(fSession, MaxID)
	if e.SessionID == "" && (e.Kind == SessionStart || e.Kind == SessionEnd) {
		e.SessionID = p.text(fNewSession, MaxID)
	}
	e.PromptID = p.text(fPromptID, MaxID)
	e.TranscriptPath = p.text(fTranscript, MaxPath)
	e.Cwd = p.cwd(e.Kind)
	e.PermissionMode = p.text(fMode, MaxID)
	e.Model = p.text(fModel, MaxID)
	e.Title = p.text(fTitle, MaxID)
	if e.Kind == PostModelSwitch && p[fNewModel] != "" {
		e.Model = p.text(fNewModel, MaxID)
	}
	e.Effort = p.text(fEffort, MaxID)
	e.AgentID = p.text(fAgentID, MaxID)
	e.AgentType = p.text(fAgentType, MaxID)
}

func (p *values) cwd(k Kind) string {
	if k == CwdChanged && p[fNewCwd] != "" {
		return p.text(fNewCwd, MaxPath)
	}
	if p[fCwd] == "" && p[fRoots] != "" {
		return jsonenc.Unquote(gjson.Get(p[fRoots], "0").Raw, MaxPath)
	}
	return p.text(fCwd, MaxPath)
}

func (p *values) said(e *Event, a *agent) {
	e.Source = p.text(fSource, MaxID)
	e.Reason = p.clean(fReason, MaxText)
	e.Details = p.clean(fDetails, MaxText)
	switch e.Kind {
	case StopFailure:
		e.Reason = p.clean(fError, MaxText)
	case PostToolUseFailure:
		e.Details = firstLine(p.clean(fError, MaxText))
	}
	if e.Kind == UserPromptSubmit || e.Kind == UserPromptExpansion {
		e.Prompt = p.prompt()
		e.FromClient = e.FromClient || fromClient(e.Prompt)
	}
	e.Message = p.message()
	e.Notification = a.notice(p.text(fNotification, MaxID))
	e.StopHook = p[fStopHook] == "true"
	e.IsInterrupt = p[fInterrupt] == "true"
	e.TaskN = Todo{ID: p.text(fTaskID, MaxID), Subject: p.clean(fTaskSubject, MaxText)}
}

// prompt returns the head of the prompt, without the space around it.
func (p *values) prompt() string {
	return Cut(strings.TrimSpace(p.clean(fPrompt, -1)), MaxPrompt)
}

// fromClient reports whether the client wrote the prompt itself (CASE 9).
func fromClient(prompt string) bool {
	return strings.HasPrefix(prompt, "<task-notification>") ||
		strings.HasPrefix(prompt, "<system-reminder>") ||
		strings.HasPrefix(prompt, "[Request interrupted by user")
}

// message returns the tail of the agent's last words, else the head of a
// notification's.
func (p *values) message() string {
	if p[fMessage] == "" {
		return p.clean(fNotice, MaxText)
	}
	text, tail, elided := p.parts(fMessage)
	if elided {
		return CutTail(cleanTail(jsonenc.Unescape(tail, -1)), MaxMessage)
	}
	return CutTail(cleanHead(jsonenc.Unescape(text, -1), false), MaxMessage)
}

func (p *values) background(e *Event) {
	e.HasBackground = p[fBackground] != ""
	if e.HasBackground {
		e.Background = tasks(gjson.Parse(p[fBackground]))
	}
	if p[fCrons] != "" {
		gjson.Parse(p[fCrons]).ForEach(func(_, _ gjson.Result) bool {
			e.Crons++
			return true
		})
	}
}

// tasks reads a background_tasks snapshot. Of more than MaxTasks the running
// ones are kept first.
func tasks(list gjson.Result) []Task {
	var all []Task
	running := 0
	list.ForEach(func(_, v gjson.Result) bool {
		if v.IsObject() {
			all = append(all, task(v))
			if all[len(all)-1].Status == "running" {
				running++
			}
		}
		return true
	})
	if len(all) <= MaxTasks {
		return all
	}
	kept := make([]Task, 0, MaxTasks)
	others := MaxTasks - min(running, MaxTasks)
	for _, t := range all {
		switch {
		case len(kept) == MaxTasks:
		case t.Status == "running":
			kept = append(kept, t)
		case others > 0:
			others--
			kept = append(kept, t)
		}
	}
	return kept
}

func task(v gjson.Result) Task {
	var t Task
	v.ForEach(func(key, v gjson.Result) bool {
		if v.Type != gjson.String {
			return true
		}
		switch key.Str {
		case "id":
			t.ID = jsonenc.Unquote(v.Raw, MaxID)
		case "type":
			t.Type = jsonenc.Unquote(v.Raw, MaxID)
		case "status":
			t.Status = jsonenc.Unquote(v.Raw, MaxID)
		case "description":
			t.Description = Cut(clean(v.Raw), MaxSummary)
		}
		return true
	})
	return t
}

func (p *values) tool(e *Event) {
	e.Tool.Name = p.text(fTool, MaxID)
	if e.Tool.Name == "" {
		e.Tool.Name = p.text(fServer, MaxID)
	}
	e.Tool.UseID = p.text(fUseID, MaxID)
	if e.Kind == Elicitation || e.Kind == ElicitationResult {
		e.Tool.UseID = p.text(fFormID, MaxID)
	}
	if p[fInput] != "" {
		e.Tool.Hash = hashOf(p[fInput])
	}
	if p[fTool] != "" {
		e.Tool.Summary = summary(e.Tool.Name, gjson.Parse(p[fInput]), e.Cwd)
	}
	e.Tool.Ms = millis(p[fMs])
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
