package state

import (
	"cmp"
	"slices"

	"beckon/event"
	"beckon/event/intent"
)

// State is the one word for a session.
type State string

// The states. Permission, Question and Failed need the user; Idle does softly
// while unseen.
const (
	Permission State = "permission"
	Question   State = "question"
	Failed     State = "failed"
	Idle       State = "idle"
	Working    State = "working"
	Compacting State = "compacting"
	Backburned State = "backburner"
	Unknown    State = "unknown"
	Ended      State = "ended"
	Lost       State = "lost"
)

// States lists all states, the ones that need the user first: the order in
// which views sort and count.
var States = [...]State{Permission, Question, Failed, Working, Compacting, Idle, Backburned, Unknown, Ended, Lost}

// NeedsYou reports whether s is a state that waits for the user.
func (s State) NeedsYou() bool { return s == Permission || s == Question || s == Failed }

// Live reports whether a session in state s is still there.
func (s State) Live() bool { return s != Ended && s != Lost }

// AtWork reports whether a session in state s works on its own.
func (s State) AtWork() bool { return s == Working || s == Compacting }

// Asks reports whether a session in state s waits for an answer.
func (s State) Asks() bool { return s == Permission || s == Question }

// InTurn reports whether a session in state s may have a turn to be stopped: it
// is there, and the turn is not known to be over.
func (s State) InTurn() bool { return s.Live() && s != Idle && s != Failed }

// Reasons of an idle session.
const (
	Done        = "done"
	Interrupted = "interrupted"
	Fresh       = "started"
)

// Presence is what a reader knows of the agent's process.
type Presence uint8

// What can be known of a process. A reader on another host, boot or pid
// namespace knows nothing.
const (
	Unread Presence = iota
	Alive
	Gone
	Unsure // it ran before this host's last boot, if on this machine at all
)

// Known reports whether p says that the process is there or is not.
func (p Presence) Known() bool { return p == Alive || p == Gone }

// Evidence is what a reader saw beside the session's own facts. The zero
// value means "nothing was read": then hooks lead.
type Evidence struct {
	Process    Presence
	Registry   Registry
	Transcript Marker
	Answer     Answer
	Job        Job
	Version    string // of the agent, where its own files tell it
}

// Job is a session that the client runs in the background (`claude --bg`), as
// its registry names it. The zero value is none.
type Job struct {
	ID   string // what `claude attach` takes
	Name string // for people
}

// Answer is what the transcript of a headless run says about the call that
// Session.Asking names.
type Answer uint8

// What can be known of a call's answer.
const (
	AnswerUnread Answer = iota
	AnswerAwaited
	AnswerGiven
)

// Status is the verdict on a session and where it comes from.
type Status struct {
	State      State
	Reason     string
	Since      event.Millis
	NeedsYou   bool
	Unseen     bool // a turn ended that the user has not looked at (CASE 21)
	Source     Source
	Confidence Confidence
	Rule       string // name of the rule that decided
	Actor      string // the actor it is about, empty for the main conversation
	Asks       string // what the client itself says it needs, when no call tells
	Call       Call   // the call it is about, zero when there is none
}

// Limits of Resolve, in milliseconds.
const (
	silence   = 12 * 3600 * 1000 // without any evidence, a session this silent is unknown
	doubt     = 10 * 1000        // evidence that contradicts itself for so long says nothing
	clearHold = 2 * 1000         // /clear: the successor comes about 70 ms later
	// A background agent's end is followed by a prompt of the client's own, some
	// 100 ms later, on a busy machine 1 s: until then the work is not over.
	returnHold = 1500
)

// ruleReturned names the rule that bridges that gap.
const ruleReturned = "subagent returned"

// rule is one way in which facts decide a state. The first that holds wins.
type rule struct {
	name string
	by   Source
	// holds returns the verdict, its Source left out, and whether it holds.
	holds func(v view) (Status, bool)
}

