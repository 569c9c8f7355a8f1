package state

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/jsonenc"
)

// Apply folds c into s and returns the result. It does not modify s, and never fails: a change
// that says nothing about the session only updates its counters.
func Apply(s Session, c Change) Session {
	s, _ = ApplyTurns(s, c)
	return s
}

// ApplyTurns is Apply, and also returns the turns that the change makes, for the history.
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
		f.foldTurn(c.Turn)
	}
	if c.Action == nil { // what the user does is no sign of the session
		f.s.Updated = max(f.s.Updated, c.At)
	}
	bound(&f.s)
	for i := range f.turns {
		f.turns[i].Task = f.s.Task.Now()
	}
	return f.s, f.turns
}

// fold is one Apply in progress.
type fold struct {
	s     Session
	at    event.Millis
	seq   int64 // number of the change
	turns []Turn
}

// clone copies the parts of s that a fold modifies in place. Stop.Background is always
// replaced as a whole, so it is not copied.
func clone(s Session) Session {
	s.Actors = slices.Clone(s.Actors)
	for i := range s.Actors {
		s.Actors[i].Calls = slices.Clone(s.Actors[i].Calls)
	}
	s.Closed = slices.Clone(s.Closed)
	s.Recent = slices.Clone(s.Recent)
	s.Seeing = slices.Clone(s.Seeing)
	s.Denied.Calls = slices.Clone(s.Denied.Calls)
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
		if f.s.Lost.At != 0 && e.At > f.s.Lost.At {
			f.s.Lost = Mark{}
		}
		if f.s.Removed != 0 && e.At > f.s.Removed {
			f.s.Removed, f.s.Undo = 0, Undo{}
		}
	}
	for _, h := range handlers {
		switch {
		case h.kind != e.Kind:
		case h.mains && e.AgentID != "":
			f.atWork(e)
		default:
			h.handle(f, e)
		}
	}
	f.settle(e.Kind.Activity() && e.Kind != event.UserPromptSubmit && e.Kind != event.SessionStart)
}

// late is how late an event may come, in milliseconds: a spooled one comes seconds after newer
// ones. A time further back than that means that the clock was set back.
const late = 60_000

// rewind moves every time in s after t to just before t, in order, so that events by the new clock count.
func rewind(s *Session, t event.Millis) {
	s.Undo = Undo{}
	seq, counts, until := s.Seq, s.Counts, s.Backburner.Until
	var after []reflect.Value
	jsonenc.Each(s, func(v reflect.Value) {
		if v.Kind() == reflect.Int64 && v.Int() > int64(t) {
			after = append(after, v)
		}
	})
	slices.SortFunc(after, func(a, b reflect.Value) int { return cmp.Compare(b.Int(), a.Int()) })
	at, was := int64(t), int64(0)
	for _, v := range after {
		if v.Int() != was {
			at, was = at-1, v.Int()
		}
		v.SetInt(at)
	}
	s.Seq, s.Counts, s.Backburner.Until = seq, counts, until // these are not times of the past
}

// handlers fold what events say besides their metadata.
var handlers = [...]struct {
	kind   event.Kind
	handle func(*fold, *event.Event)
	mains  bool // of a subagent it only shows that it works
}{
	{event.SessionStart, (*fold).sessionStart, false},
	{event.SessionEnd, (*fold).sessionEnd, false},
	{event.UserPromptSubmit, (*fold).prompt, true},
	{event.PreToolUse, (*fold).preTool, false},
	{event.PermissionRequest, (*fold).permission, false},
	{event.PostToolUse, (*fold).postTool, false},
	{event.PostToolUseFailure, (*fold).postTool, false},
	{event.PermissionDenied, (*fold).denied, false},
	{event.PostToolBatch, (*fold).batch, false},
	{event.Stop, (*fold).stop, false},
	{event.StopFailure, (*fold).stopFailure, false},
	{event.SubagentStart, (*fold).atWork, false},
	{event.SubagentStop, (*fold).subagentStop, false},
	{event.PreCompact, (*fold).preCompact, true},
	{event.PostCompact, (*fold).postCompact, true},
	{event.Notification, (*fold).notification, false},
	{event.Elicitation, (*fold).elicitation, false},
	{event.ElicitationResult, (*fold).elicitationResult, false},
}

// duplicate reports whether e is a copy that a second entry in the client's settings sent. Equal
// events of one entry are copies only if there cannot be two: three identical parallel calls
// raise equal PermissionRequests.
func (f *fold) duplicate(e *event.Event) bool {
	const window = 1000 // ms between the copies of one event
	sig := signature(e)
	for i := range f.s.Recent {
		r := &f.s.Recent[i]
		if r.Sig == sig && (r.Via != e.Via || f.once(e)) && !r.Paired && abs(r.At-e.At) < window {
			r.Paired = true
			return true
		}
	}
	// Twice the window: copies may be folded in either order.
	f.s.Recent = slices.DeleteFunc(f.s.Recent, func(r Recent) bool { return r.At < e.At-2*window })
	f.s.Recent = keepLast(append(f.s.Recent, Recent{Sig: sig, Via: e.Via, At: e.At}), maxRecent)
	return false
}

// once reports whether the client sends such an event once: an event of a call or prompt that
// has an id, and a request when every open call with its input has been asked about.
func (f *fold) once(e *event.Event) bool {
	if e.Via == "" { // of an earlier version, whose journals must give what they gave
		return false
	}
	switch e.Kind {
	case event.PreToolUse, event.PostToolUse, event.PostToolUseFailure:
		return e.Tool.UseID != ""
	case event.UserPromptSubmit:
		return e.PromptID != "" && !e.FromClient
	case event.PermissionRequest:
		a := f.known(e.AgentID)
		return a != nil && a.first(func(c *Call) bool { return c.is(e) && !c.Requested }) == nil &&
			a.first(func(c *Call) bool { return c.is(e) && c.UseID != "" }) != nil
	}
	return false
}

// signature returns a hash of the fields in which two events differ.
func signature(e *event.Event) string {
	return event.Hash(strings.Join([]string{e.Name, e.AgentID, e.PromptID, e.Tool.UseID, e.Tool.Name, e.Tool.Hash,
		e.Source, e.Reason, e.Notification, e.Message, e.Prompt, e.Cwd}, "\xff"))
}

// keepLast returns the newest n of list.
func keepLast[T any](list []T, n int) []T {
	if len(list) > n {
		return list[len(list)-n:]
	}
	return list
}

func abs(m event.Millis) event.Millis { return max(m, -m) }
