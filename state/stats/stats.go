// Package stats adds up what sessions did, by day and project: Of counts one change, Totals adds up counts.
// A stretch over local midnight is split, so days add up to the whole. A turn that a crash left open counts
// up to its last sign of life.
package stats

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"beckon/event"
	"beckon/state"
)

// Day is what was done on one local day, or in one project.
type Day struct {
	Date        string         `json:"date"` // local, 2006-01-02; empty for a project
	Busy        time.Duration  `json:"-"`    // working or compacting
	Waiting     time.Duration  `json:"-"`    // a permission or question was open
	BusyS       int64          `json:"busy_seconds"`
	WaitingS    int64          `json:"waiting_seconds"`
	Turns       int64          `json:"turns"` // prompts of the user that began a turn
	Tools       int64          `json:"tools"`
	Permissions int64          `json:"permissions"`
	Questions   int64          `json:"questions"`
	Errors      int64          `json:"errors"` // turns that ended in an API error
	ByTool      map[string]int `json:"by_tool,omitempty"`
	Cost        int64          `json:"-"` // millionths of a US dollar, from the status line at a turn's end
	CostUSD     float64        `json:"cost_usd"`
}

// Totals adds up counts. Use New: the zero value is not ready.
type Totals struct {
	loc      *time.Location
	from     string          // earlier days are not counted
	days     map[string]*Day // by date
	projects map[string]*Day
	sessions map[string]time.Duration
	kept     [2]event.Millis   // from when to when spans are kept
	lanes    map[string]*Track // of them, by session; nil if none are kept
	acts     []event.Millis    // when the user did something, unordered
}

// New returns empty totals for days of loc.
func New(loc *time.Location) *Totals {
	return &Totals{loc: loc, days: map[string]*Day{}, projects: map[string]*Day{}, sessions: map[string]time.Duration{}}
}

// From leaves out the days before date (2006-01-02), and returns t.
func (t *Totals) From(date string) *Totals {
	t.from = date
	return t
}

// Add adds what a change at that time counts for the session of that name. The counts of one
// session must come in their order.
func (t *Totals) Add(session string, at event.Millis, n *Count) {
	if n.Act {
		t.acts = append(t.acts, at)
	}
	t.stretch(session, n)
	if n.Turns|n.Tools|n.Permissions|n.Questions|n.Errors|n.Cost == 0 {
		return
	}
	t.add(at.Time().In(t.loc), n.Project, func(d *Day) {
		d.Turns, d.Tools, d.Errors = d.Turns+n.Turns, d.Tools+n.Tools, d.Errors+n.Errors
		d.Permissions, d.Questions = d.Permissions+n.Permissions, d.Questions+n.Questions
		if n.Tool != "" {
			d.ByTool[n.Tool]++
		}
		d.Cost += n.Cost
		d.CostUSD = float64(d.Cost) / 1e6
	})
}

// add has something added to a day and to a project, if the day counts.
func (t *Totals) add(at time.Time, project string, add func(*Day)) (counts bool) {
	date := at.Format(time.DateOnly)
	if date < t.from {
		return false
	}
	if t.days[date] == nil {
		t.days[date] = &Day{Date: date, ByTool: map[string]int{}}
	}
	if t.projects[project] == nil {
		t.projects[project] = &Day{ByTool: map[string]int{}}
	}
	add(t.days[date])
	add(t.projects[project])
	return true
}

// stretch adds the time of n, split at local midnights.
func (t *Totals) stretch(session string, n *Count) {
	t.lane(session, n)
	if n.Ms <= 0 || n.Kind != Busy && n.Kind != Waiting {
		return
	}
	from, to := n.From.Time().In(t.loc), (n.From + event.Millis(n.Ms)).Time().In(t.loc)
	for from.Before(to) {
		y, m, day := from.Date()
		end := time.Date(y, m, day+1, 0, 0, 0, 0, from.Location()) // a day has 23, 24 or 25 hours
		if end.After(to) {
			end = to
		}
		took := end.Sub(from)
		counts := t.add(from, n.Project, func(d *Day) {
			if n.Kind == Busy {
				d.Busy += took
			} else {
				d.Waiting += took
			}
			d.BusyS, d.WaitingS = int64(d.Busy/time.Second), int64(d.Waiting/time.Second)
		})
		if counts && n.Kind == Busy {
			t.sessions[session] += took
		}
		from = end
	}
}

// Days returns the totals of every day that has any, oldest first.
func (t *Totals) Days() []Day {
	days := []Day{}
	for _, date := range slices.Sorted(maps.Keys(t.days)) {
		days = append(days, *t.days[date])
	}
	return days
}

// Projects returns the totals of every project, by the repository's name, else the directory.
func (t *Totals) Projects() map[string]*Day { return t.projects }

// Busy returns how long a session worked on the days that count.
func (t *Totals) Busy(session string) time.Duration { return t.sessions[session] }

// Kind is what a stretch of time counts as; empty if the session is gone or unknown.
type Kind string

// The kinds of time.
const (
	Busy    Kind = "working" // or compacting
	Waiting Kind = "waiting" // a permission or question was open
	Failed  Kind = "failed"
	Idle    Kind = "idle" // or set aside
)

// Count is what one change adds to a session's sums. A history line contains it, so a sum over
// lines needs nothing else.
type Count struct {
	From        event.Millis `json:"from"` // beginning of the stretch that the change ended
	Ms          int64        `json:"ms"`   // its length in milliseconds, 0 if none ended
	Kind        Kind         `json:"kind"` // what that stretch counts as
	Project     string       `json:"project"`
	Act         bool         `json:"act"` // the user did something
	Turns       int64        `json:"turns"`
	Tools       int64        `json:"tools"`
	Tool        string       `json:"tool"` // the tool, if one was used
	Permissions int64        `json:"permissions"`
	Questions   int64        `json:"questions"`
	Errors      int64        `json:"errors"`
	Cost        int64        `json:"cost"` // millionths of a US dollar
}

