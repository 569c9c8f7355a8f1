package state

import "beckon/event"

// Seen is a session with a reader's evidence and the verdict.
type Seen struct {
	Session  Session
	Evidence Evidence
	Status   Status
	Meter    event.Meter // model, context and cost: see Session.Metered
}

// Listed reports whether views list the session. One known only from a notification or the end
// of a subagent is listed if its process or the client's registry shows it.
func (v *Seen) Listed() bool {
	there := v.Session.reported() || v.Evidence.Process == Alive || v.Evidence.Registry.Status != ""
	return there && v.Session.Removed == 0 && v.Status.State.Live()
}

// reported reports whether an event has shown that the session is there.
func (s *Session) reported() bool {
	for i := range s.Actors {
		if s.Actors[i].Active != 0 {
			return true
		}
	}
	return s.Start.At != 0 || s.Prompt.At != 0 || s.Stop.At != 0 || s.Failure.At != 0 || s.Compact != Span{}
}

// Next returns the earliest time after now at which Resolve may return something else for the same facts and
// evidence, or zero if time alone changes nothing. A program that keeps running looks again then.
func (v *Seen) Next(now event.Millis) (next event.Millis) {
	s, ev := &v.Session, &v.Evidence
	at := func(may bool, t event.Millis) {
		if may && t > now && (next == 0 || t < next) {
			next = t
		}
	}
	at(s.Backburner.At > s.Backburner.Off, s.Backburner.Until)
	if s.End.At != 0 {
		at(s.End.Reason == "clear", s.End.At+clearWait)
		return next
	}
	at(ev.Process == Unread && ev.Registry.Status == "", s.Updated+silence+1)
	at(ev.Process == Gone, s.Activity+doubt+1)
	at(ev.Registry.At != 0, ev.Registry.At+dwell)
	at(ev.Registry.Status == "busy", s.Activity+lingers)
	for i := range s.Actors {
		a := &s.Actors[i]
		at(a.ID != "" && a.How == EndStop, a.Ended+returnWait)
	}
	return next
}

// staleMeter is how much older than the session's newest start a report may be, in
// milliseconds: a starting client runs its status line about 100 ms before or after the hook.
const staleMeter = 60_000

// Metered returns the newest known model, context and cost of the session: from the status line's report, or
// from the last Stop. Of a report older than the session's newest start it returns only the cost, which the
// client goes on counting (testdata/recordings: resume); the rest belongs to an earlier run.
func (s *Session) Metered(report *event.Meter) event.Meter {
	m := s.Meter
	if report != nil && report.At >= m.At {
		m = *report
	}
	if m.At+staleMeter < s.Start.At && s.Start.Reason != "compact" {
		m = event.Meter{At: m.At, Cost: m.Cost}
	}
	return m
}
