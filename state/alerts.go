package state

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
)

// AlertKind is a kind of change that the user may want to be notified of.
type AlertKind string

// The kinds of alerts.
const (
	AlertPermission AlertKind = "permission"
	AlertQuestion   AlertKind = "question"
	AlertFailed     AlertKind = "failed"
	AlertRefused    AlertKind = "refused" // done, after the client itself refused some of its calls
	AlertDone       AlertKind = "done"
	AlertBack       AlertKind = "back" // the time is over that the user set it aside for; none of AlertKinds
	AlertPane       AlertKind = "pane" // the state has changed, which the pane is to show; none of AlertKinds
)

// AlertKinds lists all kinds, the most urgent first.
var AlertKinds = [...]AlertKind{AlertPermission, AlertQuestion, AlertFailed, AlertRefused, AlertDone}

// Over reports whether the kind asks nothing, as that of a finished turn.
func (k AlertKind) Over() bool { return k == AlertDone || k == AlertRefused || k == AlertBack }

// Alert is the moment at which a session reached a state that the user may want to know of. Kind
// and At identify it: all who read the same facts find the same alert.
type Alert struct {
	Kind   AlertKind
	At     event.Millis
	Actor  string       // the subagent, empty for the main conversation
	Dialog bool         // the client holds a dialog open
	Call   Call         // the call that asks, zero if there is none
	Turn   event.Millis // how long the turn took, in milliseconds; 0 while a dialog is open
	Aside  bool         // the user has set the session aside
	Robot  bool         // no user sits at it: it runs under `claude -p` or the SDK

	// Input is when the user last wrote to the session; zero when that is not known.
	Input event.Millis
}

// ID returns the alert's name, which is unique in its session and fit for a file name.
func (e Alert) ID() string { return string(e.Kind) + "-" + strconv.FormatInt(int64(e.At), 10) }

// Delay returns how long, in milliseconds, an alert of the kind must last before the user is
// notified: a turn may seem over for a moment, and a hook may answer a dialog.
func (k AlertKind) Delay() event.Millis {
	if k.Over() {
		return lingers + dwell
	}
	return 1000
}

// ParseAlert returns the alert of an ID, with only Kind and At set.
func ParseAlert(id string) (Alert, bool) {
	kind, at, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(at, 10, 64)
	return Alert{Kind: AlertKind(kind), At: event.Millis(n)}, err == nil &&
		slices.Contains(append(AlertKinds[:], AlertBack, AlertPane), AlertKind(kind))
}

// AlertState is a session's state, and the alert that led to it, if any.
type AlertState struct {
	State State
	Alert Alert
	Open  bool // Alert is set, and the session has not gone on since

	began event.Millis // the first sign of the main conversation's newest turn
	ended event.Millis // when that turn ended, if it has
	over  bool         // that turn is over, and no newer event has come
}

// Closes reports whether e, the end of a turn, may still become the session's alert: the turn
// has ended, but the client is still busy with it.
func (st AlertState) Closes(e Alert) bool { return st.State == Working && st.over && st.ended == e.At }

// AlertStateOf returns where a session stands at now. For a session that is set aside, State is
// what it would be otherwise, and Alert.Aside is set.
func AlertStateOf(s Session, ev Evidence, now event.Millis) AlertState {
	st := Resolve(s, ev, now)
	aside := st.State == Backburned
	if aside {
		v := view{s: &s, ev: &ev, now: now}
		st = v.turn()
	}
	e, ok := openAlert(&s, st)
	e.Aside, e.Input, e.Robot = aside, s.Prompt.At, strings.HasPrefix(s.Origin.Entry, "sdk")
	main := s.Main()
	return AlertState{State: st.State, Alert: e, Open: ok, began: main.Started, ended: main.Ended, over: !main.running()}
}

func openAlert(s *Session, st Status) (Alert, bool) {
	switch {
	case st.State == Permission:
		return s.newestWait(AlertPermission, st, isPermission), true
	case st.State == Question && st.Rule != RuleAsked:
		return s.newestWait(AlertQuestion, st, isQuestion), true
	case st.State == Question:
		return Alert{Kind: AlertQuestion, At: st.Since, Turn: s.turn(st.Since)}, true
	case st.State == Failed:
		return Alert{Kind: AlertFailed, At: st.Since, Turn: s.turn(st.Since)}, true
	case st.State == Idle && st.Reason == Done && s.Main().How == EndStop:
		kind := AlertDone
		if s.Stop.Denied > 0 {
			kind = AlertRefused
		}
		return Alert{Kind: kind, At: st.Since, Turn: s.turn(st.Since)}, true
	}
	return Alert{}, false
}

// burst is how far apart, in milliseconds, the calls of one message may ask.
const burst = 1000

// newestWait returns the alert of the dialog that opened last: an older one whose answer no hook
// reported must not hide it. Of calls that asked together the client shows the first.
func (s *Session) newestWait(kind AlertKind, st Status, want func(WaitKind) bool) Alert {
	e := Alert{Kind: kind, At: st.Since, Actor: st.Actor, Dialog: true, Call: st.Call}
	var newest event.Millis
	for _, c := range s.waits(want) {
		newest = max(newest, c.Asked)
	}
	if newest == 0 {
		return e // only the registry reports an open dialog
	}
	e.At, e.Call = newest, Call{}
	for a, c := range s.waits(want) {
		if c.Asked >= e.At-burst && (e.Call.Asked == 0 || c.Asked < e.Call.Asked) {
			e.Call, e.Actor = *c, a.ID
		}
	}
	for _, x := range s.Closed { // another dialog of its actor had to be answered first
		if x.Requested && x.Actor == e.Actor && x.At > e.Call.Asked {
			e.At = max(e.At, x.At)
		}
	}
	return e
}

