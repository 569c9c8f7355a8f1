// Package usage tracks how much of an account's usage limits is used, as the client's status
// line reports it: the newest report, and which limit is nearest.
//
// Every session of an account reports, even one that has been idle for hours, so a report
// counts only if it can be newer than what is known. A window that is over is left out until a
// session reports the next: nothing is guessed.
package usage

import "beckon/event"

// Window is a limit as last reported.
type Window struct {
	event.Limit
	At event.Millis `json:"at"` // when it was reported
	By string       `json:"by"` // the session that reported it
}

// Apart is the least time, in milliseconds, between the ends of two windows: the end of one
// window may be reported some seconds earlier or later.
const Apart = 60_000

// merge returns what is known of a limit after session by has reported it at now, and whether
// that is new.
//
// A later end means the next window. Within a window usage only grows, so a lower value is an
// old report, unless it comes from the session that reported last: then it is a correction.
func (w Window) merge(l event.Limit, by string, now event.Millis) (Window, bool) {
	switch {
	case l.Resets <= now: // from a session that has been idle since
		return w, false
	case w.Resets != 0 && l.Resets <= w.Resets+Apart &&
		(l.Resets < w.Resets-Apart || l.Used < w.Used && by != w.By || l.Used == w.Used):
		return w, false
	}
	return Window{Limit: l, At: now, By: by}, true
}

// Percent returns how much is used, in percent.
func (w Window) Percent() float64 { return float64(w.Used) / 100 }

// Account is what is known of an account's limits; its file has the same form.
type Account struct {
	Name    string   `json:"account,omitempty"` // the directory of the client's configuration, empty for the usual one
	Windows []Window `json:"windows"`           // those that are not over, by name
}

// Nearest returns the limit with the most used; ok is false if there is none.
func Nearest(accounts []Account) (found Window, ok bool) {
	for _, a := range accounts {
		for _, w := range a.Windows {
			if !ok || w.Used > found.Used {
				found, ok = w, true
			}
		}
	}
	return found, ok
}

// steps are the percentages at which a user can be notified, highest first.
var steps = []int{95, 80}

// Crossing is a limit that has reached one of steps.
type Crossing struct {
	Window  Window
	Percent int
}

// crossed returns the highest step that w has reached since it was old.
func (w Window) crossed(old Window) (Crossing, bool) {
	for _, p := range steps {
		at := int64(p) * 100
		if w.Used >= at && (old.Used < at || old.Resets+Apart < w.Resets) {
			return Crossing{w, p}, true
		}
	}
	return Crossing{}, false
}
