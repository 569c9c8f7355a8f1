package state

import (
	"cmp"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/agents"
	"beckon/event/intent"
)

// main returns the actor of the main conversation and adds it if it is missing.
func (f *fold) main() *Actor {
	if len(f.s.Actors) == 0 || f.s.Actors[0].ID != "" {
		f.s.Actors = slices.Insert(f.s.Actors, 0, Actor{})
	}
	return &f.s.Actors[0]
}

// actor returns the actor that e is about, and adds it if it is new.
func (f *fold) actor(e *event.Event) *Actor {
	a := f.known(e.AgentID)
	if a == nil {
		f.s.Actors = append(f.s.Actors, Actor{ID: e.AgentID})
		a = &f.s.Actors[len(f.s.Actors)-1]
	}
	if a.Type == "" {
		a.Type = e.AgentType
	}
	return a
}

// known returns the actor with that id, or nil. The main conversation's always exists.
func (f *fold) known(id string) *Actor {
	f.main()
	for i := range f.s.Actors {
		if f.s.Actors[i].ID == id {
			return &f.s.Actors[i]
		}
	}
	return nil
}

// work notes that a was at work at t, which may be earlier than anything noted so far.
func (a *Actor) work(t event.Millis) {
	if !a.over(t) && (a.over(a.Started) || t < a.Started) {
		a.Started = t
	}
	a.Active = max(a.Active, t)
}

// end ends at t the turns of the actors that ends accepts; nil is all.
func (f *fold) end(t event.Millis, how string, ends func(*Actor) bool) {
	f.main()
	for i := range f.s.Actors {
		if a := &f.s.Actors[i]; ends == nil || ends(a) {
			f.endActor(a, t, how)
		}
	}
}

// endActor ends one actor's turn at t and closes the calls opened before. A Stop replaces an end
// that a reader or an idle_prompt guessed, even if its time is a little earlier.
func (f *fold) endActor(a *Actor, t event.Millis, how string) {
	guessed := a.How == EndHalt || a.How == EndIdle
	explains := guessed && (how == EndStop || how == EndFailure) && t >= a.Active
	if t >= a.Ended || explains {
		a.Ended, a.How = t, how
	}
	f.closeCalls(a, t)
}

// stop handles Stop. Apart from its snapshot it ends no subagent: on newer clients subagents
// go on after it, and may ask.
func (f *fold) stop(e *event.Event) {
	if e.AgentID != "" { // a Stop hook of an agent's own definition
		f.subagentStop(e)
		return
	}
	switch main := f.main(); {
	case e.Says == agents.Interrupted: // by the agent's report
		f.endWaited(e.At, EndBroken, func(a *Actor) bool { return a.ID == "" || a.running() })
		f.turnOver(e.At)
		return
	case e.Says == agents.Idle && !main.running() && (e.Message == "" || main.How == EndBroken || main.How == EndFailure):
		return // how the turn ended is already known
	}
	_, unanswered := asked(f.view())
	f.endActor(f.main(), e.At, EndStop)
	f.turnOver(e.At)
	if e.At >= f.s.Stop.At {
		f.s.Stop.say(e, unanswered)
		f.s.Stop.Denied, f.s.Denied.New = f.s.Denied.New, 0
	}
	if m := e.Meter; m != nil && m.At >= f.s.Meter.At {
		f.s.Meter = *m
	}
	f.snapshot(e)
	f.reconcile(e.At, func(a *Actor) bool {
		if e.HasBackground {
			return f.s.listsRunning(a.ID)
		}
		// Without a snapshot, a pending wait proves that the actor is still there.
		return a.waits()
	})
	f.stopped(e)
}

// say stores the final message of the turn that e ended. A turn that the client began itself,
// at the end of background work, replaces an unanswered question only by another one.
func (p *Stop) say(e *event.Event, unanswered bool) {
	was := *p
	p.At, p.Message, p.Asked = e.At, e.Message, 0
	m := Means(e)
	p.Intent, p.Confidence, p.Rule, p.Question = Intent(m.Intent), m.Confidence, m.Rule, m.Question
	if unanswered && p.Intent != intent.IntentQuestion {
		*p = was
		p.At, p.Asked = e.At, cmp.Or(was.Asked, was.At)
	}
}

// Means returns what the final message of a turn says and asks, if the event that ends it has one.
func Means(e *event.Event) event.Meaning {
	switch {
	case e.Meaning != nil:
		return *e.Meaning
	case e.Message == "":
		return event.Meaning{}
	}
	r := intent.OfMessage(e.Message, slices.ContainsFunc(e.Background, taskRuns))
	m := event.Meaning{Intent: string(r.Intent), Rule: r.Name, Confidence: percent(r.Confidence)}
	if r.Intent == intent.IntentQuestion {
		m.Question = event.Cut(cmp.Or(r.Question, LastLine(e.Message)), event.MaxQuestion)
	}
	return m
}

