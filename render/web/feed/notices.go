package feed

import (
	"beckon/event"
	"beckon/render/web/respond"
	"beckon/state"
)

// notice is the data of a notification event: something about a session that its user may want
// to know.
type notice struct {
	AgentID   string         `json:"agent_id"`
	SessionID string         `json:"session_id"`
	Part      string         `json:"part,omitempty"`
	ProjectID string         `json:"project_id,omitempty"`
	Kind      string         `json:"kind"` // needs_you or done
	Edge      state.EdgeKind `json:"edge"` // permission, question, failed, refused or done
	State     state.State    `json:"state"`
	Reason    string         `json:"reason,omitempty"`
	Title     string         `json:"title"` // the project
	Text      string         `json:"text"`
	Timestamp string         `json:"timestamp"`
}

// Kinds of notices.
const (
	noticeNeeds = "needs_you"
	noticeDone  = "done"
)

// edges finds the sessions' edges: those of which hooks and watch notify.
type edges struct {
	began event.Millis           // of the first look; 0 during it
	stood map[string]state.Stand // where a session last stood, by its record
}

// reached is an edge of a session.
type reached struct {
	session string // its record
	edge    state.Edge
}

// note compares where a session stands with where it stood, and returns its edge. Where it
// stands at the first look is not a change.
func (e *edges) note(v *state.Seen, now event.Millis) (edge state.Edge, ok bool) {
	is := state.Standing(v.Session, v.Evidence, now)
	was, known := e.stood[v.Session.Record()]
	e.stood[v.Session.Record()] = is
	if e.began == 0 {
		return edge, false
	}
	edge, ok = state.EdgeSeen(was, known, is, e.began)
	return edge, ok && notable(edge, now)
}

// notable leaves out edges of which no user is notified, whatever they chose (CASE 22). Only
// the page that gets the event can know what the user looks at.
func notable(e state.Edge, now event.Millis) bool {
	d := state.Decide(e, state.Rules{On: state.EdgeKinds[:]}, state.Hearing{Now: now, Focus: state.FocusElsewhere})
	return d.Verdict == state.Notify
}

// notices publishes the edges of the session shown in a row.
func (p *publisher) notices(found []reached, s *shown) {
	for _, x := range found {
		r := &s.row
		if r.Record() != x.session { // another one has its seat by now
			continue
		}
		kind := noticeNeeds
		if x.edge.Kind.Over() {
			kind = noticeDone
		}
		news := notice{r.SeatID, r.SessionID, r.Part, r.ProjectID, kind, x.edge.Kind, r.State, r.Reason, r.Project, r.What(), respond.Time(x.edge.At.Time())}
		p.report(message{name: "notification", session: r.SessionID, seat: r.SeatID, now: r.State}, news)
	}
}