// Of returns what change ch adds, which made after of before, and notes in after up to when its time is
// counted. Time counts in the state that held between two changes. What the user does ends a stretch only
// if the time after it counts as something else. A clock that steps back adds nothing.
func Of(before, after *state.Session, ch state.Change) (n Count) {
	at, since := ch.At, cmp.Or(before.Counted, before.Updated) // the file of an earlier release has one
	n.Act = ch.Action != nil && ch.Action.Kind != state.ActDecided || after.Counts.Turns > before.Counts.Turns
	if since > at+dayMs { // the clock was wrong
		since = at
	}
	was := kindAt(before, since)
	after.Counted = max(at, since)
	if ch.Action != nil && ch.Action.Kind != state.ActDecided && kindAt(after, at) == was {
		after.Counted = since
		return n
	}
	n.Project = cmp.Or(projectOf(before), projectOf(after))
	if was != "" && at > since && !resumes(before, ch) {
		n.From, n.Ms, n.Kind = since, int64(at-since), was
	}
	b, a := before.Counts, after.Counts
	n.Turns, n.Tools = a.Turns-b.Turns, a.Tools-b.Tools
	n.Permissions, n.Questions = a.Permissions-b.Permissions, a.Questions-b.Questions
	if after.Failure.At != before.Failure.At {
		n.Errors = 1
	}
	if ch.Event != nil && n.Tools > 0 {
		n.Tool = ch.Event.Tool.Name
	}
	if n.Cost = after.Meter.Cost - before.Meter.Cost; n.Cost < 0 { // the client counts anew
		n.Cost = after.Meter.Cost
	}
	return n
}

const dayMs = 24 * 60 * 60 * 1000

// Open returns the stretch of s that has not ended by now. A session that is not running has none.
func Open(s *state.Session, now event.Millis) (n Count) {
	if st := s.ByHooks(now).State; !st.Live() || st == state.Unknown {
		return n
	}
	since := cmp.Or(s.Counted, s.Updated)
	if kind := kindAt(s, since); kind != "" && now > since {
		n = Count{From: since, Ms: int64(now - since), Kind: kind, Project: projectOf(s)}
	}
	return n
}

func projectOf(s *state.Session) string {
	return cmp.Or(s.Origin.Git.Repo, s.Origin.Project, s.Cwd)
}

// resumes reports whether ch follows a time in which the session was not running: it was found gone, it
// starts again, or another process continues it.
func resumes(s *state.Session, ch state.Change) bool {
	switch e, o := ch.Event, ch.Observation; {
	case o != nil:
		return o.What == state.SawGone
	case e == nil:
		return false
	case e.Kind == event.SessionStart:
		return e.Source != "compact"
	case e.Origin == nil || e.AgentID != "":
		return false
	default:
		was := s.Origin.Process
		return was.Pid != 0 && e.Origin.Process.Pid != 0 && e.Origin.Process != was
	}
}

// kindAt returns what the time of s counts as at a moment.
func kindAt(s *state.Session, at event.Millis) Kind {
	if s.Seq == 0 {
		return ""
	}
	switch s.ByHooks(at).State {
	case state.Working, state.Compacting:
		return Busy
	case state.Permission, state.Question:
		return Waiting
	case state.Failed:
		return Failed
	case state.Idle, state.Backburned:
		return Idle
	}
	return ""
}

// Span is a stretch of time in which a session did one kind of thing.
type Span struct {
	From time.Time `json:"from"` // UTC
	To   time.Time `json:"to"`
	Kind Kind      `json:"kind"`
}

// Track is the spans of one session, oldest first, without overlap.
type Track struct {
	Session string
	Project string // of the newest span
	Spans   []Span
}

// Between keeps the spans from one moment to another, and returns t.
func (t *Totals) Between(from, to time.Time) *Totals {
	t.kept, t.lanes = [2]event.Millis{event.MillisOf(from), event.MillisOf(to)}, map[string]*Track{}
	return t
}

// Lanes returns the spans of each session that has any, the earliest session first.
func (t *Totals) Lanes() []Track {
	list := []Track{}
	for _, l := range t.lanes {
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Track) int {
		return cmp.Or(a.Spans[0].From.Compare(b.Spans[0].From), cmp.Compare(a.Session, b.Session))
	})
	return list
}

// lane adds a stretch; it extends the previous span if that has the same kind.
func (t *Totals) lane(session string, n *Count) {
	from, to := max(n.From, t.kept[0]), min(n.From+event.Millis(n.Ms), t.kept[1])
	if t.lanes == nil || from >= to {
		return
	}
	track := t.lanes[session]
	if track == nil {
		track = &Track{Session: session}
		t.lanes[session] = track
	}
	track.Project = cmp.Or(n.Project, track.Project)
	span := Span{from.Time(), to.Time(), n.Kind}
	if n := len(track.Spans); n > 0 && track.Spans[n-1].Kind == span.Kind && track.Spans[n-1].To.Equal(span.From) {
		track.Spans[n-1].To = span.To
		return
	}
	track.Spans = append(track.Spans, span)
}

// Away returns when the user's last absence of at least that long began: after a prompt, a
// look at a session or another act. It is zero if there was none.
func (t *Totals) Away(now event.Millis, least time.Duration) event.Millis {
	slices.Sort(t.acts)
	next := now
	for _, at := range slices.Backward(t.acts) {
		if next-at >= event.Millis(least.Milliseconds()) {
			return at
		}
		next = at
	}
	return 0
}
