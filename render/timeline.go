package render

import (
	"cmp"
	"time"

	"beckon/state"
	"beckon/state/stats"
)

// Timeline is one day, a track for each session: the format of `stats --day today --json`.
type Timeline struct {
	Schema int       `json:"schema"`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"` // now, if the day is not over
	Tracks []Track   `json:"lanes"`
}

// Track is what one session did on the day, the earliest first. Between spans the session was
// not there, or nothing is known.
type Track struct {
	SessionID string `json:"session_id"`
	Part      string `json:"part,omitempty"`
	Name      string `json:"name,omitempty"`
	Project   string `json:"project,omitempty"`
	Branch    string `json:"branch,omitempty"`
	Spans     []Span `json:"spans"`
}

// Span is a period of one kind.
type Span struct {
	From time.Time  `json:"from"`
	To   time.Time  `json:"to"`
	Kind stats.Kind `json:"kind"`
}

// NewTimeline returns the timeline of what was counted between from and to. session returns the
// session of a track.
func NewTimeline(from, to time.Time, counted []stats.Track, session func(*stats.Track) *state.Session) Timeline {
	t := Timeline{Schema: 1, From: from.UTC(), To: to.UTC(), Tracks: []Track{}}
	for i := range counted {
		s := session(&counted[i])
		l := Track{SessionID: s.ID, Part: s.Part, Name: OneLine(s.Name), Project: OneLine(project(s)),
			Branch: OneLine(s.Origin.Git.Branch)}
		for _, span := range counted[i].Spans {
			l.Spans = append(l.Spans, Span{span.From.Time(), span.To.Time(), span.Kind})
		}
		t.Tracks = append(t.Tracks, l)
	}
	return t
}

// Label returns the session's name for people.
func (l *Track) Label() string { return cmp.Or(l.Name, l.Project, l.SessionID) }
