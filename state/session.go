// Package state turns an agent's events into the state of its session.
//
// Session holds facts with their times, but no verdict. Apply folds one Change into it, and Resolve turns
// facts and evidence into one word. All are pure, total and deterministic. Changes that can really arrive in
// either order give the same state: facts are compared by their own times.
package state

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"beckon/event"
)

// Schema is the version of the session format that this package writes. A file with a newer
// version is left untouched.
const Schema = 1

// Limits that keep a session file under 64 KiB. Beyond them the oldest or least useful items are dropped.
const (
	maxActors  = 24
	maxStopped = 9  // of them: the main conversation, and subagents that are still shown
	maxCalls   = 32 // open calls over all actors
	maxClosed  = 32 // tombstones of closed calls, none older than a minute
	maxRecent  = 48 // events of the last seconds, to detect a second install's copies
	maxSeeing  = 16 // observations: one of each source and kind
	maxDenials = 8  // refused calls with their reasons
)

// Session holds the facts about one agent session, with their times. The verdict is not among
// them: see Resolve.
type Session struct {
	Schema    int          `json:"schema,omitempty"`
	ID        string       `json:"session_id,omitempty"`
	Part      string       `json:"part,omitempty"` // see Record
	Agent     string       `json:"agent,omitempty"`
	Seat      string       `json:"seat_id,omitempty"`
	ProjectID string       `json:"project_id,omitempty"`
	Seq       int64        `json:"seq,omitempty"` // number of the newest change
	Created   event.Millis `json:"created_at,omitempty"`
	Updated   event.Millis `json:"updated_at,omitempty"` // newest sign of the session
	Activity  event.Millis `json:"activity_at,omitempty"`

	Origin     event.Origin `json:"origin,omitzero"`
	OriginAt   event.Millis `json:"origin_at,omitempty"`
	Cwd        string       `json:"cwd,omitempty"`
	Transcript string       `json:"transcript_path,omitempty"`
	Model      string       `json:"model,omitempty"`
	Name       string       `json:"name,omitempty"`  // given by the user (/rename, --name)
	Label      string       `json:"label,omitempty"` // words that the user put on the session
	Mode       string       `json:"permission_mode,omitempty"`

	Start      Mark         `json:"start,omitzero"` // newest SessionStart; Reason is its source
	End        Mark         `json:"end,omitzero"`   // SessionEnd
	Lost       Mark         `json:"lost,omitzero"`  // when a reader found the process gone
	Prompt     Prompt       `json:"prompt,omitzero"`
	Stop       Stop         `json:"stop,omitzero"`
	Task       Task         `json:"task,omitzero"`
	Progress   event.Millis `json:"progress_at,omitempty"` // time of the newest transcript entry read for progress
	Failure    Mark         `json:"failure,omitzero"`      // newest StopFailure
	Compact    Span         `json:"compact,omitzero"`
	Seen       event.Millis `json:"seen_at,omitempty"`
	Backburner Backburner   `json:"backburner,omitzero"`
	Removed    event.Millis `json:"removed_at,omitempty"`
	Undo       Undo         `json:"undo,omitzero"`

	Actors []Actor    `json:"actors,omitempty"` // [0], when present, is the main conversation
	Closed []Closed   `json:"closed,omitempty"`
	Recent []Recent   `json:"recent,omitempty"`
	Seeing []Observed `json:"observed,omitempty"` // newest observation of each source and kind
	Denied Denials    `json:"denied,omitzero"`    // calls that the client itself refused
	Counts Counts     `json:"counts,omitzero"`

	// Counted is up to when the session's time is in its history (package stats).
	Counted event.Millis `json:"counted_at,omitempty"`

	// Meter is what the status line had reported by the newest Stop that carried a report.
	Meter event.Meter `json:"meter,omitzero"`

	// Raised is the newest Notification that asked for the user; Reason is its kind, Detail its text.
	Raised Mark `json:"raised,omitzero"`

	// Last is the newest event folded; Reason is its name.
	Last Mark `json:"last,omitzero"`

	// Late is the store's: the names of the files in late/ whose events the session contains.
	Late string `json:"late,omitempty"`
}

// Mark is something that happened once, with its reason and details.
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

// Prompt is the newest prompt that the user wrote, and the time of the client's own last one.
type Prompt struct {
	At    event.Millis `json:"at,omitempty"`
	ID    string       `json:"id,omitempty"`     // prompt_id of the newest turn, even if the client began it
	Text  string       `json:"text,omitempty"`   // head, at most event.MaxPrompt bytes
	First event.Millis `json:"first,omitempty"`  // when the turn began: its first prompt
	Own   event.Millis `json:"own_at,omitempty"` // when the client itself last wrote one
}

