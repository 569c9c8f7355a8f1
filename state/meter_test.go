package state

import (
	"testing"

	"beckon/event"
)

func TestMetered(t *testing.T) {
	old := event.Meter{At: 1_000, Model: "a", Context: 50, HasContext: true, Cost: 7}
	fresh := event.Meter{At: 200_000, Model: "b", Context: 60, HasContext: true, Cost: 9}
	for name, c := range map[string]struct {
		s      Session
		report *event.Meter
		want   event.Meter
	}{
		"nothing is known":          {Session{}, nil, event.Meter{}},
		"the file is the newer":     {Session{Meter: old}, &fresh, fresh},
		"the stop is the newer":     {Session{Meter: fresh}, &old, fresh},
		"the file is gone":          {Session{Meter: old}, nil, old},
		"the line runs first":       {Session{Start: Mark{At: 201_000}}, &fresh, fresh},
		"it is from another run":    {Session{Start: Mark{At: 300_000, Reason: "resume"}}, &fresh, event.Meter{At: 200_000, Cost: 9}},
		"a compaction is not a run": {Session{Start: Mark{At: 300_000, Reason: "compact"}}, &fresh, fresh},
		"a stop of another run":     {Session{Meter: old, Start: Mark{At: 300_000}}, nil, event.Meter{At: 1_000, Cost: 7}},
		"the report has no times":   {Session{}, &event.Meter{Model: "x"}, event.Meter{Model: "x"}},
	} {
		if got := c.s.Metered(c.report); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A Stop carries the status line's report. Of several Stops, the one with the newest report
// counts, in whatever order they are folded.
func TestStopCarriesTheMeter(t *testing.T) {
	stop := func(at event.Millis, m *event.Meter) Change {
		return Change{Seq: int64(at), At: at, Event: &event.Event{Kind: event.Stop, Name: "Stop", SessionID: "s", At: at, Meter: m}}
	}
	a, b := &event.Meter{At: 9, Cost: 1}, &event.Meter{At: 19, Cost: 2}
	for _, order := range [][]Change{{stop(10, a), stop(20, b)}, {stop(20, b), stop(10, a)}, {stop(20, b), stop(30, nil)}} {
		var s Session
		for _, c := range order {
			s = Apply(s, c)
		}
		if s.Meter != *b {
			t.Errorf("meter %+v", s.Meter)
		}
	}
}