// view is what a rule looks at.
type view struct {
	s   *Session
	ev  *Evidence
	now event.Millis
}

// rules is the whole order of precedence. What the main turn's end says (failed,
// idle) counts only when no actor runs and nothing waits.
var rules = [...]rule{
	{"cleared", FromHook, cleared},
	{"session end", FromHook, ended},
	{"process gone", FromProcess, lost},
	{"set aside", FromUser, backburned},
	{"restart", Inferred, unsure},
	{"silence", Inferred, silent},
	{"contradiction", Inferred, contradictory},
	{"client's registry", FromRegistry, contradicted},
}

// RuleAsked is the rule by which the text of a turn's end makes it a question.
const RuleAsked = "closing question"

// turnRules are the rules about the turn, which the registry may contradict.
var turnRules = [...]rule{
	{"open permission", FromHook, openPermission},
	{"open question", FromHook, openQuestion},
	{"compaction", FromHook, compacting},
	{"running turn", FromHook, mainRuns},
	{"running subagent", FromHook, subagentRuns},
	{"background agent", FromHook, backgroundRuns},
	{ruleReturned, FromHook, subagentReturned},
	{"failed turn", FromHook, failed},
	{RuleAsked, Inferred, asked},
	{"turn over", FromHook, idle},
}

// Resolve returns what the session is at now. It is the only place where
// facts become a state.
func Resolve(s Session, ev Evidence, now event.Millis) Status {
	return view{s: &s, ev: &ev, now: now}.verdict()
}

// Resolve sets the status to what Resolve says of the session and the evidence,
// which it does not copy as that has to.
func (v *Seen) Resolve(now event.Millis) {
	v.Status = view{s: &v.Session, ev: &v.Evidence, now: now}.verdict()
}

// nothing is the evidence of a reader that looked at nothing.
var nothing Evidence

// ByHooks is Resolve of what the hooks alone say of the session.
func (s *Session) ByHooks(now event.Millis) Status {
	return view{s: s, ev: &nothing, now: now}.verdict()
}

func (v view) verdict() Status {
	for i := range rules {
		if st, ok := rules[i].holds(v); ok {
			return v.finish(rules[i], st)
		}
	}
	return v.turn()
}

// turn returns what the hooks alone say of the turn. The last rule always
// holds.
func (v view) turn() Status {
	i := slices.IndexFunc(turnRules[:], func(r rule) bool { _, ok := r.holds(v); return ok })
	st, _ := turnRules[i].holds(v)
	return v.finish(turnRules[i], st)
}

// Fact is one line of an explanation.
type Fact struct {
	Rule     string       `json:"rule"`
	State    State        `json:"state"`
	Reason   string       `json:"reason,omitempty"`
	Since    event.Millis `json:"since"`
	Source   Source       `json:"source"`
	Detail   string       `json:"detail,omitempty"`
	Decided  bool         `json:"decided"`            // this one won
	Overrode bool         `json:"overrode,omitempty"` // it held, and lost to the winner
}

// Explain returns the rules that hold, in their order: the first decided, the
// others were overridden by it. That a turn is over is among them only when nothing
// else of the turn holds.
func Explain(s Session, ev Evidence, now event.Millis) []Fact {
	v := view{s: &s, ev: &ev, now: now}
	var out []Fact
	explain := func(r rule) bool {
		st, ok := r.holds(v)
		if !ok {
			return false
		}
		st = v.finish(r, st)
		out = append(out, Fact{Rule: st.Rule, State: st.State, Reason: st.Reason, Since: st.Since, Source: st.Source,
			Detail: st.Call.Summary, Decided: len(out) == 0, Overrode: len(out) > 0})
		return true
	}
	for _, r := range rules {
		explain(r)
	}
	fallback := len(turnRules) - 1
	turn := false
	for _, r := range turnRules[:fallback] {
		turn = explain(r) || turn
	}
	if !turn {
		explain(turnRules[fallback])
	}
	return out
}

