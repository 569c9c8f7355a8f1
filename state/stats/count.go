package stats

import (
	"cmp"

	"beckon/event"
	"beckon/state"
)

// Kind is what a stretch of time counts as; empty if the session is gone or unknown.
type Kind string

// The kinds of time.
const (
	Busy    Kind = "working" // or compacting
	Waiting Kind = "waiting" // a permission or question was open
	Failed  Kind = "failed"
	Idle    Kind = "idle" // or set aside
)

// Count is what one change adds to a session's sums. A history line contains it, so a sum over
// lines needs nothing else.
type Count struct {
	From        event.Millis `json:"from"` // beginning of the stretch that the change ended
	Ms          int64        `json:"ms"`   // its length in milliseconds, 0 if none ended
	Kind        Kind         `json:"kind"` // what that stretch counts as
	Project     string       `json:"project"`
	Act         bool         `json:"act"` // the user did something
	Turns       int64        `json:"turns"`
	Tools       int64        `json:"tools"`
	Tool        string       `json:"tool"` // the tool, if one was used
	Failures    int64        `json:"failures"`
	Permissions int64        `json:"permissions"`
	Questions   int64        `json:"questions"`
	Subagents   int64        `json:"subagents"`
	Errors      int64        `json:"errors"`
	Cost        int64        `json:"cost"` // millionths of a US dollar
}

// Of returns what change ch adds, which made after of before, and notes in after up to when its
// time is counted.
//
// Time counts in the state that held between two changes. What the user does is no sign of life
// of the session, so it ends a stretch only if the time after it counts as something else. A
// clock that steps back adds nothing.
func Of(before, after *state.Session, ch state.Change) (n Count) {
	at, since := when(ch), before.Counted
	if since == 0 {
		since = before.Updated // the file is an earlier release's
	}
	n.Act = ch.Action != nil && ch.Action.Kind != state.ActDecided || after.Counts.Turns > before.Counts.Turns
	if since > at+dayMs { // the clock was wrong
		since = at
	}
	was := kindAt(before, since)
	after.Counted = max(at, since)
	if ch.Action != nil && ch.Action.Kind != state.ActDecided && kindAt(after, at) == was {
		after.Counted = since
		return n
	}
	n.Project = cmp.Or(projectOf(before), projectOf(after))
	if was != "" && at > since && !resumes(before, ch) {
		n.From, n.Ms, n.Kind = since, int64(at-since), was
	}
	n.tally(before, after, ch.Event)
	return n
}

const dayMs = 24 * 60 * 60 * 1000

// tally notes what the change added to the session's own counters. A client whose count of the
// cost restarts has spent all that it reports.
func (n *Count) tally(before, after *state.Session, e *event.Event) {
	was, is := before.Counts, after.Counts
	n.Turns, n.Tools, n.Failures = is.Turns-was.Turns, is.Tools-was.Tools, is.Failures-was.Failures
	n.Permissions, n.Questions, n.Subagents = is.Permissions-was.Permissions, is.Questions-was.Questions, is.Subagents-was.Subagents
	if after.Failure.At != before.Failure.At {
		n.Errors = 1
	}
	if e != nil && n.Tools > 0 {
		n.Tool = e.Tool.Name
	}
	if n.Cost = after.Meter.Cost - before.Meter.Cost; n.Cost < 0 {
		n.Cost = after.Meter.Cost
	}
}

// Open returns the stretch of s that has not ended by now. A session that is not running has
// none.
func Open(s *state.Session, now event.Millis) (n Count) {
	if st := s.ByHooks(now).State; !st.Live() || st == state.Unknown {
		return n
	}
	since := cmp.Or(s.Counted, s.Updated)
	if kind := kindAt(s, since); kind != "" && now > since {
		n = Count{From: since, Ms: int64(now - since), Kind: kind, Project: projectOf(s)}
	}
	return n
}

func projectOf(s *state.Session) string {
	return cmp.Or(s.Origin.Git.Repo, s.Origin.Project, s.Cwd)
}

// resumes reports whether ch follows a time in which the session was not running, so that its
// last activity ended with its last sign of life: it was found gone, it starts again, or
// another process continues it.
func resumes(s *state.Session, ch state.Change) bool {
	switch e, o := ch.Event, ch.Observation; {
	case o != nil:
		return o.What == state.SawGone
	case e == nil:
		return false
	case e.Kind == event.SessionStart:
		return e.Source != "compact"
	case e.Origin == nil || e.AgentID != "":
		return false
	default:
		was := s.Origin.Process
		return was.Pid != 0 && e.Origin.Process.Pid != 0 && e.Origin.Process != was
	}
}

// when returns the time at which a change happened.
func when(ch state.Change) event.Millis {
	switch {
	case ch.Event != nil:
		return ch.Event.At
	case ch.Observation != nil:
		return ch.Observation.At
	}
	return ch.At
}

// kindAt returns what the time of s counts as at a moment.
func kindAt(s *state.Session, at event.Millis) Kind {
	if s.Seq == 0 {
		return ""
	}
	switch s.ByHooks(at).State {
	case state.Working, state.Compacting:
		return Busy
	case state.Permission, state.Question:
		return Waiting
	case state.Failed:
		return Failed
	case state.Idle, state.Backburned:
		return Idle
	}
	return ""
}
