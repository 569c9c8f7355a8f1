package state

import (
	"cmp"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/agents"
)

// metadata updates the fields that every event may carry. Those of subagents, which may work
// elsewhere and in another mode, fill only empty fields.
func (f *fold) metadata(e *event.Event) {
	s := &f.s
	newest := e.At >= s.Last.At && e.AgentID == ""
	set := func(field *string, v string) {
		if v != "" && (newest || *field == "") {
			*field = v
		}
	}
	set(&s.ID, e.SessionID)
	set(&s.Agent, e.Agent)
	set(&s.Cwd, e.Cwd)
	set(&s.Transcript, e.TranscriptPath)
	set(&s.Model, e.Model)
	set(&s.Name, e.Title)
	set(&s.Mode, e.PermissionMode)
	if o := e.Origin; o != nil && e.At >= s.OriginAt && (e.AgentID == "" || s.OriginAt == 0) {
		s.OriginAt = e.At
		s.Origin = *o
		s.Seat, s.ProjectID, s.Part = cmp.Or(o.Seat, s.Seat), cmp.Or(o.ProjectID, s.ProjectID), cmp.Or(o.Part, s.Part)
	}
}

// sessionStart begins a session, or continues one in a new process (resume). A start after
// compaction does neither: the turn stays as it is.
func (f *fold) sessionStart(e *event.Event) {
	if c := f.s.Compact; e.Source == "compact" || e.Source == "" && c.At > c.Done && c.At > f.s.Main().Ended {
		f.postCompact(e)
		return
	}
	f.end(e.At, EndStart, nil)
	if e.At >= f.s.Start.At {
		f.s.Start = Mark{At: e.At, Reason: e.Source}
	}
	if e.At > f.s.Stop.Snapshot {
		f.s.Stop.Background, f.s.Stop.Crons = nil, 0
	}
	if e.At >= f.s.End.At {
		f.s.End = Mark{}
	}
	f.s.Seen = max(f.s.Seen, e.At)
	f.s.Denied = Denials{}
}

// sessionEnd ends the session. The user ended it, so nothing is left unseen.
func (f *fold) sessionEnd(e *event.Event) {
	if e.At <= f.s.Start.At {
		return // the end of the run before a resume, folded late
	}
	f.end(e.At, EndStop, nil)
	f.s.End = Mark{At: e.At, Reason: e.Reason}
	f.s.Seen = max(f.s.Seen, e.At)
}

// prompt handles UserPromptSubmit. After one that the client wrote itself the session stays set
// aside, and every wait open.
func (f *fold) prompt(e *event.Event) {
	main := f.main()
	if strings.HasPrefix(e.Prompt, "[Request interrupted") {
		return
	}
	if e.FromClient {
		main.work(e.At)
		f.s.Prompt.Own = max(f.s.Prompt.Own, e.At)
		if e.PromptID != "" && e.At >= f.s.Prompt.At {
			f.s.Prompt.ID = e.PromptID
		}
		return
	}
	// A prompt typed during a turn has the turn's prompt_id, one that opens a turn a new one.
	p := &f.s.Prompt
	if main.running() && e.At > p.At && e.PromptID != "" && p.ID != "" && e.PromptID != p.ID {
		f.endActor(main, e.At-1, EndHalt)
	}
	fresh := !main.running()
	f.prompted(e, fresh)
	main.work(e.At)
	f.release(main, e.At)
	f.s.Seen = max(f.s.Seen, e.At)
	if e.At > f.s.Undo.At {
		f.s.Undo = Undo{}
	}
	if b := &f.s.Backburner; b.At != 0 && e.At > b.At {
		b.Off = max(b.Off, e.At)
	}
	if e.At < f.s.Prompt.At {
		return
	}
	first := f.s.Prompt.First
	if fresh || first == 0 {
		first = e.At
		f.s.Denied = Denials{}
		f.s.Counts.Turns++
	}
	f.s.Prompt = Prompt{At: e.At, ID: e.PromptID, Text: e.Prompt, First: first, Own: f.s.Prompt.Own}
}

// preCompact opens a compaction.
func (f *fold) preCompact(e *event.Event) {
	if e.At >= f.s.Compact.At {
		f.s.Compact.At, f.s.Compact.Reason = e.At, e.Source
	}
	if e.Source == "manual" {
		f.s.Seen = max(f.s.Seen, e.At)
	}
}

