package stats

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
)

// month generates sessions and records the true state of every minute.
type month struct {
	t       *testing.T
	loc     *time.Location
	rnd     *rand.Rand
	totals  *Totals
	busy    map[string]int // minutes by local date
	waiting map[string]int
	turns   map[string]int
}

// truth adds the minutes of [from, to) to their local dates.
func (m *month) truth(into map[string]int, from, to time.Time) {
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		into[at.In(m.loc).Format(time.DateOnly)]++
	}
}

// teller counts a session, change by change.
type teller struct {
	totals *Totals
	id     string
	s      state.Session
	seq    int64
}

func (t *teller) line(c state.Change) {
	after := state.Apply(t.s, c)
	n := Of(&t.s, &after, c)
	t.s = after
	t.totals.Add(t.id, c.At, &n)
}

func (t *teller) end(now event.Millis) {
	n := Open(&t.s, now)
	t.totals.Add(t.id, now, &n)
}

func (t *teller) event(k event.Kind, at time.Time, edit func(*event.Event)) {
	e := event.Event{Agent: "claude-code", Kind: k, Name: string(k), SessionID: t.id, At: event.MillisOf(at), Cwd: "/home/u/" + t.id[:1]}
	if edit != nil {
		edit(&e)
	}
	t.seq++
	t.line(state.Change{Seq: t.seq, At: e.At, Event: &e})
}

func (t *teller) observe(what state.Seeing, at time.Time) {
	o := state.Observed{Source: state.FromProcess, What: what, At: event.MillisOf(at)}
	t.seq++
	t.line(state.Change{Seq: t.seq, At: o.At, Observation: &o})
}

func call(id string) func(*event.Event) {
	return func(e *event.Event) { e.Tool = event.Tool{Name: "Bash", UseID: id, Hash: "h"} }
}

// session plays turns until the end of the month, or a crash.
func (m *month) session(id string, start, end time.Time) {
	t := &teller{totals: m.totals, id: id}
	t.event(event.SessionStart, start, nil)
	at := start
	for i := 0; at.Before(end); i++ {
		at = at.Add(m.minutes(600))
		m.turns[at.In(m.loc).Format(time.DateOnly)]++
		t.event(event.UserPromptSubmit, at, nil)
		began := at
		at = at.Add(m.minutes(200))
		use := fmt.Sprint(id, i)
		t.event(event.PreToolUse, at, call(use))
		switch m.rnd.IntN(5) {
		case 0: // a permission may wait for the user over several nights
			m.truth(m.busy, began, at)
			t.event(event.PermissionRequest, at, func(e *event.Event) { call("")(e) })
			asked := at
			at = at.Add(m.minutes(900))
			m.truth(m.waiting, asked, at)
			began = at
			t.event(event.PostToolUse, at, call(use))
		case 1: // the process is killed; a reader notices hours later
			m.truth(m.busy, began, at)
			t.observe(state.SawGone, at.Add(m.minutes(3000)))
			return
		case 2: // the clock steps back for one event
			t.event(event.PostToolUse, at.Add(-m.minutes(30)), call(use))
		}
		at = at.Add(m.minutes(180))
		t.event(event.Stop, at, func(e *event.Event) { e.HasBackground = true })
		m.truth(m.busy, began, at)
	}
	t.end(event.MillisOf(at))
}

func (m *month) minutes(most int) time.Duration {
	return time.Duration(1+m.rnd.IntN(most)) * time.Minute
}

// The days add up to what was generated, across midnights, days of 23 and 25 hours, crashes
// and clock steps.
func TestAMonthAddsUp(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"} {
		for _, begin := range []string{"2026-03-05", "2026-10-10"} {
			t.Run(zone+" "+begin, func(t *testing.T) {
				loc, err := time.LoadLocation(zone)
				if err != nil {
					t.Skip(err)
				}
				start, err := time.ParseInLocation(time.DateOnly, begin, loc)
				if err != nil {
					t.Fatal(err)
				}
				m := &month{t: t, loc: loc, rnd: rand.New(rand.NewPCG(1, uint64(len(zone)))), totals: New(loc).Between(start.AddDate(-1, 0, 0), start.AddDate(1, 0, 0)),
					busy: map[string]int{}, waiting: map[string]int{}, turns: map[string]int{}}
				for i := range 150 {
					m.session(fmt.Sprintf("%c-%d", 'a'+i%3, i), start.Add(m.minutes(60*24*27)), start.AddDate(0, 1, 0))
				}
				m.check(t)
			})
		}
	}
}

