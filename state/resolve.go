package state

import (
	"cmp"
	"slices"

	"beckon/event"
	"beckon/event/intent"
)

// Limits of Resolve, in milliseconds.
const (
	silence   = 12 * 3600 * 1000 // a session silent for longer, without any evidence, is unknown
	doubt     = 10 * 1000        // a session whose evidence contradicts itself for longer is unknown
	clearWait = 2 * 1000         // /clear: the successor starts about 70 ms later
	// A background agent's end is followed by a prompt of the client's own, about 100 ms later
	// and up to 1 s on a busy machine. Until then the work is not over.
	returnWait = 1500
)

// ruleReturned is the rule that bridges this gap.
const ruleReturned = "subagent returned"

// rule is one way in which facts decide a state. The first that holds wins.
type rule struct {
	name string
	by   Source
	// holds returns the verdict, without its Source unless that differs from by, and whether
	// the rule applies.
	holds func(v view) (Status, bool)
}

// view is the input of a rule.
type view struct {
	s   *Session
	ev  *Evidence
	now event.Millis
}

// rules are the rules in their order of precedence; turnRules follow them.
var rules = [...]rule{
	{"cleared", FromHook, cleared},
	{"session end", FromHook, ended},
	{"process gone", FromProcess, lost},
	{"set aside", FromUser, backburned},
	{"silence", Inferred, silent},
	{"contradiction", Inferred, contradictory},
	{"client's registry", FromRegistry, contradicted},
}

// RuleAsked is the rule that makes a session Question because its turn's final text asks.
const RuleAsked = "closing question"

// turnRules decide what the turn is doing. The registry may contradict them.
var turnRules = [...]rule{
	{"agent's own reviewer", FromTranscript, reviewed},
	{"open permission", FromHook, openPermission},
	{"open question", FromHook, openQuestion},
	{"compaction", FromHook, compacting},
	overRules[0],
	overRules[1],
	{"running turn", FromHook, mainRuns},
	{"running subagent", FromHook, subagentRuns},
	{"background agent", FromHook, backgroundRuns},
	{ruleReturned, FromHook, subagentReturned},
	overRules[2],
}

// overRules decide how the user's last turn ended. A failure or a question stands, whatever
// agents do in the background, until the user acts.
var overRules = [...]rule{
	{"failed turn", FromHook, failed},
	{RuleAsked, Inferred, asked},
	{"turn over", FromHook, idle},
}

// Resolve returns the status of the session at now. It is the only place where facts become a state.
func Resolve(s Session, ev Evidence, now event.Millis) Status {
	return view{s: &s, ev: &ev, now: now}.verdict()
}

// Resolve sets Status to the verdict on the session and its evidence. Unlike the function
// Resolve it copies neither.
func (v *Seen) Resolve(now event.Millis) {
	v.Status = view{s: &v.Session, ev: &v.Evidence, now: now}.verdict()
}

// nothing is the evidence of a reader that has read none.
var nothing Evidence

// ByHooks is Resolve without evidence: only hooks count.
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

// turn returns the verdict of turnRules. The last of them always holds.
func (v view) turn() Status {
	i := slices.IndexFunc(turnRules[:], func(r rule) bool { _, ok := r.holds(v); return ok })
	st, _ := turnRules[i].holds(v)
	return v.finish(turnRules[i], st)
}

