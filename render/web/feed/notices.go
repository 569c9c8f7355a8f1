package feed

import (
	"beckon/event"
	"beckon/render/web/respond"
	"beckon/state"
)

// notice is the data of a notification event: something about a session that its user may want
// to know.
type notice struct {
	AgentID   string          `json:"agent_id"`
	SessionID string          `json:"session_id"`
	Part      string          `json:"part,omitempty"`
	ProjectID string          `json:"project_id,omitempty"`
	Kind      string          `json:"kind"` // needs_you or done
	Alert     state.AlertKind `json:"edge"` // permission, question, failed, refused or done
	State     state.State     `json:"state"`
	Reason    string          `json:"reason,omitempty"`
	Title     string          `json:"title"` // the project
	Text      string          `json:"text"`
	Timestamp string          `json:"timestamp"`
}

// Kinds of notices.
const (
	noticeNeeds = "needs_you"
	noticeDone  = "done"
)

// alerts finds the sessions' alerts: those of which hooks and watch notify.
type alerts struct {
	began event.Millis                // of the first look; 0 during it
	stood map[string]state.AlertState // where a session last stood, by its record
}

// reached is an alert of a session.
type reached struct {
	session string // its record
	raised  state.Alert
}

// note compares where a session stands with where it stood, and returns its alert. Where it
// stands at the first look is not a change.
func (e *alerts) note(v *state.Seen, now event.Millis) (raised state.Alert, ok bool) {
	is := state.AlertStateOf(v.Session, v.Evidence, now)
	was, known := e.stood[v.Session.Record()]
	e.stood[v.Session.Record()] = is
	if e.began == 0 {
		return raised, false
	}
	raised, ok = state.AlertSeen(was, known, is, e.began)
	return raised, ok && notable(raised, now)
}

// notable leaves out alerts of which no user is notified, whatever they chose. Only
// the page that gets the event can know what the user looks at.
func notable(e state.Alert, now event.Millis) bool {
	d := state.Decide(e, state.Rules{On: state.AlertKinds[:]}, state.Hearing{Now: now, Focus: state.FocusElsewhere})
	return d.Verdict == state.Notify
}

// notices publishes the alerts of the session shown in a row.
func (p *publisher) notices(found []reached, s *shown) {
	for _, x := range found {
		r := &s.row
		if r.Record() != x.session { // another one has its seat by now
			continue
		}
		kind := noticeNeeds
		if x.raised.Kind.Over() {
			kind = noticeDone
		}
		news := notice{
			AgentID:   r.SeatID,
			SessionID: r.SessionID,
			Part:      r.Part,
			ProjectID: r.ProjectID,
			Kind:      kind,
			Alert:     x.raised.Kind,
			State:     r.State,
			Reason:    r.Reason,
			Title:     r.Project,
			Text:      r.What(),
			Timestamp: respond.Time(x.raised.At.Time()),
		}
		p.report(message{name: "notification", session: r.SessionID, seat: r.SeatID, now: r.State}, news)
	}
}
