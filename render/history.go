package render

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/intent"
	"beckon/state"
	"beckon/state/history"
	"beckon/state/stats"
	"beckon/state/store"
)

// TurnLine is one turn in the format of `history --json`, `show --json` and the HTTP
// interface.
type TurnLine struct {
	TurnID     string           `json:"turn_id"`
	CommandID  string           `json:"command_id,omitempty"` // the task it belongs to
	SessionID  string           `json:"session_id"`
	Part       string           `json:"part,omitempty"`     // of the session, as in a row
	AgentID    string           `json:"agent_id,omitempty"` // the session's seat
	ProjectID  string           `json:"project_id,omitempty"`
	Project    string           `json:"project,omitempty"`
	Actor      state.Speaker    `json:"actor"`
	Intent     state.Intent     `json:"intent"`
	Confidence float64          `json:"confidence"` // 0 to 1
	Rule       string           `json:"rule,omitempty"`
	Text       string           `json:"text,omitempty"`
	Timestamp  time.Time        `json:"timestamp"`
	TimeSource state.TimeSource `json:"timestamp_source"`
	Task       state.TaskState  `json:"task,omitempty"` // the task's state afterwards
	Refused    string           `json:"refused,omitempty"`
}

// TurnLineOf converts t, a turn of the session s.
func TurnLineOf(s *state.Session, t store.Turn) TurnLine {
	return TurnLine{TurnID: t.ID(), CommandID: t.CommandID(), SessionID: s.ID, Part: s.Part, AgentID: s.Seat,
		ProjectID: s.ProjectID, Project: s.ProjectName(), Actor: t.Actor, Intent: t.Intent,
		Confidence: float64(t.Confidence) / 100,
		Rule:       t.Rule, Text: t.Text, Timestamp: t.At.Time(), TimeSource: t.Source, Task: t.Task, Refused: t.Refused}
}

// TurnLines converts turns of the session s.
func TurnLines(s *state.Session, turns []store.Turn) []TurnLine {
	lines := make([]TurnLine, len(turns))
	for i, t := range turns {
		lines[i] = TurnLineOf(s, t)
	}
	return lines
}

// AddBusy adds to rows how long their sessions, which are among seen, were at work since local midnight.
func AddBusy(rows []Row, st *store.Store, seen []state.Seen, now event.Millis) error {
	y, m, d := now.Time().Local().Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.Local)
	totals := stats.New(time.Local).From(today.Format(time.DateOnly))
	if err := history.Count(st, totals, event.MillisOf(today), seen, now); err != nil {
		return err
	}
	for i := range rows {
		seconds := int64(totals.Busy(string(store.KeyOf(rows[i].Record()))) / time.Second)
		rows[i].Busy = &seconds
	}
	return nil
}

// Line returns a turn's text in one line for people: the last line of the agent's, which says
// what it wants, and the first of a prompt.
func (t *TurnLine) Line() string {
	if t.Rule == state.TurnFailure {
		kind, detail, found := strings.Cut(t.Text, ":")
		if kind = strings.ReplaceAll(kind, "_", " "); found {
			kind += ":" + detail
		}
		return OneLine(kind)
	}
	if t.Actor == state.SpeakerAgent && t.Intent != intent.IntentProgress {
		return OneLine(state.LastLine(t.Text))
	}
	return OneLine(t.Text)
}

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
	SessionID string       `json:"session_id"`
	Part      string       `json:"part,omitempty"`
	Name      string       `json:"name,omitempty"`
	Project   string       `json:"project,omitempty"`
	Branch    string       `json:"branch,omitempty"`
	Spans     []stats.Span `json:"spans"`
}

// NewTimeline returns the timeline of what was counted between from and to. session returns the
// session of a track.
func NewTimeline(from, to time.Time, counted []stats.Track, session func(*stats.Track) *state.Session) Timeline {
	t := Timeline{Schema: 1, From: from.UTC(), To: to.UTC(), Tracks: []Track{}}
	for i := range counted {
		s := session(&counted[i])
		l := Track{SessionID: s.ID, Part: s.Part, Name: OneLine(s.Name), Project: OneLine(s.ProjectName()),
			Branch: OneLine(s.Origin.Git.Branch), Spans: counted[i].Spans}
		t.Tracks = append(t.Tracks, l)
	}
	return t
}

// Label returns the session's name for people.
func (l *Track) Label() string { return cmp.Or(l.Name, l.Project, l.SessionID) }

// Digest is what happened while the user was away: the format of `digest --json`.
type Digest struct {
	Schema   int         `json:"schema"`
	Since    time.Time   `json:"since,omitzero"`
	Sessions []DigestRow `json:"sessions"` // those that need the user first
}

// DigestRow is a session as it stands, and what it did since.
type DigestRow struct {
	Row
	Asked    int   `json:"asked"`  // how often it waited for the user
	Failures int   `json:"failed"` // how often a turn failed
	WorkedS  int64 `json:"worked_seconds"`
	WaitedS  int64 `json:"waited_seconds"`
}

// NewDigest returns the digest of the rows of every session, including ended ones, and of the
// lanes, which may begin earlier. It leaves out sessions that were only idle.
func NewDigest(since time.Time, rows []Row, counted []stats.Track) Digest {
	d := Digest{Schema: 1, Since: since.UTC(), Sessions: []DigestRow{}}
	for i := range rows {
		r := DigestRow{Row: rows[i]}
		at := slices.IndexFunc(counted, func(l stats.Track) bool { return l.Session == string(store.KeyOf(r.Record())) })
		var worked, waited time.Duration
		if at >= 0 {
			for _, span := range counted[at].Spans {
				if span.From.Before(since) {
					span.From = since
				}
				took := span.To.Sub(span.From)
				if took <= 0 {
					continue
				}
				switch span.Kind {
				case stats.Busy:
					worked += took
				case stats.Waiting:
					r.Asked++
					waited += took
				case stats.Failed:
					r.Failures++
				}
			}
		}
		r.WorkedS, r.WaitedS = int64(worked/time.Second), int64(waited/time.Second)
		left := !r.State.Live() && !r.Since.Before(since)
		if worked > 0 || r.Asked+r.Failures > 0 || left || r.State.Live() && r.NeedsYou {
			d.Sessions = append(d.Sessions, r)
		}
	}
	return d
}
