// Package stats adds up what sessions did, by day and project: time at work, time waiting for
// the user, turns, tools, errors. It is pure: it folds journal lines, and takes the time zone
// as an argument.
//
// Time is counted between two changes of a session, in the state that held there. A span over
// local midnight is split, so days add up to the whole. A turn that a crash left open counts
// up to its last sign of life: nobody worked until the crash was noticed. A clock that steps
// back adds nothing.
package stats

import (
	"cmp"
	"slices"
	"time"

	"beckon/event"
	"beckon/state"
)

// Day is what was done on one local day, in one project or in all.
type Day struct {
	Date        string         `json:"date"` // local, 2006-01-02
	Busy        time.Duration  `json:"-"`    // working or compacting
	Waiting     time.Duration  `json:"-"`    // a permission or question was open
	BusyS       int64          `json:"busy_seconds"`
	WaitingS    int64          `json:"waiting_seconds"`
	Turns       int            `json:"turns"` // prompts of the user that began a turn
	Tools       int            `json:"tools"`
	Failures    int            `json:"tool_failures"`
	Permissions int            `json:"permissions"`
	Questions   int            `json:"questions"`
	Subagents   int            `json:"subagents"`
	Errors      int            `json:"errors"` // turns that ended in an API error
	ByTool      map[string]int `json:"by_tool,omitempty"`
	Cost        int64          `json:"-"` // millionths of a US dollar, from the status line at a turn's end
	CostUSD     float64        `json:"cost_usd"`
}

// Totals collects sessions. Use New: the zero value is not ready.
type Totals struct {
	loc      *time.Location
	from     string // earlier days are not counted
	days     map[key]*Day
	sessions map[string]time.Duration
	lanes    *lanes         // nil unless spans are kept
	acts     []event.Millis // when the user did something, unordered
}

type key struct{ date, project string }

// New returns empty totals for days of loc.
func New(loc *time.Location) *Totals {
	return &Totals{loc: loc, days: map[key]*Day{}, sessions: map[string]time.Duration{}}
}

// From leaves out the days before date (2006-01-02), and returns t.
func (t *Totals) From(date string) *Totals {
	t.from = date
	return t
}

// Session starts counting a session: give it its journal lines in order, then call End.
func (t *Totals) Session() *Session { return &Session{t: t} }

// Session counts one session.
type Session struct {
	t     *Totals
	s     state.Session
	since event.Millis // the end of what is counted
	kind  Kind
}

// Kind is what a stretch of time counts as; empty if the session is gone or unknown.
type Kind string

// The kinds of time.
const (
	Busy    Kind = "working" // or compacting
	Waiting Kind = "waiting" // a permission or question was open
	Failed  Kind = "failed"
	Idle    Kind = "idle" // or set aside
)

// Line counts one journal line. A snapshot, which begins a rotated journal, only sets the
// session's state.
func (c *Session) Line(ch state.Change, snapshot *state.Session) {
	if snapshot != nil {
		if c.s.Seq == 0 {
			c.s = *snapshot
			c.settle(ch.At)
		}
		return
	}
	at := when(ch)
	if ch.Action != nil && ch.Action.Kind != state.ActDecided {
		c.t.acts = append(c.t.acts, at)
	}
	if c.untouched(ch, at) {
		return
	}
	if !c.resumes(ch) {
		c.count(at)
	}
	before := c.s.Counts
	failure, meter := c.s.Failure.At, c.s.Meter
	c.s = state.Apply(c.s, ch)
	c.settle(max(at, c.since))
	c.tally(at, before, failure, ch.Event)
	c.spend(at, meter)
}

// untouched folds what the user did, if time goes on counting as before: it is no sign of life
// of the session.
func (c *Session) untouched(ch state.Change, at event.Millis) bool {
	if ch.Action == nil || ch.Action.Kind == state.ActDecided {
		return false
	}
	after := Session{s: state.Apply(c.s, ch)}
	after.settle(at)
	if after.kind != c.kind {
		return false
	}
	c.s = after.s
	return true
}

// resumes reports whether ch follows a time in which the session was not running, so that its
// last activity ended with its last sign of life: it was found gone, it starts again, or
// another process continues it.
func (c *Session) resumes(ch state.Change) bool {
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
		was := c.s.Origin.Process
		return was.Pid != 0 && e.Origin.Process.Pid != 0 && e.Origin.Process != was
	}
}

// spend counts the session's cost since the previous Stop, on the day of the newest. A client
// whose count restarts has spent all that it reports.
func (c *Session) spend(at event.Millis, before event.Meter) {
	cost := c.s.Meter.Cost - before.Cost
	if cost < 0 {
		cost = c.s.Meter.Cost
	}
	if cost > 0 {
		c.day(c.local(at)).Cost += cost
	}
}

// when returns the time at which a change happened.
func when(ch state.Change) event.Millis {
	switch {
	case ch.Event != nil:
		return ch.Event.At
	case ch.Observation != nil:
		return ch.Observation.At
	}
	return ch.At
}

// End counts an open stretch up to now, if the session is still running.
func (c *Session) End(now event.Millis) {
	if st := c.s.ByHooks(now).State; st.Live() && st != state.Unknown {
		c.count(now)
	}
}