// Explain returns the verdicts of the rules that hold, in order; the first decided. That of a turn that
// is over is listed only if no other turn rule holds.
func Explain(s Session, ev Evidence, now event.Millis) (list []Status) {
	v := view{s: &s, ev: &ev, now: now}
	turn := false
	for i, r := range slices.Concat(rules[:], turnRules[:]) {
		st, ok := r.holds(v)
		if !ok || turn && i == len(rules)+len(turnRules)-1 {
			continue
		}
		list = append(list, v.finish(r, st))
		turn = i >= len(rules)
	}
	return list
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
	holds := e.At != 0 && e.Reason == "clear" && v.now < e.At+clearWait
	if st, aside := backburned(v); aside { // its successor is set aside too
		return st, holds
	}
	return Status{State: Idle, Reason: Fresh, Since: e.At}, holds
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

// contradictory holds if the process is gone but hooks came after it, and those have been
// silent for a while. Until then hooks decide.
func contradictory(v view) (Status, bool) {
	return Status{State: Unknown, Reason: "contradiction", Since: v.s.Activity},
		v.ev.Process == Gone && v.s.outlived() && v.now-v.s.Activity > doubt
}

func backburned(v view) (Status, bool) {
	b := v.s.Backburner
	on := b.On(v.now)
	if on && b.Until == UntilNeeded {
		st := v.turn()
		on = !st.State.NeedsYou() || st.Since <= b.At
	}
	return Status{State: Backburned, Since: b.At}, on
}

// silent holds if the session has long been silent and nothing shows whether the agent is still there.
func silent(v view) (Status, bool) {
	quiet := v.now-v.s.Updated > silence
	return Status{State: Unknown, Reason: "silent", Since: v.s.Updated},
		quiet && v.ev.Process == Unread && v.ev.Registry.Status == ""
}

// oldestWait returns the call that has waited longest among the waits that want accepts, over
// all actors, so that a busy sibling never hides it.
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

func reviewed(v view) (Status, bool) {
	st, asks := openPermission(v)
	st.State, st.Reason = Working, "reviewed by the agent"
	return st, asks && v.ev.Reviewed
}

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
		since = a.Active // the previous turn's end was folded after this turn's start
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
	running := v.s.Subagents()
	if len(running) == 0 {
		return Status{}, false
	}
	a := running[0]
	return Status{State: Working, Reason: "subagent", Since: a.Started, Actor: a.ID, Call: newestCall(a)}, true
}

// backgroundRuns holds while the newest snapshot lists an agent that no SubagentStop has ended since.
func backgroundRuns(v view) (Status, bool) {
	for _, t := range v.s.Stop.Background {
		if agentTask(t) && taskRuns(t) && !v.s.stopped(t.ID) {
			return Status{State: Working, Reason: "background agent", Since: v.s.Stop.Snapshot, Actor: t.ID}, true
		}
	}
	return Status{}, false
}

// subagentReturned bridges the time between a background agent's end and the prompt with which
// the client takes up its result.
func subagentReturned(v view) (Status, bool) {
	a := v.s.returned()
	waits := a.ID != "" && v.now < a.Ended+returnWait
	return Status{State: Working, Reason: "subagent", Since: a.Started, Actor: a.ID}, waits
}

// returned returns the subagent that stopped last among those whose result the main
// conversation has not taken up yet, or the zero Actor.
func (s *Session) returned() (last Actor) {
	main := s.Main()
	for _, a := range s.Actors {
		if a.ID != "" && a.How == EndStop && a.Active != 0 && a.Ended > max(main.Ended, last.Ended) {
			last = a
		}
	}
	return last
}

// settledTurn returns the verdict on a turn that is over.
func (v view) settledTurn() Status {
	for _, r := range overRules {
		if st, ok := r.holds(v); ok {
			if r.by == Inferred {
				st.Source = r.by // the registry reports only that it is over, not how
			}
			return st
		}
	}
	return Status{}
}

func failed(v view) (Status, bool) {
	a, f := v.s.Main(), v.s.Failure
	st := Status{State: Failed, Reason: f.Reason, Since: f.At}
	if v.s.Saw(FromMod, SawFailed) == f.At {
		st.Source = FromMod
	}
	return st, a.How == EndFailure && f.At == a.Ended && v.s.leftAlone()
}

// OwnTurn reports whether a turn runs that the client itself began, with the result of
// background work, and the user has not joined.
func (s *Session) OwnTurn() bool {
	main := s.Main()
	return main.running() && main.Started == s.Prompt.Own && s.Prompt.At <= main.Ended
}