func (v view) finish(r rule, st Status) Status {
	st.Rule = r.name
	if st.Source == "" {
		st.Source = r.by
	}
	st.Confidence = st.Source.Confidence()
	st.NeedsYou = st.State.NeedsYou()
	main := v.s.Main()
	settled := st.State == Idle || st.State == Failed || (st.State == Question && st.Call.At == 0)
	st.Unseen = settled && (main.How == EndStop || main.How == EndFailure) && main.Ended > v.s.Seen
	return st
}

func cleared(v view) (Status, bool) {
	e := v.s.End
	if st, aside := backburned(v); aside { // its successor will be, too
		return st, e.At != 0 && e.Reason == "clear" && v.now < e.At+clearHold
	}
	return Status{State: Idle, Reason: Fresh, Since: e.At}, e.At != 0 && e.Reason == "clear" && v.now < e.At+clearHold
}

func ended(v view) (Status, bool) {
	return Status{State: Ended, Reason: v.s.End.Reason, Since: v.s.End.At}, v.s.End.At != 0
}

func lost(v view) (Status, bool) {
	if v.s.Lost.At != 0 && v.ev.Process != Alive {
		return Status{State: Lost, Reason: v.s.Lost.Reason, Since: v.s.Lost.At}, true
	}
	return Status{State: Lost, Reason: "process is gone", Since: v.s.Updated}, v.ev.Process == Gone && !v.s.outlived()
}

// contradictory says unknown when the process is gone and yet its hooks go on,
// once they have been silent for a while: until then they lead.
func contradictory(v view) (Status, bool) {
	return Status{State: Unknown, Reason: "contradiction", Since: v.s.Activity},
		v.ev.Process == Gone && v.s.outlived() && v.now-v.s.Activity > doubt
}

func backburned(v view) (Status, bool) {
	return Status{State: Backburned, Since: v.s.Backburner.At}, v.s.Backburner.on(v.now)
}

// unsure says unknown when the machine has restarted since, unless it was another
// one of its name: nobody can tell a dead session from one that lives elsewhere.
func unsure(v view) (Status, bool) {
	return Status{State: Unknown, Reason: "restarted, or another machine", Since: v.s.Updated}, v.ev.Process == Unsure
}

// silent says unknown when nothing shows whether the agent is still there.
// Silence alone never does (CASE 15): a live process is never given up.
func silent(v view) (Status, bool) {
	quiet := v.now-v.s.Updated > silence
	return Status{State: Unknown, Reason: "silent", Since: v.s.Updated},
		quiet && v.ev.Process == Unread && v.ev.Registry.Status == ""
}

// oldestWait returns the call that has waited longest among those that want
// accepts, over all actors: a busy sibling never hides it.
func oldestWait(s *Session, want func(WaitKind) bool) (actor string, oldest Call) {
	for a, c := range s.waits(want) {
		if oldest.Asked == 0 || c.Asked < oldest.Asked {
			actor, oldest = a.ID, *c
		}
	}
	return actor, oldest
}

func isPermission(k WaitKind) bool { return k == WaitPermission }
func isQuestion(k WaitKind) bool   { return k != WaitPermission }

func openPermission(v view) (Status, bool) {
	actor, c := oldestWait(v.s, isPermission)
	return Status{State: Permission, Reason: c.Name, Since: c.Asked, Actor: actor, Call: c}, c.Asked != 0
}

func openQuestion(v view) (Status, bool) {
	actor, c := oldestWait(v.s, isQuestion)
	return Status{State: Question, Reason: string(c.Kind), Since: c.Asked, Actor: actor, Call: c}, c.Asked != 0
}

func compacting(v view) (Status, bool) {
	c, main := v.s.Compact, v.s.Main()
	open := c.At > c.Done && c.At > main.Ended && c.At > main.Active
	return Status{State: Compacting, Reason: c.Reason, Since: c.At}, open
}

