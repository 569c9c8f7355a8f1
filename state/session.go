// Package state says what an agent's events mean.
//
// Session holds facts with their times and no verdict; Apply folds one Change
// into it; Resolve turns facts and evidence into one word. All three are pure,
// total and deterministic: the same journal always gives the same bytes, and
// changes that can really arrive in either order give the same state
// (CASE 10), because facts are compared by their own times and not by the
// order of arrival.
package state

import (
	"iter"
	"slices"

	"beckon/event"
)

// Schema is the number of the session format this version writes. A file with
// a newer number is left untouched.
const Schema = 1

// Limits that keep a session file under 64 KiB whatever happens. What is over them is forgotten oldest first.
const (
	maxActors  = 24
	maxCalls   = 32 // open calls over all actors
	maxClosed  = 32 // tombstones of closed calls, none older than some seconds
	maxRecent  = 48 // events of the last seconds, to tell a second install's copies
	maxSeeing  = 16 // observations: one of each source and kind
	maxTodos   = 64
	maxStopped = 8 // subagents shown after they stopped
)

// Session is what is known of one agent session: facts with their times. No verdict is in it; that is Resolve's.
type Session struct {
	Schema    int          `json:"schema,omitempty"`
	ID        string       `json:"session_id,omitempty"`
	Part      string       `json:"part,omitempty"` // see Record
	Agent     string       `json:"agent,omitempty"`
	Seat      string       `json:"seat_id,omitempty"`
	ProjectID string       `json:"project_id,omitempty"`
	Seq       int64        `json:"seq,omitempty"`    // last journal line folded
	Offset    int64        `json:"offset,omitempty"` // bytes of the journal folded
	Created   event.Millis `json:"created_at,omitempty"`
	Updated   event.Millis `json:"updated_at,omitempty"` // newest change of any kind
	Activity  event.Millis `json:"activity_at,omitempty"`

	Origin     event.Origin `json:"origin,omitzero"`
	OriginAt   event.Millis `json:"origin_at,omitempty"`
	Cwd        string       `json:"cwd,omitempty"`
	Transcript string       `json:"transcript_path,omitempty"`
	Model      string       `json:"model,omitempty"`
	Name       string       `json:"name,omitempty"` // that the user gave it (/rename, --name)
	Mode       string       `json:"permission_mode,omitempty"`
	Effort     string       `json:"effort,omitempty"`

	Start      Mark         `json:"start,omitzero"` // newest SessionStart; Reason is its source
	End        Mark         `json:"end,omitzero"`   // SessionEnd
	Lost       Mark         `json:"lost,omitzero"`  // the process was seen to be gone
	Prompt     Prompt       `json:"prompt,omitzero"`
	Stop       Stop         `json:"stop,omitzero"`
	Task       Task         `json:"task,omitzero"`
	Progress   event.Millis `json:"progress_at,omitempty"` // the transcript was read for progress up to this entry
	Failure    Mark         `json:"failure,omitzero"`      // newest StopFailure
	Compact    Span         `json:"compact,omitzero"`
	Seen       event.Millis `json:"seen_at,omitempty"`
	Backburner Backburner   `json:"backburner,omitzero"`
	Removed    event.Millis `json:"removed_at,omitempty"`

	Actors []Actor    `json:"actors,omitempty"` // [0], when present, is the main conversation
	Closed []Closed   `json:"closed,omitempty"`
	Recent []Recent   `json:"recent,omitempty"`
	Seeing []Observed `json:"observed,omitempty"` // newest observation of each source and kind
	Todos  Todos      `json:"todos,omitzero"`
	Counts Counts     `json:"counts,omitzero"`

	// Meter is what the status line had reported by the newest Stop that knew.
	Meter event.Meter `json:"meter,omitzero"`

	// Raised is the newest Notification by which the client asked for the user;
	// Reason is its kind, Detail its text.
	Raised Mark `json:"raised,omitzero"`

	// Last is the newest event folded; Reason is its name.
	Last Mark `json:"last,omitzero"`
}

// Mark is something that happened once, with what was said of it.
type Mark struct {
	At     event.Millis `json:"at,omitempty"`
	Reason string       `json:"reason,omitempty"`
	Detail string       `json:"detail,omitempty"`
}

// Span is something that starts and ends. It is open while Done < At.
type Span struct {
	At     event.Millis `json:"at,omitempty"`
	Done   event.Millis `json:"done,omitempty"`
	Reason string       `json:"reason,omitempty"`
}

