package state

import (
	"cmp"

	"beckon/event"
)

// Registry is one reading of the client's own sessions/PID.json for a session's process; the zero
// value means that there is none. It overrides only what it contradicts. The file is undocumented,
// so any field may be missing.
type Registry struct {
	Pid       int    `json:"pid"`
	ProcStart string `json:"procStart"` // the client's form of its start time: clock ticks on Linux, a UTC date on macOS
	NS        string `json:"pidDomain"` // the client's pid namespace, if it tells
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`

	Status     string       `json:"status"`          // idle, busy, waiting or shell; other values are ignored
	WaitingFor string       `json:"waitingFor"`      // what is open, in the client's words: see view.asks
	Needs      string       `json:"needs"`           // what the user is to do about it; most clients omit it
	At         event.Millis `json:"statusUpdatedAt"` // when Status began

	Name       string       `json:"name"`       // the session's name for people
	NameSource string       `json:"nameSource"` // where Name comes from: derived, ...
	Kind       string       `json:"kind"`       // interactive, bg, ...
	Job        string       `json:"jobId"`      // the id of a background session, for `claude attach`
	Entrypoint string       `json:"entrypoint"` // cli, sdk-cli, ...
	Version    string       `json:"version"`
	StartedAt  event.Millis `json:"startedAt"` // when the record was written, a little after the process began
}

// Usable reports whether the reading is evidence of state: it has a session, a known status and its time.
func (r Registry) Usable() bool {
	switch r.Status {
	case "idle", "busy", "waiting", "shell":
		return r.SessionID != "" && r.At > 0
	}
	return false
}

// Given returns the name that the user gave the session, or "".
func (r Registry) Given() string {
	if r.NameSource == "derived" { // from the directory
		return ""
	}
	return r.Name
}

// Background returns the id, for `claude attach`, of a session that the client runs in the background
// (`claude --bg`); "" of any other.
func (r Registry) Background() string {
	if r.Kind != "bg" {
		return ""
	}
	return r.Job
}

// The client's words for what is open, from 2.1.197 to 2.1.330.
const (
	forPermission = "permission prompt"
	forInput      = "input needed"    // a question, an MCP form
	forSandbox    = "sandbox request" // a sandboxed command wants the network
	forGoal       = "goal proposal"   // the agent proposes a goal to agree to
	// The leader's session is asked to allow a teammate's call: the dialog is there, not here.
	forLeader = "worker request"
	// A menu that the user opened (/config, /model, /help, ...), or a dialog of the client's own.
	forDialog = "dialog open"
)

// Menu reports whether the reading only says that a menu or dialog is open.
func (r Registry) Menu() bool { return r.Status == "waiting" && r.WaitingFor == forDialog }

// asks returns what the dialog in the registry wants from the user: Permission, Question, or
// "". The client notifies of a dialog of its own, but not of a menu, behind which the state does
// not change. An unknown word of a newer client counts as a question.
func (v view) asks() State {
	switch v.ev.Registry.WaitingFor {
	case forPermission, forSandbox:
		return Permission
	case forLeader:
		return ""
	case forDialog:
		if !v.raised() && !v.interrupts() && !v.resumes() {
			return ""
		}
	}
	return Question
}

// interrupts reports whether the client itself interrupts a running turn with the open dialog. Earlier
// clients say the same in a turn while the user's own menu is open.
func (v view) interrupts() bool {
	main := v.s.Main()
	return main.running() && !event.Older(v.ev.Version, "2.1.330")
}

// resumes reports whether the dialog opened as the session was resumed: the client offers to resume from a
// summary. A user's own menu cannot open that early.
func (v view) resumes() bool {
	since := v.ev.Registry.At - v.s.Start.At
	return v.s.Start.Reason == "resume" && -2000 < since && since < 2000
}

// raised reports whether the client has notified the user of the open dialog.
func (v view) raised() bool { return v.s.Raised.At >= v.ev.Registry.At }

// known reports whether WaitingFor is one of the words listed above.
func (r Registry) known() bool {
	switch r.WaitingFor {
	case forPermission, forInput, forSandbox, forGoal, forLeader, forDialog:
		return true
	}
	return false
}

// open returns the status of a session whose dialog only the registry reports.
func (v view) open() Status {
	r := v.ev.Registry
	st := Status{State: v.asks(), Since: r.At, Reason: "registry", Asks: r.Needs}
	switch {
	case st.Asks != "":
	case v.raised():
		st.Asks = v.s.Raised.Detail
	case v.resumes():
		st.Asks = "asks at start"
	}
	if !r.known() {
		st.Source, st.Asks = Inferred, cmp.Or(st.Asks, r.WaitingFor)
	}
	return st
}

// dwell is how long a registry status must have lasted to count, in milliseconds: for a few milliseconds it
// is busy between two dialogs, and idle between a subagent's end and the next turn.
const dwell = 200

// settled reports whether the reading is usable and has lasted long enough.
func (r Registry) settled(now event.Millis) bool {
	return (r.atRest() || r.Status == "busy" || r.Status == "waiting") && r.At != 0 && now >= r.At+dwell
}

// atRest reports whether the reading says that no turn runs. A background shell is not a turn.
func (r Registry) atRest() bool { return r.Status == "idle" || r.Status == "shell" }

// fits reports whether a verdict is possible under the reading, which is idle for up to half a
// second before the client takes up a subagent's result.
func (v view) fits(st Status) bool {
	dialog := st.Call.waiting()
	switch v.ev.Registry.Status {
	case "busy":
		// A question stands through the turns that the client begins.
		stands := v.works() || v.s.Stop.Asked != 0 && v.ev.Registry.At <= v.s.Stop.At
		return st.State.AtWork() || !dialog && st.State.NeedsYou() && stands
	case "waiting":
		return v.asks() == "" || st.State == Permission || (st.State == Question && dialog)
	}
	return st.State == Idle || st.State == Failed || (st.State == Question && !dialog) || st.Rule == ruleReturned
}

// works reports whether a turn of the client's own or an agent is at work, or an agent's result
// waits to be taken up.
func (v view) works() bool {
	main := v.s.Main()
	_, runs := subagentRuns(v)
	_, background := backgroundRuns(v)
	return runs || background || main.running() || v.s.returned().ID != ""
}

// Native reports whether the session is Claude Code's, whose registry is written moments after
// its hooks run. What other agents write is older than their hooks.
func (s *Session) Native() bool { return s.Agent == "" || s.Agent == event.ClaudeCode }

// Reported makes a reading from another agent's status, in the words of package beside.
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

// titleLag is how long, in milliseconds, a terminal's title may be out of date, and dialogLag how
// long while a dialog opens: a busy machine takes seconds to draw it.
const (
	titleLag  = 700
	dialogLag = 3000
)

// Titled makes a reading from the status in the terminal's title, as of now; the zero Registry while
// the title may be older than a hook, and after a turn that ended with a question, which no title shows.
func (s *Session) Titled(status string, now event.Millis) Registry {
	lag := event.Millis(titleLag)
	if s.ByHooks(now).State.Asks() {
		if lag = dialogLag; s.Main().How == EndStop {
			return Registry{}
		}
	}
	return s.standing(status, now, lag)
}

// Running makes a reading of a call whose processes are there, as of now; the zero Registry while they
// may be those of hooks.
func (s *Session) Running(now event.Millis) Registry { return s.standing("busy", now, titleLag) }

// standing makes a reading that counts as having just lasted long enough, if no event came within lag.
func (s *Session) standing(status string, now, lag event.Millis) Registry {
	if now < s.Activity+lag {
		return Registry{}
	}
	return Reported(status, "", now-dwell)
}

// lingers is how long, in milliseconds, the client may take to write that a turn is over: a
// second on a busy machine (testdata/lab/FACTS.md).
const lingers = 2000

// goesOn reports whether the client is still busy with a turn that has come to its Stop, by
// which the verdict is st. Another hook may run for long, or block it, which nothing else
// reports (measured on 2.1.197 and 2.1.329). An error or a dialog stands for a while.
func (v view) goesOn(st Status) bool {
	main, r := v.s.Main(), v.ev.Registry
	long := v.now >= v.s.Activity+lingers
	atOnce := main.How == EndStop && st.Call.At == 0 && r.At+dwell <= main.Ended && !v.s.Headless()
	over := main.How == EndStop || main.How == EndFailure
	return over && (long || atOnce) && v.s.Native() && r.Status == "busy"
}

// contradicted holds if the registry does not allow what the hooks say, and its reading is newer
// than they and the mod's report, or still busy after a turn's end.
func contradicted(v view) (Status, bool) {
	r, turn := v.ev.Registry, v.turn()
	stands := v.goesOn(turn) ||
		r.At > max(v.s.Activity, v.s.Saw(FromMod, SawHalt), v.s.Saw(FromMod, SawFailed), v.s.Saw(FromMod, SawGoesOn))
	if !r.settled(v.now) || !stands || v.fits(turn) {
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
	return v.settledTurn(), true // the rest of what seemed to run is gone
}