func mainRuns(v view) (Status, bool) {
	a := v.s.Main()
	since := a.Started
	if a.over(since) {
		since = a.Active // the end of the turn before was told after this one's beginning
	}
	return Status{State: Working, Since: since, Call: newestCall(a)}, a.running()
}

func newestCall(a Actor) (c Call) {
	for _, x := range a.Calls {
		if x.At >= c.At {
			c = x
		}
	}
	return c
}

func subagentRuns(v view) (Status, bool) {
	best := -1
	for i, a := range v.s.Actors {
		if a.ID != "" && a.running() && (best < 0 || a.Started < v.s.Actors[best].Started) {
			best = i
		}
	}
	if best < 0 {
		return Status{}, false
	}
	a := v.s.Actors[best]
	return Status{State: Working, Reason: "subagent", Since: a.Started, Actor: a.ID, Call: newestCall(a)}, true
}

// backgroundRuns holds while the newest snapshot lists an agent that no
// SubagentStop has ended since. A background shell does not: it is a badge.
func backgroundRuns(v view) (Status, bool) {
	for _, t := range v.s.Stop.Background {
		if agentTask(t) && taskRuns(t) && !v.s.stopped(t.ID) {
			return Status{State: Working, Reason: "background agent", Since: v.s.Stop.Snapshot, Actor: t.ID}, true
		}
	}
	return Status{}, false
}

// subagentReturned bridges the moment between a background agent's end and
// the prompt by which the client takes up its result.
func subagentReturned(v view) (Status, bool) {
	main := v.s.Main()
	for _, a := range v.s.Actors {
		if a.ID != "" && a.How == EndStop && a.Active != 0 && a.Ended > main.Ended && v.now < a.Ended+returnHold {
			return Status{State: Working, Reason: "subagent", Since: a.Started, Actor: a.ID}, true
		}
	}
	return Status{}, false
}

// settledTurn returns what a turn that is over says.
func (v view) settledTurn() Status {
	const settled = 3 // the last of turnRules: failed, asked, idle
	for _, r := range turnRules[len(turnRules)-settled:] {
		if st, ok := r.holds(v); ok {
			if r.by == Inferred {
				st.Source = r.by // the registry says that it is over, not how
			}
			return st
		}
	}
	return Status{}
}

func failed(v view) (Status, bool) {
	a, f := v.s.Main(), v.s.Failure
	st := Status{State: Failed, Reason: f.Reason, Since: f.At}
	if v.s.seen(FromMod, SawFailed) == f.At {
		st.Source = FromMod
	}
	return st, a.How == EndFailure && f.At == a.Ended
}

// asked holds when the last turn ended in a question that its text asks. That
// is a reading of the text, hence the low confidence.
func asked(v view) (Status, bool) {
	a, p := v.s.Main(), v.s.Stop
	return Status{State: Question, Reason: "text", Since: cmp.Or(p.Asked, p.At)}, a.How == EndStop && a.Ended == p.At && p.Intent == intent.IntentQuestion
}

func idle(v view) (Status, bool) {
	a := v.s.Main()
	st := Status{State: Idle, Reason: Done, Since: a.Ended}
	switch a.How {
	case EndStart, "":
		st.Reason = Fresh
	case EndIdle, EndBroken: // a turn that ends without Stop was interrupted
		st.Reason = Interrupted
	case EndHalt:
		st.Reason, st.Source = Interrupted, v.s.haltSource(a.Ended)
	}
	if a.Ended == 0 {
		st.Since = v.s.Created
	}
	return st, true
}

// haltSource returns who saw the halt at t, or a later one of something else.
func (s *Session) haltSource(t event.Millis) Source {
	for _, o := range s.Seeing {
		if o.What == SawHalt && o.At >= t {
			return o.Source
		}
	}
	return Inferred
}
