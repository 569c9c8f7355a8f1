// Package usage is how much of an account's usage limits is used, as the client's
// status line reports it: what the newest report is, how fast it grows, and which
// limit is nearest.
//
// Every session of an account reports, also one that has been idle since: a report
// counts only if it can be newer than what is known. Nothing is guessed of a window
// that is over: it is left out until a session reports the next.
package usage

import (
	"cmp"
	"slices"
	"time"

	"beckon/event"
)

// Window is a limit as it was reported last.
type Window struct {
	event.Limit
	At   event.Millis `json:"at"`             // when it was reported
	By   string       `json:"by"`             // the session that reported it
	Past []Sample     `json:"past,omitempty"` // earlier reports of the same window, the oldest first
}

// Sample is what was used at a time.
type Sample struct {
	At   event.Millis `json:"at"`
	Used int64        `json:"used"` // in hundredths of a percent
}

// samples is how many earlier reports are kept; they lie a sixtieth of the window
// apart, so that together they cover its last fifth.
const samples = 12

// lengths of the windows; of others it is not known when they began.
var lengths = map[string]time.Duration{"five_hour": 5 * time.Hour, "seven_day": 7 * 24 * time.Hour}

// Apart is how far apart, in milliseconds, the ends of two windows are at least: of
// the same window the end may be told some seconds sooner or later.
const Apart = 60_000

// merge returns what is known of a limit after session by has reported it at now,
// and whether that is news.
//
// A later end is the next window. In the same window usage only grows, so less of it
// is an old report, unless it comes from the session whose report is known: then it
// was put right.
func (w Window) merge(l event.Limit, by string, now event.Millis) (Window, bool) {
	next := Window{Limit: l, At: now, By: by}
	switch {
	case l.Resets <= now: // a session that has been idle since
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

// Rate returns how many percent an hour are used, over the samples; over the window so
// far where these cover less than two spacings. ok is false when neither is known.
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

// Full returns when the limit will be reached, and whether that is before it begins anew.
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

// Account is what is known of an account's limits, also in its file.
type Account struct {
	Name    string   `json:"account,omitempty"` // the directory of the client's configuration, empty for the usual one
	Windows []Window `json:"windows"`           // those that are not over, by their names
}

// Nearest returns the limit that will be reached first, else the one that is used
// most; ok is false when there is none.
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

// steps are the percentages at which a user can be notified, the highest first.
var steps = []int{95, 80}

// Crossing is a limit that has come to one of steps.
type Crossing struct {
	Window  Window
	Percent int
}

// crossed returns the highest step that w has come to since it was old.
func (w Window) crossed(old Window) (Crossing, bool) {
	for _, p := range steps {
		at := int64(p) * 100
		if w.Used >= at && (old.Used < at || old.Resets+Apart < w.Resets) {
			return Crossing{w, p}, true
		}
	}
	return Crossing{}, false
}