// Prompt is the newest prompt the user wrote, not the client (CASES 9 and 12).
type Prompt struct {
	At    event.Millis `json:"at,omitempty"`
	ID    string       `json:"id,omitempty"`    // prompt_id of the newest turn, one of the client's own included
	Text  string       `json:"text,omitempty"`  // head, at most event.MaxPrompt bytes
	First event.Millis `json:"first,omitempty"` // the prompt that opened this turn
}

// Stop is the newest Stop of the main conversation and the snapshot of
// background work that the newest Stop or SubagentStop carried. The snapshot
// is the truth about what still runs; nothing is counted (CASE 8).
type Stop struct {
	At         event.Millis `json:"at,omitempty"`
	Message    string       `json:"message,omitempty"`    // tail, at most event.MaxMessage bytes
	Intent     Intent       `json:"intent,omitempty"`     // what the message means (package intent)
	Confidence int          `json:"confidence,omitempty"` // of that, percent
	Rule       string       `json:"rule,omitempty"`       // the rule of package intent that said so
	Question   string       `json:"question,omitempty"`   // the sentence that asks, when the turn ended in a question
	Asked      event.Millis `json:"asked,omitempty"`      // when it was asked, if turns that the client began ended since
	Snapshot   event.Millis `json:"snapshot,omitempty"`
	Background []event.Task `json:"background,omitempty"`
	Crons      int          `json:"crons,omitempty"`
}

// Backburner is set while the user has put the session aside: it leaves by the
// user's own next prompt, by `backburner --off`, or by its time.
type Backburner struct {
	At    event.Millis `json:"at,omitempty"`
	Until event.Millis `json:"until,omitempty"` // zero: until the user's own next prompt
	Off   event.Millis `json:"off,omitempty"`
}

// on reports whether the session is set aside at now.
func (b Backburner) on(now event.Millis) bool {
	return b.At > b.Off && (b.Until == 0 || now < b.Until)
}

// SetAside reports whether the user has set the session aside at now, and until
// when; zero means until their next prompt.
func (s *Session) SetAside(now event.Millis) (until event.Millis, aside bool) {
	return s.Backburner.Until, s.Backburner.on(now)
}

// Actor is the main conversation (empty ID) or one subagent. It runs while its newest activity is not over.
type Actor struct {
	ID      string       `json:"id,omitempty"`
	Type    string       `json:"type,omitempty"`
	Started event.Millis `json:"started,omitempty"` // first sign of its newest run
	Active  event.Millis `json:"active,omitempty"`  // newest event that shows it at work
	Ended   event.Millis `json:"ended,omitempty"`
	How     string       `json:"how,omitempty"` // how it ended: one of the End... constants
	Calls   []Call       `json:"calls,omitempty"`
}

// How an actor's turn ended.
const (
	EndStop    = "stop"    // Stop, SubagentStop
	EndFailure = "failure" // StopFailure
	EndHalt    = "halt"    // Esc or a refusal, as a reader saw it or the next prompt shows
	EndIdle    = "idle"    // idle_prompt; of a subagent, a snapshot without it
	EndStart   = "start"   // the session (re)started
	EndBroken  = "broken"  // Esc or a refusal, as the agent itself says
)

func (a *Actor) running() bool { return a.Active != 0 && !a.over(a.Active) }

// over reports whether what began at t had ended when the actor's turn did. In
// one millisecond a turn's work comes before its end, and after the start of
// its session.
func (a *Actor) over(t event.Millis) bool {
	return t < a.Ended || t == a.Ended && a.How != EndStart
}

// Call is one open tool call. It waits for the user while Asked is set and
// Answered is not (CASES 2 to 4).
type Call struct {
	UseID     string       `json:"id,omitempty"` // empty: only its PermissionRequest was seen
	Name      string       `json:"name,omitempty"`
	Hash      string       `json:"hash,omitempty"`
	Summary   string       `json:"summary,omitempty"`
	At        event.Millis `json:"at,omitempty"`
	Kind      WaitKind     `json:"kind,omitempty"` // what it waits for, when it does
	Asked     event.Millis `json:"asked,omitempty"`
	Requested bool         `json:"requested,omitempty"` // a PermissionRequest was paired with it
	Answered  event.Millis `json:"answered,omitempty"`  // the wait is over, though the call has not ended: a reader saw it
	Ask       *event.Ask   `json:"ask,omitempty"`       // what the user is asked, for display
}

