package state

import (
	"cmp"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/jsonenc"
)

// Apply folds c into s and returns the result; s is not modified and nothing
// is shared with it that a later Apply would write to. It never fails: a
// change that says nothing about the session only moves its counters.
func Apply(s Session, c Change) Session {
	s, _ = ApplyTurns(s, c)
	return s
}

// ApplyTurns is Apply, and returns what was said by the change as well. Each
// turn belongs into the journal on a line of its own, behind c's.
func ApplyTurns(s Session, c Change) (Session, []Turn) {
	f := fold{s: clone(s), at: c.At, seq: c.Seq}
	f.s.Schema = Schema
	f.s.Seq = max(f.s.Seq, c.Seq)
	if f.s.Created == 0 {
		f.s.Created = c.At
	}
	switch {
	case c.Event != nil:
		f.event(c.Event)
	case c.Observation != nil:
		f.observe(c.Observation)
	case c.Action != nil:
		f.act(c.Action)
	case c.Turn != nil:
		f.told(c.Turn)
	}
	f.s.Updated = max(f.s.Updated, c.At)
	bound(&f.s)
	for i := range f.turns {
		f.turns[i].Task = f.s.Task.Now()
	}
	return f.s, f.turns
}

// fold is one Apply under way.
type fold struct {
	s     Session
	at    event.Millis
	seq   int64 // of the change's journal line
	turns []Turn
}

// clone copies the parts of s that a fold writes through. Stop.Background is
// not among them: it is only ever replaced.
func clone(s Session) Session {
	s.Actors = slices.Clone(s.Actors)
	for i := range s.Actors {
		s.Actors[i].Calls = slices.Clone(s.Actors[i].Calls)
	}
	s.Closed = slices.Clone(s.Closed)
	s.Recent = slices.Clone(s.Recent)
	s.Seeing = slices.Clone(s.Seeing)
	s.Todos.Open = slices.Clone(s.Todos.Open)
	return s
}

func (f *fold) event(e *event.Event) {
	if e.At > 0 && f.s.Activity-e.At > late {
		rewind(&f.s, e.At)
	}
	if f.duplicate(e) {
		return
	}
	f.metadata(e)
	f.s.Counts.Events++
	if e.At >= f.s.Last.At {
		f.s.Last = Mark{At: e.At, Reason: e.Name}
	}
	if e.Kind.Activity() {
		f.s.Activity = max(f.s.Activity, e.At)
		f.revive(e)
	}
	if h := handlers(e.Kind); h != nil {
		h(f, e)
	}
	f.settle(e.Kind.Activity() && e.Kind != event.UserPromptSubmit && e.Kind != event.SessionStart)
}

// late is by how much, in milliseconds, an event may be overtaken: one that was
// spooled is late by seconds. More than that is no lateness: the clock was set
// back.
const late = 60_000

// rewind moves what s knows to have happened after t to just before it, in
// its order, so that events of the new clock count. How long ago it was is
// lost.
func rewind(s *Session, t event.Millis) {
	seq, offset, counts, until := s.Seq, s.Offset, s.Counts, s.Backburner.Until
	var after []*int64
	eachInt64(s, func(p *int64) {
		if *p > int64(t) {
			after = append(after, p)
		}
	})
	slices.SortFunc(after, func(a, b *int64) int { return cmp.Compare(*b, *a) })
	at, was := int64(t), int64(0)
	for _, p := range after {
		if *p != was {
			at, was = at-1, *p
		}
		*p = at
	}
	s.Seq, s.Offset, s.Counts, s.Backburner.Until = seq, offset, counts, until // no times of the past
}

// eachInt64 calls f for every int64 in r: its times, and a few numbers.
func eachInt64(r jsonenc.Record, f func(*int64)) {
	for _, m := range r.Fields() {
		switch p := m.Ptr.(type) {
		case *int64:
			f(p)
		case jsonenc.Record:
			eachInt64(p, f)
		case jsonenc.List:
			for i := range p.Len() {
				eachInt64(p.Item(i), f)
			}
		}
	}
}

// handlers returns what an event of kind k does to the facts, nil when it
// does nothing beyond metadata. A switch, not a map: a map would be built at
// every start of the hook.
func handlers(k event.Kind) func(*fold, *event.Event) {
	switch k {
	case event.SessionStart:
		return (*fold).sessionStart
	case event.SessionEnd:
		return (*fold).sessionEnd
	case event.UserPromptSubmit:
		return (*fold).prompt
	case event.PreToolUse:
		return (*fold).preTool
	case event.PermissionRequest:
		return (*fold).permission
	case event.PostToolUse, event.PostToolUseFailure, event.PermissionDenied:
		return (*fold).postTool
	case event.PostToolBatch:
		return (*fold).batch
	case event.Stop:
		return (*fold).stop
	case event.StopFailure:
		return (*fold).stopFailure
	case event.SubagentStart:
		return (*fold).subagentStart
	case event.SubagentStop:
		return (*fold).subagentStop
	case event.PreCompact:
		return (*fold).preCompact
	case event.PostCompact:
		return (*fold).postCompact
	case event.Notification:
		return (*fold).notification
	case event.Elicitation:
		return (*fold).elicitation
	case event.ElicitationResult:
		return (*fold).elicitationResult
	case event.TaskCreated, event.TaskCompleted:
		return (*fold).todo
	}
	return nil
}

