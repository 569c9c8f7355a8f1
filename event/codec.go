package event

import (
	"errors"

	"github.com/tidwall/gjson"

	"beckon/event/jsonenc"
)

var errNotAnEvent = errors.New("decoding event: not a JSON object")

// AppendJSON appends e as one JSON object, the body of a journal line. Zero
// fields are left out; bytes that are not UTF-8 are written as U+FFFD.
func AppendJSON(dst []byte, e *Event) []byte { return jsonenc.Append(dst, e) }

// DecodeJSON reads what AppendJSON wrote. Members it does not know and members
// of another type are skipped, so that an older binary reads a newer journal.
// It does not validate: v must come from valid JSON. The strings of the result
// share memory with v.
func DecodeJSON(v gjson.Result) (Event, error) {
	var e Event
	if !jsonenc.Decode(v, &e) {
		return Event{}, errNotAnEvent
	}
	return e, nil
}

// Fields is the table of a journal line's event.
func (e *Event) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "agent", Ptr: &e.Agent},
		{Key: "kind", Ptr: (*string)(&e.Kind)},
		{Key: "name", Ptr: &e.Name},
		{Key: "at", Ptr: (*int64)(&e.At)},
		{Key: "via", Ptr: &e.Via},
		{Key: "session_id", Ptr: &e.SessionID},
		{Key: "prompt_id", Ptr: &e.PromptID},
		{Key: "transcript", Ptr: &e.TranscriptPath},
		{Key: "cwd", Ptr: &e.Cwd},
		{Key: "mode", Ptr: &e.PermissionMode},
		{Key: "model", Ptr: &e.Model},
		{Key: "title", Ptr: &e.Title},
		{Key: "effort", Ptr: &e.Effort},
		{Key: "agent_id", Ptr: &e.AgentID},
		{Key: "agent_type", Ptr: &e.AgentType},
		{Key: "source", Ptr: &e.Source},
		{Key: "reason", Ptr: &e.Reason},
		{Key: "details", Ptr: &e.Details},
		{Key: "prompt", Ptr: &e.Prompt},
		{Key: "from_client", Ptr: &e.FromClient},
		{Key: "message", Ptr: &e.Message},
		{Key: "notification", Ptr: &e.Notification},
		{Key: "stop_hook", Ptr: &e.StopHook},
		{Key: "interrupt", Ptr: &e.IsInterrupt},
		{Key: "has_background", Ptr: &e.HasBackground},
		{Key: "background", Ptr: jsonenc.Slice(&e.Background)},
		{Key: "crons", Ptr: &e.Crons},
		{Key: "tool", Ptr: &e.Tool},
		{Key: "task", Ptr: &e.TaskN},
		{Key: "ask", Ptr: jsonenc.Pointer(&e.Ask)},
		{Key: "answer", Ptr: &e.Answer},
		{Key: "meaning", Ptr: jsonenc.Pointer(&e.Meaning)},
		{Key: "meter", Ptr: jsonenc.Pointer(&e.Meter)},
		{Key: "origin", Ptr: jsonenc.Pointer(&e.Origin)},
	}
}

// Fields is the table of Event.Meaning.
func (m *Meaning) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "intent", Ptr: &m.Intent},
		{Key: "rule", Ptr: &m.Rule},
		{Key: "confidence", Ptr: &m.Confidence},
		{Key: "question", Ptr: &m.Question},
	}
}

// Fields is the table of Event.Tool.
func (t *Tool) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "name", Ptr: &t.Name},
		{Key: "id", Ptr: &t.UseID},
		{Key: "hash", Ptr: &t.Hash},
		{Key: "summary", Ptr: &t.Summary},
		{Key: "ms", Ptr: &t.Ms},
	}
}

// Fields is the table of one entry of Event.Background.
func (t *Task) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "id", Ptr: &t.ID},
		{Key: "type", Ptr: &t.Type},
		{Key: "status", Ptr: &t.Status},
		{Key: "description", Ptr: &t.Description},
	}
}

// Fields is the table of Event.TaskN.
func (t *Todo) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "id", Ptr: &t.ID},
		{Key: "subject", Ptr: &t.Subject},
	}
}

// Fields is the table of Event.Origin, which a session keeps as well.
func (o *Origin) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "process", Ptr: &o.Process},
		{Key: "terminal", Ptr: &o.Terminal},
		{Key: "git", Ptr: &o.Git},
		{Key: "host", Ptr: &o.Host},
		{Key: "entry", Ptr: &o.Entry},
		{Key: "launcher", Ptr: &o.Launcher},
		{Key: "project", Ptr: &o.Project},
		{Key: "seat", Ptr: &o.Seat},
		{Key: "seat_at", Ptr: (*int64)(&o.SeatAt)},
		{Key: "part", Ptr: &o.Part},
		{Key: "project_id", Ptr: &o.ProjectID},
	}
}

// Fields is the table of Origin.Process.
func (p *Process) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "host", Ptr: &p.Host},
		{Key: "boot", Ptr: &p.Boot},
		{Key: "ns", Ptr: &p.NS},
		{Key: "pid", Ptr: &p.Pid},
		{Key: "machine", Ptr: &p.Machine},
		{Key: "start", Ptr: &p.Start},
	}
}

// Fields is the table of Origin.Terminal.
func (t *Terminal) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "kind", Ptr: &t.Kind},
		{Key: "id", Ptr: &t.ID},
		{Key: "tmux", Ptr: &t.Tmux},
		{Key: "outer", Ptr: &t.Outer},
		{Key: "ssh", Ptr: &t.SSH},
		{Key: "listen", Ptr: &t.Listen},
	}
}

// Fields is the table of Terminal.Tmux.
func (t *Tmux) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "socket", Ptr: &t.Socket},
		{Key: "server", Ptr: &t.Server},
		{Key: "pane", Ptr: &t.Pane},
		{Key: "session", Ptr: &t.Session},
	}
}

// Fields is the table of Origin.Git.
func (g *Git) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "branch", Ptr: &g.Branch},
		{Key: "head", Ptr: &g.Head},
		{Key: "repo", Ptr: &g.Repo},
		{Key: "worktree", Ptr: &g.Worktree},
		{Key: "common", Ptr: &g.Common},
		{Key: "linked", Ptr: &g.Linked},
	}
}