func (m *month) check(t *testing.T) {
	t.Helper()
	days := m.totals.Days()
	if len(days) < 25 {
		t.Fatalf("only %d days", len(days))
	}
	sum := 0
	for _, d := range days {
		if got, want := int(d.Busy/time.Minute), m.busy[d.Date]; got != want {
			t.Errorf("%s: busy %d minutes, want %d", d.Date, got, want)
		}
		if got, want := int(d.Waiting/time.Minute), m.waiting[d.Date]; got != want {
			t.Errorf("%s: waiting %d minutes, want %d", d.Date, got, want)
		}
		if int(d.Turns) != m.turns[d.Date] {
			t.Errorf("%s: %d turns, want %d", d.Date, d.Turns, m.turns[d.Date])
		}
		sum += int(d.Busy / time.Minute)
	}
	spans := map[Kind]int{}
	for _, l := range m.totals.Lanes() {
		for i, s := range l.Spans {
			spans[s.Kind] += int(s.To.Sub(s.From) / time.Minute)
			if i > 0 && s.From.Before(l.Spans[i-1].To) {
				t.Errorf("%s: spans overlap: %v, %v", l.Session, l.Spans[i-1], s)
			}
		}
	}
	waited := 0
	for _, n := range m.waiting {
		waited += n
	}
	if spans[Busy] != sum || spans[Waiting] != waited || spans[Idle] == 0 {
		t.Errorf("spans add up to %v, want %d at work and %d waiting", spans, sum, waited)
	}
	byProject := 0
	for _, d := range m.totals.Projects() {
		byProject += int(d.Busy / time.Minute)
	}
	want := 0
	for _, n := range m.busy {
		want += n
	}
	if sum != want || byProject != want {
		t.Errorf("days add up to %d minutes, projects to %d; want %d", sum, byProject, want)
	}
}

// No time counts between a kill and a resume, even if a reader folds what it sees meanwhile.
func TestNoTimeBetweenAKillAndAResume(t *testing.T) {
	other := event.Origin{Process: event.Process{Pid: 2, Start: "2"}}
	for name, c := range map[string]struct {
		meanwhile func(*teller, time.Time)
		back      func(*teller, time.Time)
	}{
		"nobody looked": {back: func(s *teller, at time.Time) {
			s.event(event.SessionStart, at, func(e *event.Event) { e.Source = "resume" })
		}},
		"a reader looked": {
			meanwhile: func(s *teller, at time.Time) { s.observe(state.SawGone, at) },
			back: func(s *teller, at time.Time) {
				s.event(event.SessionStart, at, func(e *event.Event) { e.Source = "resume" })
			},
		},
		"the user looked": {
			meanwhile: func(s *teller, at time.Time) {
				s.seq++
				s.line(state.Change{Seq: s.seq, At: event.MillisOf(at), Action: &state.Action{Kind: state.ActSeen}})
			},
			back: func(s *teller, at time.Time) {
				s.event(event.SessionStart, at, func(e *event.Event) { e.Source = "resume" })
			},
		},
		"its start was missed": {back: func(s *teller, at time.Time) {
			s.event(event.UserPromptSubmit, at, func(e *event.Event) { e.Origin = &other })
		}},
	} {
		totals := New(time.UTC)
		s := &teller{totals: totals, id: "s"}
		at := time.Date(2026, 3, 3, 20, 0, 0, 0, time.UTC)
		s.event(event.SessionStart, at, func(e *event.Event) {
			e.Origin = &event.Origin{Process: event.Process{Pid: 1, Start: "1"}}
		})
		s.event(event.UserPromptSubmit, at, nil)
		s.event(event.PreToolUse, at.Add(time.Second), call("x"))
		if c.meanwhile != nil {
			c.meanwhile(s, at.Add(time.Hour))
		}
		back := at.Add(21 * time.Hour)
		c.back(s, back)
		s.event(event.UserPromptSubmit, back.Add(time.Minute), nil)
		s.event(event.Stop, back.Add(time.Minute+2*time.Second), nil)
		want := 3 * time.Second
		if name == "its start was missed" {
			want += time.Minute
		}
		if got := totals.Busy("s"); got != want {
			t.Errorf("%s: busy for %s, want %s", name, got, want)
		}
	}
}

// Away returns the beginning of the newest gap that is long enough, between two acts of the
// user or from the last act until now. The agent's actions do not count.
func TestAway(t *testing.T) {
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	for _, c := range []struct {
		acts []int // times of the user's prompts, in minutes
		now  int
		want int // -1 for none
	}{
		{nil, 60, -1}, {[]int{0}, 60, 0}, {[]int{0, 5, 8}, 60, 8}, {[]int{0, 5, 30, 33}, 35, 5}, {[]int{0, 5}, 6, -1},
		{[]int{0, 20, 40}, 41, 20}, {[]int{40, 0, 20}, 41, 20},
	} {
		totals := New(time.UTC)
		for i, minute := range c.acts {
			s := &teller{totals: totals, id: fmt.Sprint(i)}
			s.event(event.UserPromptSubmit, at(minute), nil)
			s.event(event.PreToolUse, at(minute+1), call("u"))
			s.event(event.PostToolUse, at(minute+2), call("u"))
		}
		got := totals.Away(event.MillisOf(at(c.now)), 10*time.Minute)
		want := event.Millis(0)
		if c.want >= 0 {
			want = event.MillisOf(at(c.want))
		}
		if got != want {
			t.Errorf("acts at %v, now %d: away since %v, want %v", c.acts, c.now, got, want)
		}
	}
	// A look is an act, too.
	totals := New(time.UTC)
	s := &teller{totals: totals, id: "x"}
	s.event(event.UserPromptSubmit, at(0), nil)
	s.seq++
	s.line(state.Change{Seq: s.seq, At: event.MillisOf(at(30)), Action: &state.Action{Kind: state.ActSeen}})
	if got := totals.Away(event.MillisOf(at(45)), 10*time.Minute); got != event.MillisOf(at(30)) {
		t.Errorf("after a look: %v", got)
	}
}