// duplicate reports whether e is the copy that a second install of another
// origin sent (CASE 24). Identical events of one origin are never dropped:
// three identical parallel calls raise byte-identical PermissionRequests.
func (f *fold) duplicate(e *event.Event) bool {
	const window = 1000 // ms between the copies of one firing
	sig := signature(e)
	for i := range f.s.Recent {
		r := &f.s.Recent[i]
		if r.Sig == sig && r.Via != e.Via && !r.Paired && abs(r.At-e.At) < window {
			r.Paired = true
			return true
		}
	}
	// Twice the window: the copies of one firing may be folded in either order.
	f.s.Recent = slices.DeleteFunc(f.s.Recent, func(r Recent) bool { return r.At < e.At-2*window })
	f.s.Recent = keepLast(append(f.s.Recent, Recent{Sig: sig, Via: e.Via, At: e.At}), maxRecent)
	return false
}

// signature is a 64-bit FNV-1a over what tells two firings apart.
func signature(e *event.Event) string {
	h := uint64(14695981039346656037)
	for _, s := range [...]string{e.Name, e.AgentID, e.PromptID, e.Tool.UseID, e.Tool.Name, e.Tool.Hash,
		e.Source, e.Reason, e.Notification, e.Message, e.Prompt, e.TaskN.ID, e.Cwd} {
		for i := 0; i < len(s); i++ {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211 // fields do not run together
	}
	const digits = "0123456789abcdef"
	var out [16]byte
	for i := range out {
		out[i] = digits[h>>(60-4*i)&15]
	}
	return string(out[:])
}

// metadata refreshes what every event may carry, whatever the state (row A4).
// A subagent may work elsewhere (a worktree of its own) and in another mode:
// it does not speak for the session.
func (f *fold) metadata(e *event.Event) {
	s := &f.s
	speaks := e.At >= s.Last.At && e.AgentID == ""
	set := func(field *string, v string) {
		if v != "" && (speaks || *field == "") {
			*field = v
		}
	}
	set(&s.ID, e.SessionID)
	set(&s.Agent, e.Agent)
	set(&s.Cwd, e.Cwd)
	set(&s.Transcript, e.TranscriptPath)
	set(&s.Model, e.Model)
	set(&s.Mode, e.PermissionMode)
	set(&s.Effort, e.Effort)
	if o := e.Origin; o != nil && e.At >= s.OriginAt && (e.AgentID == "" || s.OriginAt == 0) {
		s.OriginAt = e.At
		s.Origin = *o
		if o.Seat != "" {
			s.Seat = o.Seat
		}
		if o.ProjectID != "" {
			s.ProjectID = o.ProjectID
		}
	}
}

// revive takes back a "lost" that a later event disproves. An ended session
// comes back by SessionStart alone (CASE 7).
func (f *fold) revive(e *event.Event) {
	if f.s.Lost.At != 0 && e.At > f.s.Lost.At {
		f.s.Lost = Mark{}
	}
	if f.s.Removed != 0 && e.At > f.s.Removed {
		f.s.Removed = 0
	}
}

// sessionStart begins a session, or goes on with one in a new process
// (resume). A start after compaction is neither: it leaves the turn as it is
// (CASE 5).
func (f *fold) sessionStart(e *event.Event) {
	if e.Source == "compact" {
		f.postCompact(e)
		return
	}
	f.end(e.At, EndStart)
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
	f.s.Todos = Todos{}
}

// sessionEnd ends the session. The user did it, so nothing is left unseen.
func (f *fold) sessionEnd(e *event.Event) {
	if e.At <= f.s.Start.At {
		return // the end of the run before a resume, told late
	}
	f.end(e.At, EndStop)
	f.s.End = Mark{At: e.At, Reason: e.Reason}
	f.s.Seen = max(f.s.Seen, e.At)
}

// prompt handles UserPromptSubmit. What the client writes itself is not the
// user: it keeps the backburner and every wait (CASE 9).
func (f *fold) prompt(e *event.Event) {
	main := f.main()
	if strings.HasPrefix(e.Prompt, "[Request interrupted") {
		return
	}
	if e.FromClient {
		main.work(e.At)
		if e.PromptID != "" && e.At >= f.s.Prompt.At {
			f.s.Prompt.ID = e.PromptID
		}
		return
	}
	if f.cutOff(e) {
		f.endActor(main, e.At-1, EndHalt)
	}
	fresh := !main.running()
	f.prompted(e, fresh)
	main.work(e.At)
	f.release(main, e.At)
	f.s.Seen = max(f.s.Seen, e.At)
	if b := &f.s.Backburner; b.At != 0 && e.At > b.At {
		b.Off = max(b.Off, e.At)
	}
	if e.At < f.s.Prompt.At {
		return
	}
	first := f.s.Prompt.First
	if fresh || first == 0 {
		first = e.At
		f.s.Counts.Turns++
	}
	f.s.Prompt = Prompt{At: e.At, ID: e.PromptID, Text: e.Prompt, First: first}
}

// cutOff reports whether the user's prompt e shows that the turn believed to
// run was interrupted, though nobody saw it: a prompt typed in the middle of a
// turn has the turn's prompt_id (CASE 12), one that opens a turn a new one.
func (f *fold) cutOff(e *event.Event) bool {
	p := &f.s.Prompt
	return f.main().running() && e.At > p.At && e.PromptID != "" && p.ID != "" && e.PromptID != p.ID
}

// preCompact opens a compaction of the main conversation. A subagent that
// compacts its own context only shows itself at work.
func (f *fold) preCompact(e *event.Event) {
	if e.AgentID != "" {
		f.actor(e).work(e.At)
		return
	}
	if e.At >= f.s.Compact.At {
		f.s.Compact.At, f.s.Compact.Reason = e.At, e.Source
	}
	if e.Source == "manual" {
		f.s.Seen = max(f.s.Seen, e.At)
	}
}

// postCompact closes a compaction: PostCompact, SessionStart source=compact.
func (f *fold) postCompact(e *event.Event) {
	if e.AgentID != "" {
		f.actor(e).work(e.At)
		return
	}
	f.s.Compact.Done = max(f.s.Compact.Done, e.At)
}

// endCompaction closes a compaction that began before t and was never told to
// be over: one that fails says nothing (CLIENT.md).
func (f *fold) endCompaction(t event.Millis) {
	if c := &f.s.Compact; c.At > c.Done && c.At < t {
		c.Done = t
	}
}

// notification takes what the client proves by one: idle_prompt that nothing
// of the turn runs (CASE 11), permission_prompt that an open call waits. The
// others prove nothing.
func (f *fold) notification(e *event.Event) {
	switch e.Notification {
	case "idle_prompt":
		f.idlePrompt(e)
	case "permission_prompt":
		f.promptShown(e)
	case "elicitation_complete", "elicitation_response":
		f.closeForms(f.main(), e.At)
	}
}

// idlePrompt ends whatever was believed to run or wait, save background
// agents: the prompt is idle while they work (FIELD.md section 2.3). Those
// that came after the snapshot are left to the agents that are in it.
func (f *fold) idlePrompt(e *event.Event) {
	main := f.main()
	if e.At <= main.Active {
		return
	}
	if main.running() {
		f.endActor(main, e.At, EndIdle)
	}
	f.endCompaction(e.At)
	agents := f.s.BackgroundAgents() > 0
	f.reconcile(e.At, func(a *Actor) bool {
		return f.s.listsRunning(a.ID) || (agents && a.Started > f.s.Stop.Snapshot)
	})
}

// todo counts the agent's own task list.
func (f *fold) todo(e *event.Event) {
	t := &f.s.Todos
	i := slices.Index(t.Open, e.TaskN.ID)
	switch {
	case e.Kind == event.TaskCreated && i < 0 && len(t.Open) < maxTodos:
		t.Open = append(t.Open, e.TaskN.ID)
	case e.Kind == event.TaskCreated && i < 0:
		t.Over++
	case e.Kind == event.TaskCompleted && i >= 0:
		t.Open = slices.Delete(t.Open, i, i+1)
		t.Done++
	case e.Kind == event.TaskCompleted && t.Over > 0:
		t.Over--
		t.Done++
	}
}

// act folds what the user did through beckon.
func (f *fold) act(a *Action) {
	s := &f.s
	switch a.Kind {
	case ActSeen:
		s.Seen = max(s.Seen, f.at)
	case ActBackburner:
		if f.at >= s.Backburner.At {
			s.Backburner.At, s.Backburner.Until = f.at, a.Until
		}
	case ActUnburner:
		s.Backburner.Off = max(s.Backburner.Off, f.at)
	case ActRemove:
		s.Removed = max(s.Removed, f.at)
	case ActDecided:
		if a.Decided != nil {
			f.decided(a.Decided)
		}
	}
}

// keepLast returns the newest n of list.
func keepLast[T any](list []T, n int) []T {
	if len(list) > n {
		return list[len(list)-n:]
	}
	return list
}

func abs(m event.Millis) event.Millis { return max(m, -m) }