// Stop is the newest Stop of the main conversation, and the snapshot of background work in the
// newest Stop or SubagentStop.
type Stop struct {
	At         event.Millis `json:"at,omitempty"`
	Message    string       `json:"message,omitempty"`    // tail, at most event.MaxMessage bytes
	Intent     Intent       `json:"intent,omitempty"`     // what the message means (package intent)
	Confidence int          `json:"confidence,omitempty"` // of Intent, in percent
	Rule       string       `json:"rule,omitempty"`       // the rule of package intent that matched
	Question   string       `json:"question,omitempty"`   // the sentence that asks, if the turn ended in a question
	Asked      event.Millis `json:"asked,omitempty"`      // of Question, if the client's own turns ended since
	Snapshot   event.Millis `json:"snapshot,omitempty"`
	Background []event.Task `json:"background,omitempty"`
	Crons      int          `json:"crons,omitempty"`
	Denied     int          `json:"denied,omitempty"` // how many calls the client refused in this turn
}

// Backburner is set while the user has set the session aside: until the user's next prompt,
// `backburner --off`, or its time.
type Backburner struct {
	At    event.Millis `json:"at,omitempty"`
	Until event.Millis `json:"until,omitempty"` // zero: until the user's next prompt; or UntilNeeded
	Off   event.Millis `json:"off,omitempty"`
}

// UntilNeeded sets a session aside while it does not ask for the user anew.
const UntilNeeded event.Millis = -1

// Undo is what the newest mark of the user changed, as it was before. The next prompt ends it.
type Undo struct {
	At         event.Millis `json:"at,omitempty"`
	Kind       ActionKind   `json:"kind,omitempty"`
	Seen       event.Millis `json:"seen_at,omitempty"`
	Backburner Backburner   `json:"backburner,omitzero"`
	Removed    event.Millis `json:"removed_at,omitempty"`
}

// On reports whether the session is set aside at now.
func (b Backburner) On(now event.Millis) bool {
	return b.At > b.Off && (b.Until <= 0 || now < b.Until)
}

// Actor is the main conversation (empty ID) or one subagent. It runs if its newest activity
// came after its end.
type Actor struct {
	ID      string       `json:"id,omitempty"`
	Type    string       `json:"type,omitempty"`
	Started event.Millis `json:"started,omitempty"` // first sign of its newest run
	Active  event.Millis `json:"active,omitempty"`  // newest event that shows it at work
	Ended   event.Millis `json:"ended,omitempty"`
	How     string       `json:"how,omitempty"` // how it ended: one of the End... constants
	Calls   []Call       `json:"calls,omitempty"`
}

// The values of Actor.How.
const (
	EndStop    = "stop"    // Stop, SubagentStop
	EndFailure = "failure" // StopFailure
	EndHalt    = "halt"    // Esc or a refusal, seen by a reader or inferred from the next prompt
	EndIdle    = "idle"    // idle_prompt; for a subagent, a snapshot that does not list it
	EndStart   = "start"   // the session (re)started
	EndBroken  = "broken"  // Esc or a refusal, reported by the agent itself
)

func (a *Actor) running() bool { return a.Active != 0 && !a.over(a.Active) }

// over reports whether something that began at t ended with the actor's turn. In the same
// millisecond, the work of a turn comes before its end, but after its session's start.
func (a *Actor) over(t event.Millis) bool {
	return t < a.Ended || t == a.Ended && a.How != EndStart
}

// Call is one open tool call. It waits for the user while Asked is set and Answered is not.
type Call struct {
	UseID     string       `json:"id,omitempty"` // empty if only its PermissionRequest was seen
	Name      string       `json:"name,omitempty"`
	Hash      string       `json:"hash,omitempty"`
	Summary   string       `json:"summary,omitempty"`
	At        event.Millis `json:"at,omitempty"`
	Kind      WaitKind     `json:"kind,omitempty"` // what it waits for, if it does
	Asked     event.Millis `json:"asked,omitempty"`
	Requested bool         `json:"requested,omitempty"` // a PermissionRequest was paired with it
	Answered  event.Millis `json:"answered,omitempty"`  // when the wait ended, though the call is still open
	Ask       *event.Ask   `json:"ask,omitempty"`       // what to show the user about the wait
}

func (c *Call) waiting() bool { return c.Asked != 0 && c.Answered == 0 }

// WaitKind is what a call waits for.
type WaitKind string

// The values of WaitKind. All but WaitPermission are questions.
const (
	WaitPermission WaitKind = "permission"
	WaitQuestion   WaitKind = "question" // AskUserQuestion
	WaitPlan       WaitKind = "plan"     // ExitPlanMode, EnterPlanMode
	WaitForm       WaitKind = "form"     // MCP elicitation
)