// turn returns the length of the turn that was over at end, counted from the prompt with which
// the user opened it.
func (s *Session) turn(end event.Millis) event.Millis {
	from := s.Prompt.First
	if from == 0 {
		from = s.Main().Started
	}
	if from == 0 || from > end {
		return 0
	}
	return end - from
}

// AlertOf returns the alert that is new between two states of a session, and whether there is one.
func AlertOf(was, is AlertState) (Alert, bool) {
	e := is.Alert
	switch {
	case !is.Open:
		return Alert{}, false
	case was.Open && was.Alert.Kind == e.Kind && (was.Alert.At == e.At || e.Dialog && was.Alert.At > e.At):
		return Alert{}, false // the same alert, or an older dialog that remains after a newer one was answered
	case e.Kind.Over() && !was.State.AtWork() && !was.State.Asks() && is.began <= was.ended:
		return Alert{}, false // a Stop without a turn: the user's own shell command causes one
	case !e.Dialog && was.State == Compacting && was.ended >= e.At:
		return Alert{}, false // a compaction between two turns: the alert was seen at the end of the first
	}
	return e, true
}

// Focus says whether the user looks at a session's pane.
type Focus uint8

// The values of Focus.
const (
	FocusUnknown Focus = iota // nothing says
	FocusHere                 // the pane is in view and has the keyboard
	FocusElsewhere
)

// Rules are the user's choices about alerts.
type Rules struct {
	On        []AlertKind
	DoneAfter time.Duration // a done alert needs a turn of at least this length
}

// Hearing is what Decide takes into account besides the alert and the rules.
type Hearing struct {
	Now        event.Millis
	Quiet      bool         // now is in the quiet hours
	Focus      Focus        // whether the user looks at the pane
	Still      bool         // the client reports that nobody has typed for six seconds
	Notified   bool         // the user was notified of this alert
	NotifiedAt event.Millis // when the user was last notified of an alert of this kind and session
}

// chosen reports whether the user chose to be notified of e. A turn with refused calls is done, too.
func (r Rules) chosen(e Alert) bool {
	done := e.Kind == AlertRefused && !r.short(e) && slices.Contains(r.On, AlertDone)
	return done || e.Kind == AlertBack || slices.Contains(r.On, e.Kind)
}

func (r Rules) short(e Alert) bool { return int64(e.Turn) < r.DoneAfter.Milliseconds() }

// Verdict says what to do about an alert.
type Verdict string

// The verdicts. Later means not now: the next look may decide otherwise while the alert stands.
// Never is final.
const (
	Notify Verdict = "tell"
	Later  Verdict = "later"
	Never  Verdict = "never"
)

// Decision is a verdict with its reason in a few words.
type Decision struct {
	Verdict Verdict
	Reason  string
}

// Reasons of decisions.
const (
	ReasonNotify   = "nothing stands in the way"
	ReasonKind     = "this kind is not chosen"
	ReasonAside    = "set aside"
	ReasonSubagent = "about a subagent"
	ReasonRobot    = "nobody sits before it"
	ReasonShort    = "the turn was short"
	ReasonQuiet    = "quiet hours"
	ReasonNotified = "notified already"
	ReasonLimit    = "notified a moment ago"
	ReasonFocused  = "you look at it"
	ReasonEarly    = "you may be looking: waits for six seconds without a key"
	ReasonPresent  = "you wrote to it a moment ago"
	ReasonPassed   = "it has passed"
	ReasonAgain    = "it still waits"
)

// Times, in milliseconds. The first and the last decide where it is unknown what the user looks at.
const (
	// Stillness is how long a dialog is open before the client reports that nobody typed.
	Stillness = 6000
	// pause is the least time between two alerts of a kind and session.
	pause = 5000
	// presence is how long after a prompt its writer counts as present.
	presence = 10_000
)

// Decide decides whether to notify the user of e. It holds the whole rule and reads nothing
// but its arguments.
func Decide(e Alert, r Rules, h Hearing) Decision {
	refusals := [...]struct {
		holds   bool
		verdict Verdict
		reason  string
	}{
		{!r.chosen(e), Never, ReasonKind},
		{e.Aside, Never, ReasonAside},
		{e.Actor != "" && e.Kind != AlertPermission, Never, ReasonSubagent},
		{e.Robot, Never, ReasonRobot},
		{e.Kind == AlertDone && r.short(e), Never, ReasonShort},
		{h.Notified, Never, ReasonNotified},
		{h.Quiet, Never, ReasonQuiet},
		{h.NotifiedAt != 0 && h.Now-h.NotifiedAt < pause, Later, ReasonLimit},
		{h.Focus == FocusHere, e.again(), ReasonFocused},
		{h.Focus == FocusUnknown && e.Dialog && !h.Still && h.Now-e.At < Stillness, Later, ReasonEarly},
		{h.Focus == FocusUnknown && !e.Dialog && !h.Still && e.watched(h.Now), e.again(), ReasonPresent},
	}
	for _, x := range refusals {
		if x.holds {
			return Decision{x.verdict, x.reason}
		}
	}
	return Decision{Notify, ReasonNotify}
}

// watched reports whether the user wrote to the session shortly before the turn was done, or
// before now if it waits.
func (e Alert) watched(now event.Millis) bool {
	if e.Kind.Over() {
		now = e.At
	}
	return e.Input != 0 && now-e.Input < presence
}

// again returns Later for an alert that waits for the user, and Never for a turn that is done.
func (e Alert) again() Verdict {
	if e.Kind.Over() {
		return Never
	}
	return Later
}
