// Package usage tracks how much of an account's usage limits is used, as the client's status
// line reports it: the newest report, how fast usage grows, and which limit is nearest.
//
// Every session of an account reports, even one that has been idle for hours, so a report
// counts only if it can be newer than what is known. A window that is over is left out until a
// session reports the next: nothing is guessed.
package usage

import (
	"cmp"
	"slices"
	"time"

	"beckon/event"
)

// Window is a limit as last reported.
type Window struct {
	event.Limit
	At   event.Millis `json:"at"`             // when it was reported
	By   string       `json:"by"`             // the session that reported it
	Past []Sample     `json:"past,omitempty"` // earlier reports of the same window, oldest first
}

// Sample is how much was used at a time.
type Sample struct {
	At   event.Millis `json:"at"`
	Used int64        `json:"used"` // in hundredths of a percent
}

// samples is how many earlier reports are kept; they are a sixtieth of the window apart, so
// that together they cover its last fifth.
const samples = 12

// lengths are those of the windows; the beginning of any other window is unknown.
var lengths = map[string]time.Duration{"five_hour": 5 * time.Hour, "seven_day": 7 * 24 * time.Hour}

// Apart is the least time, in milliseconds, between the ends of two windows: the end of one
// window may be reported some seconds earlier or later.
const Apart = 60_000

// merge returns what is known of a limit after session by has reported it at now, and whether
// that is new.
//
// A later end means the next window. Within a window usage only grows, so a lower value is an
// old report, unless it comes from the session that reported last: then it is a correction.
func (w Window) merge(l event.Limit, by string, now event.Millis) (Window, bool) {
	next := Window{Limit: l, At: now, By: by}
	switch {
	case l.Resets <= now: // from a session that has been idle since
		return w, false
	case w.Resets == 0 || l.Resets > w.Resets+Apart:
		return next, true
	case l.Resets < w.Resets-Apart || l.Used < w.Used && by != w.By || l.Used == w.Used:
		return w, false
	}
	next.Past = w.Past
	if n := len(w.Past); n == 0 || w.At-w.Past[n-1].At >= w.spacing() {
		next.Past = append(slices.Clone(w.Past[max(0, n+1-samples):]), Sample{w.At, w.Used})
	}
	if l.Used < w.Used {
		next.Past = nil
	}
	return next, true
}

func (w Window) spacing() event.Millis {
	return event.Millis(cmp.Or(lengths[w.Name], 60*time.Hour).Milliseconds() / 60)
}

// Percent returns how much is used, in percent.
func (w Window) Percent() float64 { return float64(w.Used) / 100 }

// Rate returns how many percent an hour are used, over the samples; over the window so far if
// the samples cover less than two spacings. ok is false if neither is known.
func (w Window) Rate(now event.Millis) (perHour float64, ok bool) {
	from := Sample{}
	for _, s := range w.Past {
		if now-s.At <= w.spacing()*samples {
			from = s
			break
		}
	}
	if from.At == 0 || now-from.At < 2*w.spacing() {
		length, known := lengths[w.Name]
		if !known {
			return 0, false
		}
		from = Sample{At: w.Resets - event.Millis(length.Milliseconds())}
	}
	hours := float64(now-from.At) / float64(time.Hour/time.Millisecond)
	if hours <= 0 {
		return 0, false
	}
	return float64(w.Used-from.Used) / 100 / hours, true
}

// Full returns when the limit will be reached, and whether that is before it resets.
func (w Window) Full(now event.Millis) (at event.Millis, ok bool) {
	if w.Used >= 100_00 {
		return now, true
	}
	rate, ok := w.Rate(now)
	if !ok || rate <= 0 {
		return 0, false
	}
	at = now + event.Millis((100-w.Percent())/rate*float64(time.Hour/time.Millisecond))
	return at, at < w.Resets
}

// Account is what is known of an account's limits; its file has the same form.
type Account struct {
	Name    string   `json:"account,omitempty"` // the directory of the client's configuration, empty for the usual one
	Windows []Window `json:"windows"`           // those that are not over, by name
}

// Nearest returns the limit that will be reached first, else the one with the most used; ok is
// false if there is none.
func Nearest(accounts []Account, now event.Millis) (found Window, ok bool) {
	for _, a := range accounts {
		for _, w := range a.Windows {
			if !ok || nearer(w, found, now) {
				found, ok = w, true
			}
		}
	}
	return found, ok
}

func nearer(a, b Window, now event.Millis) bool {
	atA, fullA := a.Full(now)
	atB, fullB := b.Full(now)
	switch {
	case fullA != fullB:
		return fullA
	case fullA:
		return atA < atB
	}
	return a.Used > b.Used
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
