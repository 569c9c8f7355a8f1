package state

import (
	"errors"

	"beckon/event/jsonenc"

	"github.com/tidwall/gjson"
)

// The session file is read and written at every hook. encoding/json would
// cost a tenth of a process start in reflection, so each record lists its
// members once, for both directions (package jsonenc). A test holds the
// result equal to encoding/json's.

// ErrNotSession is returned for bytes that are no session file.
var ErrNotSession = errors.New("not a session file")

// ErrNewerSchema is returned for a session written by a newer version. Such a
// file is left untouched.
var ErrNewerSchema = errors.New("session file of a newer version")

// AppendJSON appends s as one line of JSON, without a newline.
func AppendJSON(dst []byte, s *Session) []byte { return jsonenc.Append(dst, s) }

// DecodeJSON reads what AppendJSON or encoding/json wrote. Unknown members
// are skipped; a newer schema is ErrNewerSchema.
func DecodeJSON(data []byte) (Session, error) {
	var s Session
	if !gjson.ValidBytes(data) || !jsonenc.Decode(gjson.ParseBytes(data), &s) {
		return Session{}, ErrNotSession
	}
	switch {
	case s.Schema > Schema:
		return Session{}, ErrNewerSchema
	case s.Schema <= 0:
		return Session{}, ErrNotSession
	}
	return s, nil
}

// Fields is the table of a Session's members.
func (s *Session) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "schema", Ptr: &s.Schema},
		{Key: "session_id", Ptr: &s.ID},
		{Key: "part", Ptr: &s.Part},
		{Key: "agent", Ptr: &s.Agent},
		{Key: "seat_id", Ptr: &s.Seat},
		{Key: "project_id", Ptr: &s.ProjectID},
		{Key: "seq", Ptr: &s.Seq},
		{Key: "offset", Ptr: &s.Offset},
		{Key: "created_at", Ptr: (*int64)(&s.Created)},
		{Key: "updated_at", Ptr: (*int64)(&s.Updated)},
		{Key: "activity_at", Ptr: (*int64)(&s.Activity)},
		{Key: "origin", Ptr: &s.Origin},
		{Key: "origin_at", Ptr: (*int64)(&s.OriginAt)},
		{Key: "cwd", Ptr: &s.Cwd},
		{Key: "transcript_path", Ptr: &s.Transcript},
		{Key: "model", Ptr: &s.Model},
		{Key: "name", Ptr: &s.Name},
		{Key: "permission_mode", Ptr: &s.Mode},
		{Key: "effort", Ptr: &s.Effort},
		{Key: "start", Ptr: &s.Start},
		{Key: "end", Ptr: &s.End},
		{Key: "lost", Ptr: &s.Lost},
		{Key: "prompt", Ptr: &s.Prompt},
		{Key: "stop", Ptr: &s.Stop},
		{Key: "task", Ptr: &s.Task},
		{Key: "progress_at", Ptr: (*int64)(&s.Progress)},
		{Key: "failure", Ptr: &s.Failure},
		{Key: "compact", Ptr: &s.Compact},
		{Key: "seen_at", Ptr: (*int64)(&s.Seen)},
		{Key: "backburner", Ptr: &s.Backburner},
		{Key: "removed_at", Ptr: (*int64)(&s.Removed)},
		{Key: "actors", Ptr: jsonenc.Slice(&s.Actors)},
		{Key: "closed", Ptr: jsonenc.Slice(&s.Closed)},
		{Key: "recent", Ptr: jsonenc.Slice(&s.Recent)},
		{Key: "observed", Ptr: jsonenc.Slice(&s.Seeing)},
		{Key: "todos", Ptr: &s.Todos},
		{Key: "counts", Ptr: &s.Counts},
		{Key: "meter", Ptr: &s.Meter},
		{Key: "raised", Ptr: &s.Raised},
		{Key: "last", Ptr: &s.Last},
	}
}

// Fields is the table of a Mark's members.
func (m *Mark) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "at", Ptr: (*int64)(&m.At)},
		{Key: "reason", Ptr: &m.Reason},
		{Key: "detail", Ptr: &m.Detail},
	}
}

// Fields is the table of a Span's members.
func (p *Span) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "at", Ptr: (*int64)(&p.At)},
		{Key: "done", Ptr: (*int64)(&p.Done)},
		{Key: "reason", Ptr: &p.Reason},
	}
}

// Fields is the table of a Prompt's members.
func (p *Prompt) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "at", Ptr: (*int64)(&p.At)},
		{Key: "id", Ptr: &p.ID},
		{Key: "text", Ptr: &p.Text},
		{Key: "first", Ptr: (*int64)(&p.First)},
	}
}

// Fields is the table of a Stop's members.
func (p *Stop) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "at", Ptr: (*int64)(&p.At)},
		{Key: "message", Ptr: &p.Message},
		{Key: "intent", Ptr: (*string)(&p.Intent)},
		{Key: "confidence", Ptr: &p.Confidence},
		{Key: "rule", Ptr: &p.Rule},
		{Key: "question", Ptr: &p.Question},
		{Key: "asked", Ptr: (*int64)(&p.Asked)},
		{Key: "snapshot", Ptr: (*int64)(&p.Snapshot)},
		{Key: "background", Ptr: jsonenc.Slice(&p.Background)},
		{Key: "crons", Ptr: &p.Crons},
	}
}

