package state

import "beckon/event"

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
// end and the next turn it is idle, for some milliseconds (CLIENT.md).
const dwell = 200

// settled reports whether the reading is usable and has stood long enough.
func (r Registry) settled(now event.Millis) bool {
	return (r.atRest() || r.Status == "busy" || r.Status == "waiting") && r.At != 0 && now >= r.At+dwell
}

// atRest reports whether the reading says that no turn runs. A background
// shell does not count as one.
func (r Registry) atRest() bool { return r.Status == "idle" || r.Status == "shell" }

// fits reports whether a verdict is possible under the reading. It is idle for
// up to half a second before the client takes up a subagent's result.
func (r Registry) fits(st Status) bool {
	dialog := st.Call.waiting()
	switch r.Status {
	case "busy":
		return st.State == Working || st.State == Compacting
	case "waiting":
		return st.State == Permission || (st.State == Question && dialog)
	}
	return st.State == Idle || st.State == Failed || (st.State == Question && !dialog) || st.Rule == ruleReturned
}

// lingers is how long, in milliseconds, the client may take to write that a
// turn is over: on a busy machine a second (testdata/lab/FACTS.md).
const lingers = 2000

// goesOn reports whether the client is still busy with a turn whose Stop came
// long ago: another hook blocked the Stop, or still runs, and nothing else
// tells of it (CASE 13, measured on 2.1.197 and 2.1.329).
func (v view) goesOn() bool {
	main := v.s.Main()
	over := main.How == EndStop || main.How == EndFailure
	return over && v.ev.Registry.Status == "busy" && v.now >= v.s.Activity+lingers
}

// contradicted holds when a registry reading newer than every activity hook
// does not allow what the hooks say, or when it stands unchanged long after a
// turn's end.
func contradicted(v view) (Status, bool) {
	r := v.ev.Registry
	stands := r.At > v.s.Activity || v.goesOn()
	if !r.settled(v.now) || !stands || r.fits(v.turn()) {
		return Status{}, false
	}
	switch {
	case r.Status == "busy":
		return Status{State: Working, Since: r.At, Reason: "registry"}, true
	case r.Status == "waiting" && r.WaitingFor == "input needed":
		return Status{State: Question, Since: r.At, Reason: "registry"}, true
	case r.Status == "waiting":
		return Status{State: Permission, Since: r.At, Reason: "registry"}, true
	}
	if main := v.s.Main(); main.running() {
		return Status{State: Idle, Since: r.At, Reason: Interrupted}, true
	}
	return v.settledTurn(), true // what else was believed to run is gone
}
