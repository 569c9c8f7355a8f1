package state

import (
	"cmp"

	"beckon/event"
)

// Registry is one reading of the client's own sessions/PID.json, found to be about
// this session's process. It is undocumented and optional: the zero value means
// there is none. It is a constraint, not a verdict: it overrides only what it
// contradicts.
type Registry struct {
	Status     string       // idle, busy, waiting, shell; anything else is not used
	WaitingFor string       // what is open, in one of the client's words: see view.asks
	Needs      string       // what the user is to do about it, where the client says so
	At         event.Millis // statusUpdatedAt
	Name       string       // what the client calls the session
	Derived    bool         // made from the directory: the user has given no name
}

// Given returns the name that the user gave the session, empty for none.
func (r Registry) Given() string {
	if r.Derived {
		return ""
	}
	return r.Name
}

// The client's words for what is open, as 2.1.197 to 2.1.330 have them.
const (
	forPermission = "permission prompt"
	forInput      = "input needed"    // a question, an MCP form
	forSandbox    = "sandbox request" // a sandboxed command wants the network
	forGoal       = "goal proposal"   // the agent proposes a goal to agree to
	// A teammate's call that its leader's session is asked to allow: the dialog is
	// there, and nothing can be answered here.
	forLeader = "worker request"
	// A menu, which the user opened (/config, /model, /help, ...), or a dialog of the
	// client's own.
	forDialog = "dialog open"
)

// Menu reports whether the reading says no more than that a menu or dialog is
// open: what the session itself is doing, others must tell.
func (r Registry) Menu() bool { return r.Status == "waiting" && r.WaitingFor == forDialog }

// asks returns what the dialog that the registry knows of wants from the user:
// Permission, Question, or nothing, "". Behind a menu the session is what it was.
// The client raises a Notification for a dialog of its own that waits, and
// none for a menu. A word that only newer clients know is a question: never a
// permission, and never passed over.
func (v view) asks() State {
	switch v.ev.Registry.WaitingFor {
	case forPermission, forSandbox:
		return Permission
	case forLeader:
		return ""
	case forDialog:
		if !v.raised() {
			return ""
		}
	}
	return Question
}

// raised reports whether the client has notified the user of what is open.
func (v view) raised() bool { return v.s.Raised.At >= v.ev.Registry.At }

// known reports whether the client's word for what is open is one of its own.
func (r Registry) known() bool {
	switch r.WaitingFor {
	case forPermission, forInput, forSandbox, forGoal, forLeader, forDialog:
		return true
	}
	return false
}

// open returns the verdict that a dialog is open which no hook reported.
func (v view) open() Status {
	r := v.ev.Registry
	st := Status{State: v.asks(), Since: r.At, Reason: "registry", Asks: r.Needs}
	if st.Asks == "" && v.raised() {
		st.Asks = v.s.Raised.Detail
	}
	if !r.known() {
		st.Source, st.Asks = Inferred, cmp.Or(st.Asks, r.WaitingFor)
	}
	return st
}

// Marker is the newest interrupt or refusal in the transcript's tail, with no
// later activity of the main conversation behind it.
type Marker struct {
	At   event.Millis
	Kind string // "interrupt" or "refusal"
}

// dwell is how long a registry status must have stood before it is believed,
// in milliseconds: between two dialogs it is busy, and between a subagent's
// end and the next turn it is idle, for some milliseconds.
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
func (v view) fits(st Status) bool {
	dialog := st.Call.waiting()
	switch v.ev.Registry.Status {
	case "busy":
		return st.State == Working || st.State == Compacting
	case "waiting":
		return v.asks() == "" || st.State == Permission || (st.State == Question && dialog)
	}
	return st.State == Idle || st.State == Failed || (st.State == Question && !dialog) || st.Rule == ruleReturned
}

// native reports whether the session is Claude Code's, whose registry follows
// its hooks by moments. What other agents write is older than theirs.
func (s *Session) native() bool { return s.Agent == "" || s.Agent == event.ClaudeCode }

// Reported makes a reading of what another agent's own words say, in the words of
// package beside.
func Reported(status, detail string, at event.Millis) Registry {
	switch status {
	case "waiting":
		return Registry{Status: status, WaitingFor: forPermission, At: at}
	case "asking":
		return Registry{Status: "waiting", WaitingFor: forInput, At: at}
	case "":
		return Registry{}
	}
	return Registry{Status: status, WaitingFor: detail, At: at}
}

// titleLag is how long, in milliseconds, a terminal's title may be out of date.
const titleLag = 700

// Titled makes a reading of the status that the title of the session's terminal
// tells at now, the zero one where hooks are too new for it. A title has no time
// of its own: it is taken to have stood just long enough.
func (s *Session) Titled(status string, now event.Millis) Registry {
	if now < s.Activity+titleLag {
		return Registry{}
	}
	return Reported(status, "", now-dwell)
}

// lingers is how long, in milliseconds, the client may take to write that a
// turn is over: on a busy machine a second (testdata/lab/FACTS.md).
const lingers = 2000

// goesOn reports whether the client is still busy with a turn whose Stop came long
// ago: another hook blocked the Stop, or still runs, and nothing else reports it
// (measured on 2.1.197 and 2.1.329).
func (v view) goesOn() bool {
	main := v.s.Main()
	over := main.How == EndStop || main.How == EndFailure
	return over && v.s.native() && v.ev.Registry.Status == "busy" && v.now >= v.s.Activity+lingers
}

// modded returns when the mod last reported on the turn: it runs inside the client,
// which writes its registry later.
func (s *Session) modded() event.Millis {
	return max(s.seen(FromMod, SawHalt), s.seen(FromMod, SawFailed), s.seen(FromMod, SawGoesOn))
}

// contradicted holds when a registry reading newer than every activity hook, and
// than the mod's word, does not allow what they say, or when it stands unchanged
// long after a turn's end.
func contradicted(v view) (Status, bool) {
	r := v.ev.Registry
	stands := r.At > max(v.s.Activity, v.s.modded()) || v.goesOn()
	if !r.settled(v.now) || !stands || v.fits(v.turn()) {
		return Status{}, false
	}
	switch {
	case r.Status == "busy":
		return Status{State: Working, Since: r.At, Reason: "registry"}, true
	case r.Status == "waiting":
		return v.open(), true
	}
	if main := v.s.Main(); main.running() {
		return Status{State: Idle, Since: r.At, Reason: Interrupted}, true
	}
	return v.settledTurn(), true // what else was thought to run is gone
}