func (c *Call) waiting() bool { return c.Asked != 0 && c.Answered == 0 }

// WaitKind is what a call waits for.
type WaitKind string

// What a call can wait for. Everything but WaitPermission is a question
// (CASE 4).
const (
	WaitPermission WaitKind = "permission"
	WaitQuestion   WaitKind = "question" // AskUserQuestion
	WaitPlan       WaitKind = "plan"     // ExitPlanMode, EnterPlanMode
	WaitForm       WaitKind = "form"     // MCP elicitation
)

// Closed is the tombstone of a call, so that its late PreToolUse or
// PermissionRequest does not open it again (CASE 10).
type Closed struct {
	UseID     string       `json:"id,omitempty"`
	Actor     string       `json:"actor,omitempty"`
	Hash      string       `json:"hash,omitempty"`
	At        event.Millis `json:"at,omitempty"`
	Requested bool         `json:"requested,omitempty"`
}

// Recent is an event remembered for CASE 24: a copy from an install of other
// origin within a second is the same event.
type Recent struct {
	Sig    string       `json:"sig,omitempty"`
	Via    string       `json:"via,omitempty"`
	At     event.Millis `json:"at,omitempty"`
	Paired bool         `json:"paired,omitempty"`
}

// Todos counts the agent's own task list (TaskCreated, TaskCompleted).
type Todos struct {
	Open []string `json:"open,omitempty"` // task ids
	Done int      `json:"done,omitempty"`
	// Over counts open tasks beyond the limit of ids kept.
	Over int `json:"over,omitempty"`
}

// Counts are totals over the session's life.
type Counts struct {
	Events      int64 `json:"events,omitempty"`
	Turns       int64 `json:"turns,omitempty"`
	Tools       int64 `json:"tools,omitempty"`
	Failures    int64 `json:"failures,omitempty"`
	Permissions int64 `json:"permissions,omitempty"`
	Questions   int64 `json:"questions,omitempty"`
	Subagents   int64 `json:"subagents,omitempty"`
}

// Change is one thing that happened to a session. Exactly one of Event,
// Observation, Action and Turn is set.
type Change struct {
	Seq int64        // number of its journal line
	At  event.Millis // when it happened

	Event       *event.Event
	Observation *Observed
	Action      *Action
	Turn        *Turn
}

// Confidence says how sure a source is.
type Confidence string

// The confidences, and the sources that have them.
const (
	High   Confidence = "high"   // hook, mod, registry, process
	Medium Confidence = "medium" // transcript
	Low    Confidence = "low"    // inferred
)

// Source says where a fact comes from.
type Source string

// The sources of facts.
const (
	FromHook       Source = "hook"
	FromRegistry   Source = "registry"
	FromProcess    Source = "process"
	FromTranscript Source = "transcript"
	FromMod        Source = "mod" // beckon's module inside the client
	FromUser       Source = "user"
	Inferred       Source = "inferred"
)

// Confidence returns how sure s is.
func (s Source) Confidence() Confidence {
	switch s {
	case FromTranscript:
		return Medium
	case Inferred:
		return Low
	}
	return High
}

// Seeing is what an observation says.
type Seeing string

// What a reader can see that no hook reports (CASE 1).
const (
	SawHalt     Seeing = "halt"     // Esc, or a refusal: nothing runs and nothing waits
	SawApproved Seeing = "approved" // the open dialogs were answered, the calls run
	SawWaiting  Seeing = "waiting"  // a dialog thought to be answered is open
	SawGone     Seeing = "gone"     // the process is no more
	SawAlive    Seeing = "alive"    // a process thought to be gone is there
	SawNothing  Seeing = "nothing"  // the transcript has no final words of the newest turn
	SawFailed   Seeing = "failed"   // an API error ended the turn
	SawGoesOn   Seeing = "goes on"  // a hook of the user's own blocked the Stop
	SawLoaded   Seeing = "loaded"   // the mod runs in the client; Detail is its version
)

// Observed is something a reader saw, with the time it happened as far as the
// source tells.
type Observed struct {
	Source Source       `json:"source,omitempty"`
	What   Seeing       `json:"what,omitempty"`
	At     event.Millis `json:"at,omitempty"`
	Detail string       `json:"detail,omitempty"`
}

// ActionKind is what the user did to a session through beckon.
type ActionKind string