// Closed is the tombstone of a call. It keeps a late PreToolUse or PermissionRequest from
// opening the call again.
type Closed struct {
	UseID     string       `json:"id,omitempty"`
	Actor     string       `json:"actor,omitempty"`
	Hash      string       `json:"hash,omitempty"`
	At        event.Millis `json:"at,omitempty"`
	Requested bool         `json:"requested,omitempty"`
}

// Recent is an event of the last seconds: a copy of it that another entry of the client's sends
// within a second is the same event.
type Recent struct {
	Sig    string       `json:"sig,omitempty"`
	Via    string       `json:"via,omitempty"`
	At     event.Millis `json:"at,omitempty"`
	Paired bool         `json:"paired,omitempty"`
}

// Denials are the calls of the user's newest turn that the client refused without asking
// anybody, as the classifier of auto mode does.
type Denials struct {
	Count int      `json:"count,omitempty"`
	New   int      `json:"new,omitempty"`   // of Count, those since the turn before ended
	Calls []Denial `json:"calls,omitempty"` // the newest
}

// Denial is a call that the client refused.
type Denial struct {
	At      event.Millis `json:"at,omitempty"`
	Actor   string       `json:"actor,omitempty"` // the subagent, empty for the main conversation
	Tool    string       `json:"tool,omitempty"`
	Summary string       `json:"summary,omitempty"`
	Reason  string       `json:"reason,omitempty"` // in the client's words
	Code    string       `json:"code,omitempty"`   // by which the user can allow the call once
}

// Counts are totals over the session's life.
type Counts struct {
	Events      int64 `json:"events,omitempty"`
	Turns       int64 `json:"turns,omitempty"`
	Tools       int64 `json:"tools,omitempty"`
	Permissions int64 `json:"permissions,omitempty"`
	Questions   int64 `json:"questions,omitempty"`
}

// ProjectName returns the name of the session's repository, else of its directory.
func (s *Session) ProjectName() string {
	dir := cmp.Or(s.Origin.Project, s.Cwd)
	return cmp.Or(s.Origin.Git.Repo, dir[strings.LastIndexAny(dir, `/\`)+1:], dir)
}

// Headless reports whether the session is a run of `claude -p`, which has no screen to ask on.
func (s *Session) Headless() bool { return s.Origin.Entry == "sdk-cli" }

// Asking returns the id of the main conversation's newest open call that has asked, and when
// it asked; zero values if there is none.
func (s *Session) Asking() (useID string, at event.Millis) {
	for _, c := range s.Main().Calls {
		if c.Asked > at && c.UseID != "" {
			useID, at = c.UseID, c.Asked
		}
	}
	return useID, at
}

// Record returns the session's unique name: its id, or "ID~PART" for every process but the
// first of several that run one session at once. When one ends, the others go on.
func (s *Session) Record() string { return Record(s.ID, s.Part) }

// Record joins a session's id and the part that one process has.
func Record(id, part string) string {
	if part == "" {
		return id
	}
	return id + "~" + part
}

// Calls yields the open calls of s, each with its actor.
func (s *Session) Calls() iter.Seq2[*Actor, *Call] {
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

// anyCall reports whether is accepts one of the open calls.
func (s *Session) anyCall(is func(*Call) bool) bool {
	for _, c := range s.Calls() {
		if is(c) {
			return true
		}
	}
	return false
}

// SoleAsk returns when the only open call of s asked for a permission that it still waits for, 0
// if there is no such call, or other calls are open.
func (s *Session) SoleAsk() (asked event.Millis) {
	n := 0
	for _, c := range s.Calls() {
		if n++; c.waiting() && c.Kind == WaitPermission {
			asked = c.Asked
		}
	}
	if n != 1 {
		return 0
	}
	return asked
}

// waits yields the waiting calls whose kind want accepts, each with its actor.
func (s *Session) waits(want func(WaitKind) bool) iter.Seq2[*Actor, *Call] {
	return func(yield func(*Actor, *Call) bool) {
		for a, c := range s.Calls() {
			if c.waiting() && want(c.Kind) && !yield(a, c) {
				return
			}
		}
	}
}

// waits reports whether one of the actor's calls waits.
func (a *Actor) waits() bool {
	return slices.ContainsFunc(a.Calls, func(c Call) bool { return c.waiting() })
}

// Main returns the main conversation, or the zero Actor before its first event.
func (s *Session) Main() Actor {
	if len(s.Actors) > 0 && s.Actors[0].ID == "" {
		return s.Actors[0]
	}
	return Actor{}
}

// Began returns when an actor began its present work: for the session itself also its newest prompt.
func (s *Session) Began(actor string) (at event.Millis) {
	if actor == "" {
		at = s.Prompt.At
	}
	for i := range s.Actors {
		if s.Actors[i].ID == actor {
			at = max(at, s.Actors[i].Started)
		}
	}
	return at
}
