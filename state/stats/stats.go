// Package stats adds up what sessions did, by day and project: time at work, time waiting for
// the user, turns, tools, errors. It is pure: Of counts one change, Totals adds up counts, and
// the time zone is an argument.
//
// A stretch over local midnight is split, so days add up to the whole. A turn that a crash left
// open counts up to its last sign of life: nobody worked until the crash was noticed.
package stats

import (
	"cmp"
	"slices"
	"time"

	"beckon/event"
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

// Totals adds up counts. Use New: the zero value is not ready.
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

// Add adds what a change at that time counts for the session of that name. The counts of one
// session must come in their order.
func (t *Totals) Add(session string, at event.Millis, n *Count) {
	if n.Act {
		t.acts = append(t.acts, at)
	}
	t.stretch(session, n)
	if n.Turns|n.Tools|n.Failures|n.Permissions|n.Questions|n.Subagents|n.Errors|n.Cost == 0 {
		return
	}
	d := t.day(at.Time().In(t.loc), n.Project)
	d.add(Day{Turns: int(n.Turns), Tools: int(n.Tools), Failures: int(n.Failures), Permissions: int(n.Permissions),
		Questions: int(n.Questions), Subagents: int(n.Subagents), Errors: int(n.Errors), Cost: n.Cost})
	if n.Tool != "" {
		d.add(Day{ByTool: map[string]int{n.Tool: 1}})
	}
}

// stretch adds the time of n, split at local midnights.
func (t *Totals) stretch(session string, n *Count) {
	if n.Ms <= 0 {
		return
	}
	t.lanes.add(session, n)
	if n.Kind != Busy && n.Kind != Waiting {
		return
	}
	from, to := n.From.Time().In(t.loc), (n.From + event.Millis(n.Ms)).Time().In(t.loc)
	for from.Before(to) {
		y, m, day := from.Date()
		end := time.Date(y, m, day+1, 0, 0, 0, 0, from.Location()) // a day has 23, 24 or 25 hours
		if end.After(to) {
			end = to
		}
		d := t.day(from, n.Project)
		if n.Kind == Busy {
			d.add(Day{Busy: end.Sub(from)})
			if from.Format(time.DateOnly) >= t.from {
				t.sessions[session] += end.Sub(from)
			}
		} else {
			d.add(Day{Waiting: end.Sub(from)})
		}
		from = end
	}
}

func (t *Totals) day(at time.Time, project string) *Day {
	k := key{at.Format(time.DateOnly), project}
	if k.date < t.from {
		return new(Day)
	}
	if t.days[k] == nil {
		t.days[k] = &Day{Date: k.date}
	}
	return t.days[k]
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

// Busy returns how long a session worked on the days that count.
func (t *Totals) Busy(session string) time.Duration { return t.sessions[session] }

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
