package state

import "beckon/event"

// staleMeter is how much older than the session's newest start a report may be, in
// milliseconds: a starting client runs its status line about 100 ms before or after the hook.
const staleMeter = 60_000

// Metered returns the newest known model, context and cost of the session: from the status
// line's report, or from the last Stop. Of a report older than the session's newest start it
// returns only the cost, which the client goes on counting (testdata/recordings: resume); the
// rest belongs to an earlier run.
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
