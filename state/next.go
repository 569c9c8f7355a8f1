package state

import "beckon/event"

// Next returns the earliest time after now at which Resolve may return something else for the
// same facts and evidence, or zero if time alone changes nothing. A program that keeps running
// looks again then.
func (v *Seen) Next(now event.Millis) (next event.Millis) {
	s, ev := &v.Session, &v.Evidence
	at := func(may bool, t event.Millis) {
		if may && t > now && (next == 0 || t < next) {
			next = t
		}
	}
	at(s.Backburner.At > s.Backburner.Off, s.Backburner.Until)
	if s.End.At != 0 {
		at(s.End.Reason == "clear", s.End.At+clearWait)
		return next
	}
	at(ev.Process == Unread && ev.Registry.Status == "", s.Updated+silence+1)
	at(ev.Process == Gone, s.Activity+doubt+1)
	at(ev.Registry.At != 0, ev.Registry.At+dwell)
	at(ev.Registry.Status == "busy", s.Activity+lingers)
	for i := range s.Actors {
		a := &s.Actors[i]
		at(a.ID != "" && a.How == EndStop, a.Ended+returnWait)
	}
	return next
}