// leftAlone reports whether the main conversation has done nothing for the user since its last turn ended.
func (s *Session) leftAlone() bool {
	main := s.Main()
	return !main.running() || s.OwnTurn()
}

// asked holds if the last turn's final message asks a question. That is inferred from its
// text, so the confidence is low.
func asked(v view) (Status, bool) {
	a, p := v.s.Main(), v.s.Stop
	asks := a.How == EndStop && a.Ended == p.At && p.Intent == intent.IntentQuestion
	return Status{State: Question, Reason: "text", Since: cmp.Or(p.Asked, p.At)}, asks && v.s.leftAlone()
}

func idle(v view) (Status, bool) {
	a := v.s.Main()
	st := Status{State: Idle, Reason: Done, Since: a.Ended}
	switch a.How {
	case EndStart, "":
		st.Reason = Fresh
	case EndIdle, EndBroken: // a turn that ended without a Stop was interrupted
		st.Reason = Interrupted
	case EndHalt:
		st.Reason, st.Source = Interrupted, v.s.haltSource(a.Ended)
	}
	if a.Ended == 0 {
		st.Since = v.s.Created
	}
	return st, true
}

// haltSource returns the source of a halt observed at or after t, or Inferred.
func (s *Session) haltSource(t event.Millis) Source {
	for _, o := range s.Seeing {
		if o.What == SawHalt && o.At >= t {
			return o.Source
		}
	}
	return Inferred
}

// State is the one word that sums up a session.
type State string

// The states. Permission, Question and Failed need the user; an unseen Idle does so less urgently.
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

// States lists all states, those that need the user first. Views sort and count in this order.
var States = [...]State{Permission, Question, Failed, Working, Compacting, Idle, Backburned, Unknown, Ended, Lost}

// NeedsYou reports whether s is a state that waits for the user.
func (s State) NeedsYou() bool { return s == Permission || s == Question || s == Failed }

// Live reports whether a session in state s is still there.
func (s State) Live() bool { return s != Ended && s != Lost }

// AtWork reports whether a session in state s works on its own.
func (s State) AtWork() bool { return s == Working || s == Compacting }

// Asks reports whether a session in state s waits for an answer.
func (s State) Asks() bool { return s == Permission || s == Question }

// InTurn reports whether a session in state s may have a turn to stop.
func (s State) InTurn() bool { return s.Live() && s != Idle && s != Failed }

// Reasons of an idle session.
const (
	Done        = "done"
	Interrupted = "interrupted"
	Fresh       = "started"
)

// Presence says what a reader knows about the agent's process.
type Presence uint8

// The values of Presence. A reader on another host, boot or pid namespace finds Unread.
const (
	Unread Presence = iota
	Alive
	Gone
)

// Evidence is what a reader saw besides the session's own facts. The zero value means that
// nothing was read; then only hooks count.
type Evidence struct {
	Process  Presence
	Registry Registry
	Halted   event.Millis // the newest interrupt in the transcript's tail that no activity of the turn follows
	Answer   Answer
	Version  string // of the agent, if its own files name it
	Reviewed bool   // the agent's own reviewer decides on permissions: nobody is asked
}

// Answer says what the transcript of a headless run shows about the call returned by Session.Asking.
type Answer uint8

// The values of Answer.
const (
	AnswerUnread Answer = iota
	AnswerAwaited
	AnswerGiven
)

// Status is the verdict on a session, and its source.
type Status struct {
	State      State
	Reason     string
	Since      event.Millis
	NeedsYou   bool
	Unseen     bool // a turn ended that the user has not looked at
	Source     Source
	Confidence Confidence
	Rule       string // the rule that decided
	Actor      string // the actor whose call or turn decided, empty for the main conversation
	Asks       string // what the client says it needs, if no call says it
	Call       Call   // the call that decided, zero if there is none
}