// settle sets what the time from at on counts as.
func (c *Session) settle(at event.Millis) {
	c.since = at
	switch c.s.ByHooks(at).State {
	case state.Working, state.Compacting:
		c.kind = Busy
	case state.Permission, state.Question:
		c.kind = Waiting
	case state.Failed:
		c.kind = Failed
	case state.Idle, state.Backburned:
		c.kind = Idle
	default:
		c.kind = ""
	}
}

// count adds the stretch since c.since, split at local midnights.
func (c *Session) count(until event.Millis) {
	if c.kind == "" || until <= c.since {
		return
	}
	c.t.lanes.add(c, until)
	if c.kind != Busy && c.kind != Waiting {
		c.since = until
		return
	}
	from, to := c.local(c.since), c.local(until)
	for from.Before(to) {
		y, m, day := from.Date()
		end := time.Date(y, m, day+1, 0, 0, 0, 0, from.Location()) // a day has 23, 24 or 25 hours
		if end.After(to) {
			end = to
		}
		d := c.day(from)
		if c.kind == Busy {
			d.Busy += end.Sub(from)
			if from.Format(time.DateOnly) >= c.t.from {
				c.t.sessions[c.s.Record()] += end.Sub(from)
			}
		} else {
			d.Waiting += end.Sub(from)
		}
		from = end
	}
	c.since = until
}

func (c *Session) local(m event.Millis) time.Time { return m.Time().In(c.t.loc) }

// tally counts what the change added to the session's own counters.
func (c *Session) tally(at event.Millis, before state.Counts, failure event.Millis, e *event.Event) {
	after := c.s.Counts
	if after.Turns > before.Turns {
		c.t.acts = append(c.t.acts, at)
	}
	if after == before && c.s.Failure.At == failure {
		return
	}
	d := c.day(c.local(at))
	d.Turns += int(after.Turns - before.Turns)
	d.Tools += int(after.Tools - before.Tools)
	d.Failures += int(after.Failures - before.Failures)
	d.Permissions += int(after.Permissions - before.Permissions)
	d.Questions += int(after.Questions - before.Questions)
	d.Subagents += int(after.Subagents - before.Subagents)
	if c.s.Failure.At != failure {
		d.Errors++
	}
	if e != nil && after.Tools > before.Tools && e.Tool.Name != "" {
		if d.ByTool == nil {
			d.ByTool = map[string]int{}
		}
		d.ByTool[e.Tool.Name]++
	}
}

func (c *Session) day(at time.Time) *Day {
	k := key{at.Format(time.DateOnly), c.project()}
	if k.date < c.t.from {
		return new(Day)
	}
	if c.t.days[k] == nil {
		c.t.days[k] = &Day{Date: k.date}
	}
	return c.t.days[k]
}

func (c *Session) project() string {
	return cmp.Or(c.s.Origin.Git.Repo, c.s.Origin.Project, c.s.Cwd)
}

// Days returns the totals of every day that has any, oldest first.
func (t *Totals) Days() []Day {
	out := []Day{}
	for _, d := range t.Each() {
		if n := len(out); n == 0 || out[n-1].Date != d.Date {
			out = append(out, Day{Date: d.Date})
		}
		out[len(out)-1].add(d.Day)
	}
	return out
}

// Each returns the totals of every day and project, sorted by day, then project.
func (t *Totals) Each() []ProjectDay {
	out := make([]ProjectDay, 0, len(t.days))
	for k, d := range t.days {
		sum := Day{Date: k.date}
		sum.add(*d)
		out = append(out, ProjectDay{sum, k.project})
	}
	slices.SortFunc(out, func(a, b ProjectDay) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Project, b.Project))
	})
	return out
}

// ProjectDay is what was done on one day in one project.
type ProjectDay struct {
	Day
	Project string // the repository's name, else the directory
}

// Projects returns the totals of every project; their Date is empty.
func (t *Totals) Projects() map[string]Day {
	out := map[string]Day{}
	for k, d := range t.days {
		sum := out[k.project]
		sum.add(*d)
		out[k.project] = sum
	}
	return out
}

// Busy returns how long a session, named by its record, worked on the days that count.
func (t *Totals) Busy(record string) time.Duration { return t.sessions[record] }

func (d *Day) add(o Day) {
	d.Busy, d.Waiting = d.Busy+o.Busy, d.Waiting+o.Waiting
	d.BusyS, d.WaitingS = int64(d.Busy/time.Second), int64(d.Waiting/time.Second)
	d.Turns, d.Tools, d.Failures = d.Turns+o.Turns, d.Tools+o.Tools, d.Failures+o.Failures
	d.Permissions, d.Questions = d.Permissions+o.Permissions, d.Questions+o.Questions
	d.Subagents, d.Errors = d.Subagents+o.Subagents, d.Errors+o.Errors
	d.Cost += o.Cost
	d.CostUSD = float64(d.Cost) / 1e6
	for tool, n := range o.ByTool {
		if d.ByTool == nil {
			d.ByTool = map[string]int{}
		}
		d.ByTool[tool] += n
	}
}
