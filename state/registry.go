package state

import (
	"slices"

	"beckon/event"
)

// Registry is one reading of the client's own sessions/PID.json, believed to
// be about this session's process. It is undocumented and optional: the zero
// value means there is none. It is a constraint, not a verdict: it overrides
// only what it contradicts (DESIGN.md section 4).
type Registry struct {
	Status     string       // idle, busy, waiting, shell; anything else is not used
	WaitingFor string       // "permission prompt", "input needed"
	At         event.Millis // statusUpdatedAt
}

// Marker is the newest interrupt or refusal in the transcript's tail, with no
// later activity of the main conversation behind it.
type Marker struct {
	At   event.Millis
	Kind string // "interrupt" or "refusal"
}

// dwell is how long a registry status must have stood before it is believed,
// in milliseconds: between two dialogs it is busy, and between a subagent's
// end and the next turn it is idle, for some 3 ms (CLIENT.md).
const dwell = 200

// settled reports whether the reading is usable and has stood long enough.
func (r Registry) settled(now event.Millis) bool {
	switch r.Status {
	case "idle", "shell", "busy", "waiting":
		return r.At != 0 && now >= r.At+dwell
	}
	return false
}

// fits reports whether a verdict is possible under the reading.
func (r Registry) fits(st Status) bool {
	dialog := st.Call.waiting()
	switch r.Status {
	case "busy":
		return st.State == Working || st.State == Compacting
	case "waiting":
		return st.State == Permission || (st.State == Question && dialog)
	}
	return st.State == Idle || st.State == Failed || (st.State == Question && !dialog)
}

// contradicted holds when a registry reading newer than every activity hook
// does not allow what the hooks say.
func contradicted(v view) (Status, bool) {
	r := v.ev.Registry
	if !r.settled(v.now) || r.At <= v.s.Activity || r.fits(v.turn()) {
		return Status{}, false
	}
	st := Status{Since: r.At, Reason: "registry"}
	switch {
	case r.Status == "busy":
		st.State = Working
	case r.Status == "waiting" && r.WaitingFor == "input needed":
		st.State = Question
	case r.Status == "waiting":
		st.State = Permission
	default:
		st.State, st.Reason = Idle, Interrupted
	}
	return st, true
}

// Observe returns what ev tells that no hook does, for a reader to fold into
// s so that every view agrees. It returns nothing that s knows already.
func Observe(s Session, ev Evidence, now event.Millis) []Observed {
	if s.End.At != 0 {
		return nil
	}
	var out []Observed
	add := func(src Source, what Seeing, at event.Millis, detail string) {
		known := slices.ContainsFunc(s.Seeing, func(o Observed) bool { return o.Source == src && o.What == what && o.At >= at })
		if !known {
			out = append(out, Observed{Source: src, What: what, At: at, Detail: detail})
		}
	}
	switch {
	case ev.Process == Gone && s.Lost.At == 0:
		add(FromProcess, SawGone, now, "process is gone")
		return out
	case ev.Process == Alive && s.Lost.At != 0:
		add(FromProcess, SawAlive, now, "")
	}
	r := ev.Registry
	if r.settled(now) {
		switch {
		case r.Status == "busy" && s.waitsBefore(r.At):
			add(FromRegistry, SawApproved, r.At, r.Status)
		case (r.Status == "idle" || r.Status == "shell") && s.runsBefore(r.At):
			add(FromRegistry, SawHalt, r.At, r.Status)
		}
	}
	if m := ev.Transcript; m.At != 0 && r.At == 0 && s.runsBefore(m.At) {
		add(FromTranscript, SawHalt, m.At, m.Kind)
	}
	return out
}

// waitsBefore reports whether a dialog that opened before t is believed open.
func (s *Session) waitsBefore(t event.Millis) bool {
	for i := range s.Actors {
		for _, c := range s.Actors[i].Calls {
			if c.waiting() && c.Asked < t {
				return true
			}
		}
	}
	return false
}

// runsBefore reports whether something is believed to run that has shown
// nothing since t.
func (s *Session) runsBefore(t event.Millis) bool {
	for i := range s.Actors {
		if a := &s.Actors[i]; a.running() && a.Active <= t {
			return true
		}
	}
	return s.Compact.At > s.Compact.Done && s.Compact.At < t && s.Compact.At > s.Main().Ended
}

// Seen is a session with what a reader knows of it and the verdict.
type Seen struct {
	Session  Session
	Evidence Evidence
	Status   Status
}