// Fields is the table of a Task's members.
func (t *Task) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "id", Ptr: &t.ID},
		{Key: "state", Ptr: (*string)(&t.State)},
		{Key: "started", Ptr: (*int64)(&t.Started)},
		{Key: "ended", Ptr: (*int64)(&t.Ended)},
	}
}

// Fields is the table of a Turn's members.
func (t *Turn) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "command_id", Ptr: &t.Command},
		{Key: "actor", Ptr: (*string)(&t.Actor)},
		{Key: "intent", Ptr: (*string)(&t.Intent)},
		{Key: "confidence", Ptr: &t.Confidence},
		{Key: "rule", Ptr: &t.Rule},
		{Key: "text", Ptr: &t.Text},
		{Key: "timestamp", Ptr: (*int64)(&t.At)},
		{Key: "timestamp_source", Ptr: (*string)(&t.Source)},
		{Key: "task", Ptr: (*string)(&t.Task)},
		{Key: "refused", Ptr: &t.Refused},
	}
}

// Fields is the table of a Backburner's members.
func (b *Backburner) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "at", Ptr: (*int64)(&b.At)},
		{Key: "until", Ptr: (*int64)(&b.Until)},
		{Key: "off", Ptr: (*int64)(&b.Off)},
	}
}

// Fields is the table of a Actor's members.
func (a *Actor) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "id", Ptr: &a.ID},
		{Key: "type", Ptr: &a.Type},
		{Key: "started", Ptr: (*int64)(&a.Started)},
		{Key: "active", Ptr: (*int64)(&a.Active)},
		{Key: "ended", Ptr: (*int64)(&a.Ended)},
		{Key: "how", Ptr: &a.How},
		{Key: "calls", Ptr: jsonenc.Slice(&a.Calls)},
	}
}

// Fields is the table of a Call's members.
func (c *Call) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "id", Ptr: &c.UseID},
		{Key: "name", Ptr: &c.Name},
		{Key: "hash", Ptr: &c.Hash},
		{Key: "summary", Ptr: &c.Summary},
		{Key: "at", Ptr: (*int64)(&c.At)},
		{Key: "kind", Ptr: (*string)(&c.Kind)},
		{Key: "asked", Ptr: (*int64)(&c.Asked)},
		{Key: "requested", Ptr: &c.Requested},
		{Key: "answered", Ptr: (*int64)(&c.Answered)},
		{Key: "ask", Ptr: jsonenc.Pointer(&c.Ask)},
	}
}

// Fields is the table of a Closed's members.
func (c *Closed) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "id", Ptr: &c.UseID},
		{Key: "actor", Ptr: &c.Actor},
		{Key: "hash", Ptr: &c.Hash},
		{Key: "at", Ptr: (*int64)(&c.At)},
		{Key: "requested", Ptr: &c.Requested},
	}
}

// Fields is the table of a Recent's members.
func (r *Recent) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "sig", Ptr: &r.Sig},
		{Key: "via", Ptr: &r.Via},
		{Key: "at", Ptr: (*int64)(&r.At)},
		{Key: "paired", Ptr: &r.Paired},
	}
}

// Fields is the table of a Observed's members.
func (o *Observed) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "source", Ptr: (*string)(&o.Source)},
		{Key: "what", Ptr: (*string)(&o.What)},
		{Key: "at", Ptr: (*int64)(&o.At)},
		{Key: "detail", Ptr: &o.Detail},
	}
}

// Fields is the table of a Todos's members.
func (t *Todos) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "open", Ptr: &t.Open},
		{Key: "done", Ptr: &t.Done},
		{Key: "over", Ptr: &t.Over},
	}
}

// Fields is the table of a Counts's members.
func (c *Counts) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "events", Ptr: &c.Events},
		{Key: "turns", Ptr: &c.Turns},
		{Key: "tools", Ptr: &c.Tools},
		{Key: "failures", Ptr: &c.Failures},
		{Key: "permissions", Ptr: &c.Permissions},
		{Key: "questions", Ptr: &c.Questions},
		{Key: "subagents", Ptr: &c.Subagents},
	}
}

// Fields is the table of a Action's members.
func (a *Action) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "kind", Ptr: (*string)(&a.Kind)},
		{Key: "until", Ptr: (*int64)(&a.Until)},
		{Key: "decided", Ptr: jsonenc.Pointer(&a.Decided)},
	}
}

// Fields is the table of a Decided's members.
func (d *Decided) Fields() []jsonenc.Field {
	return []jsonenc.Field{
		{Key: "event", Ptr: (*string)(&d.Event)},
		{Key: "of", Ptr: (*int64)(&d.Of)},
		{Key: "word", Ptr: &d.Word},
		{Key: "agent_id", Ptr: &d.AgentID},
		{Key: "id", Ptr: &d.UseID},
		{Key: "tool", Ptr: &d.Tool},
		{Key: "hash", Ptr: &d.Hash},
		{Key: "new", Ptr: &d.NewHash},
		{Key: "summary", Ptr: &d.Summary},
		{Key: "by", Ptr: &d.By},
		{Key: "from", Ptr: &d.From},
		{Key: "waited_ms", Ptr: (*int64)(&d.Waited)},
	}
}
