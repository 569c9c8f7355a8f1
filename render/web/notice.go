package web

import (
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state"
)

// notice is the data of a notification event: a session has come to need its
// user, or its turn has ended unseen.
type notice struct {
	AgentID   string      `json:"agent_id"`
	SessionID string      `json:"session_id"`
	ProjectID string      `json:"project_id,omitempty"`
	Kind      string      `json:"kind"` // needs_you or done
	State     state.State `json:"state"`
	Reason    string      `json:"reason,omitempty"`
	Title     string      `json:"title"` // the project
	Text      string      `json:"text"`
	Timestamp string      `json:"timestamp"`
}

// Kinds of notices.
const (
	noticeNeeds = "needs_you"
	noticeDone  = "done"
)

// edge tells when a row has come to want its user.
func (b *board) edge(p *publisher, now, was *shown) {
	kind := noticeKind(&now.row, was)
	if kind == "" {
		return
	}
	r := &now.row
	data, _ := encode(notice{r.SeatID, r.SessionID, r.ProjectID, kind, r.State, r.Reason, r.Project, r.What(), iso(p.at)})
	p.send(message{name: "notification", session: r.SessionID, seat: r.SeatID, now: r.State}, data)
	b.meter.told("notification")
}

// noticeKind returns what the change from was to now is worth telling as. A row
// that was there before the server is no news.
func noticeKind(now *render.Row, was *shown) string {
	switch {
	case was == nil:
		return ""
	case now.NeedsYou && (!was.row.NeedsYou || was.row.State != now.State):
		return noticeNeeds
	case now.Unseen && !now.NeedsYou && !was.row.Unseen:
		return noticeDone
	}
	return ""
}

// timeLayout is ISO 8601 with milliseconds, in UTC: it sorts as text.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

func iso(t time.Time) string { return t.UTC().Format(timeLayout) }

func millis(m event.Millis) time.Time { return time.UnixMilli(int64(m)).UTC() }
