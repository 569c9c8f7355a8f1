package stats

import (
	"cmp"
	"slices"
	"time"

	"beckon/event"
)

// Span is a stretch of time in which a session did one kind of thing.
type Span struct {
	From event.Millis `json:"from_ms"`
	To   event.Millis `json:"to_ms"`
	Kind Kind         `json:"kind"`
}

// Track is the spans of one session, oldest first, without overlap.
type Track struct {
	Session string
	Project string // of the newest span
	Spans   []Span
}

// lanes collects the spans between two moments.
type lanes struct {
	from, to event.Millis
	of       map[string]*Track
}

// Between keeps the spans from one moment to another, and returns t.
func (t *Totals) Between(from, to time.Time) *Totals {
	t.lanes = &lanes{event.MillisOf(from), event.MillisOf(to), map[string]*Track{}}
	return t
}

// Lanes returns the spans of each session that has any, the earliest session first.
func (t *Totals) Lanes() []Track {
	list := []Track{}
	for _, l := range t.lanes.of {
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Track) int {
		return cmp.Or(cmp.Compare(a.Spans[0].From, b.Spans[0].From), cmp.Compare(a.Session, b.Session))
	})
	return list
}

// add adds a stretch; it extends the previous span if that has the same kind.
func (l *lanes) add(session string, n *Count) {
	if l == nil {
		return
	}
	span := Span{max(n.From, l.from), min(n.From+event.Millis(n.Ms), l.to), n.Kind}
	if span.From >= span.To {
		return
	}
	track := l.of[session]
	if track == nil {
		track = &Track{Session: session}
		l.of[session] = track
	}
	track.Project = cmp.Or(n.Project, track.Project)
	if n := len(track.Spans); n > 0 && track.Spans[n-1].Kind == span.Kind && track.Spans[n-1].To == span.From {
		track.Spans[n-1].To = span.To
		return
	}
	track.Spans = append(track.Spans, span)
}

// Away returns when the user's last absence of at least that long began: after a prompt, a
// look at a session or another act. It is zero if there was none.
func (t *Totals) Away(now event.Millis, least time.Duration) event.Millis {
	slices.Sort(t.acts)
	next := now
	for _, at := range slices.Backward(t.acts) {
		if next-at >= event.Millis(least.Milliseconds()) {
			return at
		}
		next = at
	}
	return 0
}
