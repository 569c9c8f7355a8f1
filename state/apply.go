package state

import (
	"slices"
	"strings"

	"beckon/event"
)

// Apply folds c into s and returns the result; s is not modified and nothing
// is shared with it that a later Apply would write to. It never fails: a
// change that says nothing about the session only moves its counters.
func Apply(s Session, c Change) Session {
	f := fold{s: clone(s), at: c.At}
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
	}
	f.s.Updated = max(f.s.Updated, c.At)
	bound(&f.s)
	return f.s
}

// fold is one Apply under way.
type fold struct {
	s  Session
	at event.Millis
}

// clone copies the parts of s that a fold writes through.
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
func (f *fold) metadata(e *event.Event) {
	s := &f.s
	set := func(field *string, v string) {
		if v != "" && e.At >= s.Last.At {
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
	if o := e.Origin; o != nil && e.At >= s.OriginAt {
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

// end ends every actor's turn at t.
func (f *fold) end(t event.Millis, how string) {
	f.main()
	for i := range f.s.Actors {
		f.endActor(&f.s.Actors[i], t, how)
	}
	f.forget()
}

// endActor ends one actor's turn at t and closes the calls opened before.
//
// A reader may see the turn over before its Stop is folded. The Stop then says
// how it ended, though it began a little earlier.
func (f *fold) endActor(a *Actor, t event.Millis, how string) {
	explains := a.How == EndHalt && (how == EndStop || how == EndFailure) && t >= a.Active
	if t >= a.Ended || explains {
		a.Ended, a.How = t, how
	}
	a.Calls = slices.DeleteFunc(a.Calls, func(c Call) bool {
		gone := c.At <= t
		if gone {
			f.bury(a.ID, c, t)
		}
		return gone
	})
}

func (f *fold) sessionEnd(e *event.Event) {
	if e.At <= f.s.Start.At {
		return // the end of the run before a resume, told late
	}
	f.end(e.At, EndStop)
	f.s.End = Mark{At: e.At, Reason: e.Reason}
}

// prompt handles UserPromptSubmit. What the client writes itself is not the
// user: it keeps the backburner and every wait (CASE 9).
func (f *fold) prompt(e *event.Event) {
	main := f.main()
	if strings.HasPrefix(e.Prompt, "[Request interrupted") {
		return
	}
	fresh := !main.running()
	main.Active = max(main.Active, e.At)
	if e.FromClient {
		return
	}
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

// release ends the waits of a that were asked before t. A call that only its
// PermissionRequest spoke of goes with its wait.
func (f *fold) release(a *Actor, t event.Millis) {
	a.Calls = slices.DeleteFunc(a.Calls, func(c Call) bool {
		return c.UseID == "" && c.Asked != 0 && c.Asked < t
	})
	for i := range a.Calls {
		if c := &a.Calls[i]; c.waiting() && c.Asked < t {
			c.Answered = t
		}
	}
}

// preTool opens a call, unless it is known to be closed already.
func (f *fold) preTool(e *event.Event) {
	a := f.actor(e)
	f.s.Counts.Tools++
	if f.buried(e.Tool.UseID) || e.At <= a.Ended {
		return
	}
	a.Active = max(a.Active, e.At)
	c := f.call(a, e.Tool.UseID)
	if c == nil {
		c = orphan(a, e)
	}
	if c == nil {
		a.Calls = append(a.Calls, Call{})
		c = &a.Calls[len(a.Calls)-1]
	}
	c.UseID, c.Name, c.Hash, c.Summary = e.Tool.UseID, e.Tool.Name, e.Tool.Hash, e.Tool.Summary
	c.At = e.At
	if k := asksByItself(e.Tool.Name); k != "" && c.Asked == 0 {
		c.Kind, c.Asked = k, e.At
		f.s.Counts.Questions++
	}
}

// asksByItself returns what the user is asked when the tool is called at all.
// EnterPlanMode waits only if a PermissionRequest follows (CLIENT.md).
func asksByItself(tool string) WaitKind {
	switch tool {
	case "AskUserQuestion":
		return WaitQuestion
	case "ExitPlanMode":
		return WaitPlan
	}
	return ""
}

// waitKind returns what a PermissionRequest for the tool asks of the user
// (CASE 4).
func waitKind(tool string) WaitKind {
	if k := asksByItself(tool); k != "" {
		return k
	}
	if tool == "EnterPlanMode" {
		return WaitPlan
	}
	return WaitPermission
}

// orphan finds the wait whose PermissionRequest overtook its PreToolUse e.
func orphan(a *Actor, e *event.Event) *Call {
	for i := range a.Calls {
		if c := &a.Calls[i]; c.UseID == "" && c.Requested && same(c.Name, c.Hash, e) {
			return c
		}
	}
	return nil
}

func same(name, hash string, e *event.Event) bool {
	return name == e.Tool.Name && hash == e.Tool.Hash
}

// permission pairs a PermissionRequest, which carries no tool_use_id, with
// the newest open call of the same actor, tool and input that has no request
// yet (CASE 2); a call that has just been closed counts as answered.
func (f *fold) permission(e *event.Event) {
	a := f.actor(e)
	kind := waitKind(e.Tool.Name)
	if kind == WaitPermission {
		f.s.Counts.Permissions++
	}
	if e.At <= a.Ended {
		return
	}
	var newest *Call
	for i := range a.Calls {
		c := &a.Calls[i]
		if !c.Requested && c.UseID != "" && same(c.Name, c.Hash, e) && (newest == nil || c.At >= newest.At) {
			newest = c
		}
	}
	if newest == nil && f.answeredAlready(a.ID, e) {
		return
	}
	a.Active = max(a.Active, e.At)
	if newest == nil {
		a.Calls = append(a.Calls, Call{Name: e.Tool.Name, Hash: e.Tool.Hash, Summary: e.Tool.Summary, At: e.At})
		newest = &a.Calls[len(a.Calls)-1]
	}
	newest.Requested = true
	newest.Kind = kind
	if newest.Asked == 0 {
		newest.Asked = e.At
	}
}

// answeredAlready reports whether e belongs to a call closed after it asked.
func (f *fold) answeredAlready(actor string, e *event.Event) bool {
	for i := range f.s.Closed {
		c := &f.s.Closed[i]
		if c.Actor == actor && c.Hash != "" && c.Hash == e.Tool.Hash && !c.Requested && c.At >= e.At {
			c.Requested = true
			return true
		}
	}
	return false
}

// postTool closes a call: PostToolUse, PostToolUseFailure, PermissionDenied.
func (f *fold) postTool(e *event.Event) {
	a := f.actor(e)
	if e.Kind == event.PostToolUseFailure {
		f.s.Counts.Failures++
	}
	i := slices.IndexFunc(a.Calls, func(c Call) bool {
		if e.Tool.UseID != "" && c.UseID != "" {
			return c.UseID == e.Tool.UseID
		}
		return same(c.Name, c.Hash, e)
	})
	c := Call{UseID: e.Tool.UseID, Name: e.Tool.Name, Hash: e.Tool.Hash, At: e.At - event.Millis(e.Tool.Ms)}
	if i >= 0 {
		c = a.Calls[i]
		a.Calls = slices.Delete(a.Calls, i, i+1)
	}
	if i < 0 && f.buried(e.Tool.UseID) {
		return
	}
	// The call shows the actor at work when it was opened, not now: it may
	// come after the Stop of its own turn (CASE 10).
	a.Active = max(a.Active, c.At)
	f.bury(a.ID, c, e.At)
}

func (f *fold) stop(e *event.Event) {
	if e.AgentID != "" {
		f.subagentStop(e)
		return
	}
	main := f.main()
	f.endActor(main, e.At, EndStop)
	if e.At >= f.s.Stop.At {
		f.s.Stop.At, f.s.Stop.Message = e.At, e.Message
	}
	f.snapshot(e)
	f.reconcile(e.At, e.HasBackground)
}

func (f *fold) stopFailure(e *event.Event) {
	f.endActor(f.actor(e), e.At, EndFailure)
	if e.AgentID == "" && e.At >= f.s.Failure.At {
		f.s.Failure = Mark{At: e.At, Reason: e.Reason, Detail: e.Details}
	}
}

// snapshot takes the background work that e lists. A stopping subagent is
// still in its own list (CLIENT.md): it is left out.
func (f *fold) snapshot(e *event.Event) {
	if !e.HasBackground || e.At < f.s.Stop.Snapshot {
		return
	}
	f.s.Stop.Snapshot = e.At
	f.s.Stop.Crons = e.Crons
	f.s.Stop.Background = nil
	for _, t := range e.Background {
		if e.Kind == event.SubagentStop && t.ID == e.AgentID {
			continue
		}
		f.s.Stop.Background = append(f.s.Stop.Background, t)
	}
}

// reconcile ends the subagents that a main Stop at t does not list as
// running: killed ones never send SubagentStop (CASE 8). Without a snapshot a
// pending wait is proof enough that its actor is there (CASE 2).
func (f *fold) reconcile(t event.Millis, hasSnapshot bool) {
	for i := range f.s.Actors {
		a := &f.s.Actors[i]
		if a.ID == "" || a.Started > t || !a.running() {
			continue
		}
		keep := f.s.listsRunning(a.ID)
		if !hasSnapshot {
			keep = slices.ContainsFunc(a.Calls, func(c Call) bool { return c.waiting() })
		}
		if !keep {
			f.endActor(a, t, EndIdle)
		}
	}
	f.forget()
}

// listsRunning reports whether the newest snapshot has the subagent id running.
func (s *Session) listsRunning(id string) bool {
	return slices.ContainsFunc(s.Stop.Background, func(t event.Task) bool {
		return t.ID == id && taskRuns(t)
	})
}

// taskRuns reports whether a snapshot entry still runs. An unknown status
// runs: the client lists what is there.
func taskRuns(t event.Task) bool {
	switch t.Status {
	case "completed", "failed", "killed", "stopped", "cancelled", "done":
		return false
	}
	return true
}

func (f *fold) subagentStart(e *event.Event) {
	a := f.actor(e)
	if e.At <= a.Ended {
		return
	}
	a.Active = max(a.Active, e.At)
	f.s.Counts.Subagents++
}

// subagentStop ends a subagent. Compaction sends it for agents that never
// started (CASE 8): those only leave their snapshot.
func (f *fold) subagentStop(e *event.Event) {
	f.snapshot(e)
	i := slices.IndexFunc(f.s.Actors, func(a Actor) bool { return a.ID == e.AgentID && a.ID != "" })
	if i < 0 {
		return
	}
	f.endActor(&f.s.Actors[i], e.At, EndStop)
	f.s.Stop.Background = slices.DeleteFunc(slices.Clone(f.s.Stop.Background), func(t event.Task) bool { return t.ID == e.AgentID })
	f.forget()
}

func (f *fold) preCompact(e *event.Event) {
	if e.At >= f.s.Compact.At {
		f.s.Compact.At, f.s.Compact.Reason = e.At, e.Source
	}
	if e.Source == "manual" {
		f.s.Seen = max(f.s.Seen, e.At)
	}
}

func (f *fold) postCompact(e *event.Event) {
	f.s.Compact.Done = max(f.s.Compact.Done, e.At)
}

// notification takes what the client proves by one: idle_prompt that nothing
// of the turn runs (CASE 11), permission_prompt that an open call waits. The
// others prove nothing.
func (f *fold) notification(e *event.Event) {
	main := f.main()
	switch e.Notification {
	case "idle_prompt":
		if e.At <= main.Active {
			return
		}
		if main.running() {
			f.endActor(main, e.At, EndIdle)
		}
		f.reconcile(e.At, true)
	case "permission_prompt":
		f.promptShown(e)
	case "elicitation_complete", "elicitation_response":
		f.closeForms(main, e.At)
	}
}

// promptShown believes a permission_prompt when no wait is known and the
// actor has an open call: an old client has no PermissionRequest event.
func (f *fold) promptShown(e *event.Event) {
	for i := range f.s.Actors {
		for j := range f.s.Actors[i].Calls {
			if f.s.Actors[i].Calls[j].Asked != 0 {
				return
			}
		}
	}
	a := f.actor(e)
	if n := len(a.Calls); n > 0 && a.Calls[n-1].At < e.At {
		a.Calls[n-1].Kind, a.Calls[n-1].Asked = WaitPermission, e.At
	}
}

// elicitation opens an MCP form. Tool.Name holds the server, Tool.UseID the
// elicitation's id.
func (f *fold) elicitation(e *event.Event) {
	a := f.actor(e)
	if e.At <= a.Ended || (e.Tool.UseID != "" && f.buried(e.Tool.UseID)) {
		return
	}
	a.Active = max(a.Active, e.At)
	f.s.Counts.Questions++
	a.Calls = append(a.Calls, Call{UseID: e.Tool.UseID, Name: e.Tool.Name, Hash: "form", Summary: e.Message,
		At: e.At, Kind: WaitForm, Asked: e.At, Requested: true})
}

func (f *fold) elicitationResult(e *event.Event) {
	a := f.actor(e)
	i := slices.IndexFunc(a.Calls, func(c Call) bool {
		return c.Kind == WaitForm && c.Name == e.Tool.Name && (e.Tool.UseID == "" || c.UseID == e.Tool.UseID)
	})
	if i < 0 {
		f.bury(a.ID, Call{UseID: e.Tool.UseID, Hash: "form"}, e.At)
		return
	}
	f.bury(a.ID, a.Calls[i], e.At)
	a.Calls = slices.Delete(a.Calls, i, i+1)
}

func (f *fold) closeForms(a *Actor, t event.Millis) {
	a.Calls = slices.DeleteFunc(a.Calls, func(c Call) bool { return c.Kind == WaitForm && c.Asked < t })
}

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

// observe folds what a reader saw. Each source's newest reading of a kind is
// remembered, so that a reader appends it once.
func (f *fold) observe(o *Observed) {
	s := &f.s
	i := slices.IndexFunc(s.Seeing, func(x Observed) bool { return x.Source == o.Source && x.What == o.What })
	switch {
	case i < 0:
		s.Seeing = append(s.Seeing, *o)
	case s.Seeing[i].At >= o.At:
		return
	default:
		s.Seeing[i] = *o
	}
	switch o.What {
	case SawHalt:
		f.halt(o)
	case SawApproved:
		for i := range s.Actors {
			f.release(&s.Actors[i], o.At)
		}
	case SawGone:
		if s.End.At == 0 {
			s.Lost = Mark{At: o.At, Reason: o.Detail}
		}
	case SawAlive:
		if s.Lost.At < o.At {
			s.Lost = Mark{}
		}
	}
}

// halt ends the turn of every actor that had nothing newer to show.
func (f *fold) halt(o *Observed) {
	for i := range f.s.Actors {
		if a := &f.s.Actors[i]; a.running() && a.Active <= o.At {
			f.endActor(a, o.At, EndHalt)
		}
	}
	if f.s.Compact.At > f.s.Compact.Done && f.s.Compact.At < o.At {
		f.s.Compact.Done = o.At
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
	}
}

// main returns the main conversation's actor, made when it is not there.
func (f *fold) main() *Actor {
	if len(f.s.Actors) == 0 || f.s.Actors[0].ID != "" {
		f.s.Actors = slices.Insert(f.s.Actors, 0, Actor{Started: f.at})
	}
	return &f.s.Actors[0]
}

// actor returns the actor e speaks of, made when it is not there.
func (f *fold) actor(e *event.Event) *Actor {
	f.main()
	for i := range f.s.Actors {
		if a := &f.s.Actors[i]; a.ID == e.AgentID {
			if a.Type == "" {
				a.Type = e.AgentType
			}
			return a
		}
	}
	f.s.Actors = append(f.s.Actors, Actor{ID: e.AgentID, Type: e.AgentType, Started: e.At})
	return &f.s.Actors[len(f.s.Actors)-1]
}

// call returns the open call useID of a, nil when there is none.
func (f *fold) call(a *Actor, useID string) *Call {
	for i := range a.Calls {
		if useID != "" && a.Calls[i].UseID == useID {
			return &a.Calls[i]
		}
	}
	return nil
}

func (f *fold) bury(actor string, c Call, at event.Millis) {
	f.s.Closed = keepLast(append(f.s.Closed, Closed{UseID: c.UseID, Actor: actor, Hash: c.Hash, At: at, Requested: c.Requested}), maxClosed)
}

func (f *fold) buried(useID string) bool {
	return useID != "" && slices.ContainsFunc(f.s.Closed, func(c Closed) bool { return c.UseID == useID })
}

// forget drops the subagents that stopped longest ago.
func (f *fold) forget() {
	for {
		stopped, oldest := 0, -1
		for i, a := range f.s.Actors {
			if a.ID == "" || a.running() {
				continue
			}
			stopped++
			if oldest < 0 || a.Ended < f.s.Actors[oldest].Ended {
				oldest = i
			}
		}
		if stopped <= maxStopped {
			return
		}
		f.s.Actors = slices.Delete(f.s.Actors, oldest, oldest+1)
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