// LastLine returns the last line of s: the question of a message in which no sentence asks.
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func (f *fold) stopFailure(e *event.Event) {
	f.endActor(f.actor(e), e.At, EndFailure)
	if e.AgentID != "" {
		return
	}
	f.turnOver(e.At)
	if e.At >= f.s.Failure.At {
		f.s.Failure = Mark{At: e.At, Reason: e.Reason, Detail: e.Details}
	}
	text := strings.TrimSuffix(e.Reason+": "+e.Details, ": ")
	f.say(Turn{Actor: SpeakerAgent, Intent: intent.IntentCompletion, Confidence: 100, Rule: TurnFailure, Text: text})
}

// turnOver handles a turn's end at t that is folded after the next prompt, which then opened a
// turn of its own.
func (f *fold) turnOver(t event.Millis) {
	if p := &f.s.Prompt; p.First <= t && t < p.At {
		p.First = p.At
		f.s.Counts.Turns++
	}
}

// snapshot stores the background work that e lists, unless a newer snapshot is known.
func (f *fold) snapshot(e *event.Event) {
	if !e.HasBackground || e.At < f.s.Stop.Snapshot {
		return
	}
	f.s.Stop.Snapshot = e.At
	f.s.Stop.Background = slices.Clone(e.Background)
	f.s.Stop.Crons = e.Crons
}

// reconcile ends the running subagents that started by t and that keep rejects: killed
// subagents never send SubagentStop.
func (f *fold) reconcile(t event.Millis, keep func(*Actor) bool) {
	f.end(t, EndIdle, func(a *Actor) bool { return a.ID != "" && a.running() && a.Started <= t && !keep(a) })
}

// atWork handles an event that only shows its actor at work.
func (f *fold) atWork(e *event.Event) { f.actor(e).work(e.At) }

// listsRunning reports whether the newest snapshot lists the subagent as running.
func (s *Session) listsRunning(id string) bool {
	return slices.ContainsFunc(s.Stop.Background, func(t event.Task) bool {
		return t.ID == id && taskRuns(t)
	})
}

// taskRuns reports whether a snapshot entry still runs, as one of an unknown status does.
func taskRuns(t event.Task) bool {
	switch t.Status {
	case "completed", "failed", "killed", "stopped", "cancelled", "done":
		return false
	}
	return true
}

// agentTask reports whether a background task is an agent, at whose end the client goes on.
func agentTask(t event.Task) bool {
	return t.Type == "subagent" || t.Type == "workflow" || t.Type == "teammate"
}

// listLag is how long after a SubagentStop, in milliseconds, a snapshot may still list the
// subagent as running.
const listLag = 1000

// stopped reports whether the subagent has stopped although the snapshot still lists it.
func (s *Session) stopped(id string) bool {
	return slices.ContainsFunc(s.Actors, func(a Actor) bool {
		return a.ID == id && !a.running() && a.Ended+listLag >= s.Stop.Snapshot
	})
}

// subagentStop ends a subagent, which its own snapshot still lists. Compaction sends
// SubagentStop, without a type, for agents that never started.
func (f *fold) subagentStop(e *event.Event) {
	f.snapshot(e)
	if e.AgentID == "" {
		return // an old client does not name the subagent
	}
	if e.At+listLag >= f.s.Stop.Snapshot {
		f.s.Stop.Background = slices.DeleteFunc(slices.Clone(f.s.Stop.Background), func(t event.Task) bool {
			return t.ID == e.AgentID
		})
	}
	f.endActor(f.actor(e), e.At, EndStop)
}

// Subagents returns the subagents that still run, in the order they started.
func (s *Session) Subagents() []Actor {
	var out []Actor
	for _, a := range s.Actors {
		if a.ID != "" && a.running() {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b Actor) int { return cmp.Compare(a.Started, b.Started) })
	return out
}

// State returns the state of one actor: permission, question, working or idle.
func (a Actor) State() State {
	st := Idle
	if a.running() {
		st = Working
	}
	for _, c := range a.Calls {
		switch {
		case !c.waiting():
		case c.Kind == WaitPermission:
			return Permission
		default:
			st = Question
		}
	}
	return st
}

// Background counts what the newest snapshot lists as running: agents that have not stopped since,
// and others, such as shells and monitors.
func (s *Session) Background() (agents, others int) {
	for _, t := range s.Stop.Background {
		switch {
		case !taskRuns(t):
		case !agentTask(t):
			others++
		case !s.stopped(t.ID):
			agents++
		}
	}
	return agents, others
}
