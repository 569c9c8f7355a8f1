package state

import "beckon/event"

// staleMeter is how much older than the session's newest start a report may
// be, in milliseconds: a client that starts runs its status line some 100 ms
// before or after the hook.
const staleMeter = 60_000

// Metered returns what is known of the session's model, context and cost: the
// newest of the status line's report and of what the last Stop carried. Of a
// report from before the session's newest start only the cost is left, which
// the client counts on (testdata/recordings: resume): the rest was another run.
func (s *Session) Metered(report *event.Meter) event.Meter {
	m := s.Meter
	if report != nil && report.At >= m.At {
		m = *report
	}
	if m.At+staleMeter < s.Start.At && s.Start.Reason != "compact" {
		m = event.Meter{At: m.At, Cost: m.Cost}
	}
	return m
}