// postCompact closes a compaction: PostCompact, or SessionStart with the source compact.
func (f *fold) postCompact(e *event.Event) { f.s.Compact.Done = max(f.s.Compact.Done, e.At) }

// endCompaction closes a compaction that began before t, and whose end no hook reported.
func (f *fold) endCompaction(t event.Millis) {
	if c := &f.s.Compact; c.At > c.Done && c.At < t {
		c.Done = t
	}
}

// notification handles the notifications that prove something by themselves.
func (f *fold) notification(e *event.Event) {
	if Still(e.Notification) && e.Notification != "idle_prompt" && e.At >= f.s.Raised.At {
		f.s.Raised = Mark{At: e.At, Reason: e.Notification, Detail: event.Cut(e.Message, event.MaxQuestion)}
	}
	switch e.Notification {
	case "idle_prompt":
		f.idlePrompt(e)
	case "permission_prompt", agents.Shown:
		f.callShown(e)
	case "worker_permission_prompt":
		f.dialogShown(e, WaitPermission)
	case "elicitation_dialog", "elicitation_url_dialog":
		f.dialogShown(e, WaitForm)
	case "elicitation_complete", "elicitation_response":
		main := f.main()
		main.Calls = slices.DeleteFunc(main.Calls, func(c Call) bool { return c.Kind == WaitForm && c.Asked < e.At })
	}
}

// Still reports whether a notification of that kind means that the client waits for a user who
// has not typed for six seconds.
func Still(kind string) bool {
	switch kind {
	case "permission_prompt", "worker_permission_prompt", "idle_prompt", "elicitation_dialog",
		"elicitation_url_dialog", "agent_needs_input":
		return true
	}
	return false
}

// idlePrompt ends whatever still seems to run or wait, except background agents: those that the
// snapshot lists, and if it lists any, those that started after it.
func (f *fold) idlePrompt(e *event.Event) {
	main := f.main()
	if e.At <= main.Active {
		return
	}
	if main.running() {
		f.endActor(main, e.At, EndIdle)
	}
	f.endCompaction(e.At)
	agents, _ := f.s.Background()
	f.reconcile(e.At, func(a *Actor) bool {
		return f.s.listsRunning(a.ID) || (agents > 0 && a.Started > f.s.Stop.Snapshot)
	})
}

// maxLabel is how long a label may be, in bytes.
const maxLabel = 64

// act folds what the user did through beckon.
func (f *fold) act(a *Action) {
	s := &f.s
	was := Undo{At: f.at, Kind: a.Kind, Seen: s.Seen, Backburner: s.Backburner, Removed: s.Removed}
	switch a.Kind {
	case ActSeen:
		s.Seen = max(s.Seen, f.at)
	case ActBackburner:
		if f.at >= s.Backburner.At {
			s.Backburner.At, s.Backburner.Until = f.at, a.Until
		}
	case ActBackburnerOff:
		s.Backburner.Off = max(s.Backburner.Off, f.at)
	case ActRemove:
		s.Removed = max(s.Removed, f.at)
	case ActLabel:
		s.Label = event.Cut(a.Label, maxLabel)
	case ActUndo:
		f.undo()
		return
	case ActDecided:
		if a.Decided != nil {
			f.decided(a.Decided)
		}
		return
	}
	looked := s.Seen != was.Seen && s.Main().Ended > was.Seen // else nothing was new
	if looked || s.Backburner != was.Backburner || s.Removed > was.Removed {
		s.Undo = was
	}
}

// NewestMark returns the user's newest mark that can be undone, and the sessions that it changed.
func NewestMark(all []Seen) (u Undo, marked []Seen) {
	for _, v := range all {
		if v.Session.Undo.At > u.At {
			u, marked = v.Session.Undo, nil
		}
		if u.At != 0 && v.Session.Undo.At == u.At {
			marked = append(marked, v)
		}
	}
	return u, marked
}

// undo restores what the newest mark changed, unless something newer has changed it.
func (f *fold) undo() {
	s, u := &f.s, f.s.Undo
	if s.Seen == u.At {
		s.Seen = u.Seen
	}
	if max(s.Backburner.At, s.Backburner.Off) == u.At {
		s.Backburner = u.Backburner
	}
	if s.Removed == u.At {
		s.Removed = u.Removed
	}
	s.Undo = Undo{}
}