// What a user can do to a session.
const (
	ActSeen          ActionKind = "seen"
	ActBackburner    ActionKind = "backburner"
	ActBackburnerOff ActionKind = "unburner"
	ActRemove        ActionKind = "remove"
	ActDecided       ActionKind = "decided" // the user's policy answered an event, or the user did from elsewhere
)

// Action is something the user did to the session through beckon.
type Action struct {
	Kind    ActionKind   `json:"kind,omitempty"`
	Until   event.Millis `json:"until,omitempty"`   // backburner: when it ends by itself
	Decided *Decided     `json:"decided,omitempty"` // decided: what, and about which event
}

// Decided is what a policy, or the user through beckon, answered an event. The client raises nothing more
// for a call that a hook denied, a prompt that it blocked, or a stop that it
// did not allow, so the answer itself is the fact.
type Decided struct {
	Event   event.Kind   `json:"event,omitempty"`
	Of      event.Millis `json:"of,omitempty"`   // when the event was
	Word    string       `json:"word,omitempty"` // one of the Word... constants
	AgentID string       `json:"agent_id,omitempty"`
	UseID   string       `json:"id,omitempty"` // tool_use_id, form's id or task_id
	Tool    string       `json:"tool,omitempty"`
	Hash    string       `json:"hash,omitempty"`    // of the input that the event had
	NewHash string       `json:"new,omitempty"`     // rewritten: of the one that was made of it
	Summary string       `json:"summary,omitempty"` // rewritten: the call as it is now

	// What a person answered, and no policy: who, where, and after how long.
	By     string       `json:"by,omitempty"`
	From   string       `json:"from,omitempty"`
	Waited event.Millis `json:"waited_ms,omitempty"`
}

// What a policy can answer, as far as it is a fact of the session.
const (
	WordRefused   = "refused"   // it does not happen
	WordAllowed   = "allowed"   // the user is not asked
	WordRewritten = "rewritten" // the call runs with another input
	WordHalted    = "halted"    // the agent stops working
	WordGoesOn    = "goes on"   // the agent does not stop
	WordReplied   = "replied"   // the user wrote to a session whose turn was over
)

// Headless reports whether the session is a run of `claude -p`, which has no
// screen to ask on.
func (s *Session) Headless() bool { return s.Origin.Entry == "sdk-cli" }

// Asking returns the id of the main conversation's newest call that asked and
// has not ended, and when it asked; zero when there is none.
func (s *Session) Asking() (useID string, at event.Millis) {
	for _, c := range s.Main().Calls {
		if c.Asked > at && c.UseID != "" {
			useID, at = c.UseID, c.Asked
		}
	}
	return useID, at
}

// Record names the session among all: its id, and where several processes run
// one session at once, "ID~PART" for each but the first. Facts belong to the
// process that they come from: the end of one is not the end of the other.
func (s *Session) Record() string { return Record(s.ID, s.Part) }

// Record joins a session's id and the part of it that one process has.
func Record(id, part string) string {
	if part == "" {
		return id
	}
	return id + "~" + part
}

// calls yields the open calls of s, each with its actor.
func (s *Session) calls() iter.Seq2[*Actor, *Call] {
	return func(yield func(*Actor, *Call) bool) {
		for i := range s.Actors {
			a := &s.Actors[i]
			for j := range a.Calls {
				if !yield(a, &a.Calls[j]) {
					return
				}
			}
		}
	}
}

// anyCall reports whether one of the open calls is such.
func (s *Session) anyCall(is func(*Call) bool) bool {
	for _, c := range s.calls() {
		if is(c) {
			return true
		}
	}
	return false
}

// waits yields the calls that wait and that want accepts, each with its actor.
func (s *Session) waits(want func(WaitKind) bool) iter.Seq2[*Actor, *Call] {
	return func(yield func(*Actor, *Call) bool) {
		for a, c := range s.calls() {
			if c.waiting() && want(c.Kind) && !yield(a, c) {
				return
			}
		}
	}
}

// waits reports whether one of the actor's calls does.
func (a *Actor) waits() bool {
	return slices.ContainsFunc(a.Calls, func(c Call) bool { return c.waiting() })
}

// Main returns the main conversation; the zero Actor before its first event.
func (s *Session) Main() Actor {
	if len(s.Actors) > 0 && s.Actors[0].ID == "" {
		return s.Actors[0]
	}
	return Actor{}
}
